package config

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// at makes a fault of a path, with its place where that is known.
type at func(path, message, hint string) Fault

// checker gathers what is wrong with the meaning of a configuration.
type checker struct {
	Config
	at     at
	faults Faults
	unread []string // paths whose values could not be read: a fault is reported for each already
}

// wrong adds a fault, unless it follows from a value that could not be read: the one at path, one above it or a key
// of it.
func (c *checker) wrong(path, hint, format string, args ...any) {
	outer, _, _, _ := cutText(path)
	keyUnread := slices.ContainsFunc(c.unread, func(p string) bool { return parentOf(p) == outer })
	if len(c.faults) >= maxFaults || c.isUnread(outer) || keyUnread {
		return
	}
	c.faults = append(c.faults, c.at(path, fmt.Sprintf(format, args...), hint))
}

// isUnread reports whether the value at path, or one that contains it, could not be read.
func (c *checker) isUnread(path string) bool {
	return slices.ContainsFunc(c.unread, func(p string) bool { return Within(path, p) })
}

// Within reports whether path is outer, or the path of a value in it.
func Within(path, outer string) bool {
	rest, ok := strings.CutPrefix(path, outer)
	return ok && (rest == "" || outer == "" || rest[0] == '.' || rest[0] == '[' || rest[0] == '#')
}

// parentOf returns the path of the mapping or list that path is in.
func parentOf(path string) string {
	if quoted := strings.LastIndex(path, `["`); quoted >= 0 && strings.HasSuffix(path, `"]`) {
		return path[:quoted]
	}
	return path[:max(strings.LastIndexAny(path, ".["), 0)]
}

// check finds what is wrong beyond the shape: missing keys, names that lead nowhere, modes that cannot be.
func (k *checker) check() {
	c := k.Config
	k.needed(reflect.ValueOf(c), "")
	k.server()
	k.stores()
	k.retention()
	k.gate()
	k.auth()
	for _, name := range sorted(c.Models) {
		k.model(join("models", name), c.Models[name])
	}
	for _, name := range sorted(c.Agents) {
		k.agent(join("agents", name), name, c.Agents[name])
	}
	for _, name := range sorted(c.Tools) {
		k.tool(join("tools", name), name, c.Tools[name])
	}
	for i, r := range c.Policies {
		k.rule(fmt.Sprintf("policies[%d]", i), r)
	}
	k.rules()
	for i, w := range c.Webhooks {
		k.address(fmt.Sprintf("webhooks[%d].url", i), w.URL)
		if w.Secret != "" && !strings.HasPrefix(w.Secret, "whsec_") {
			k.wrong(fmt.Sprintf("webhooks[%d].secret", i), "write whsec_ and 24 to 64 bytes in base64, or leave it out", "a secret begins with whsec_")
		}
	}
}

func sorted[T any](m map[string]T) []string { return slices.Sorted(maps.Keys(m)) }

// needed walks everything for keys that must be there.
func (c *checker) needed(v reflect.Value, path string) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			c.needed(v.Elem(), path)
		}
	case reflect.Struct:
		for _, f := range fieldsOf(v.Type()) {
			inner := join(path, f.key)
			if f.needed && v.Field(f.index).IsZero() {
				c.wrong(inner, f.doc, "%s is missing", f.key)
			}
			if value := v.Field(f.index); !value.IsZero() {
				if message := f.outside(value); message != "" {
					c.wrong(inner, f.limits(), "%s", message)
				}
			}
			c.needed(v.Field(f.index), inner)
		}
	case reflect.Slice:
		for i := range v.Len() {
			c.needed(v.Index(i), fmt.Sprintf("%s[%d]", path, i))
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			c.needed(v.MapIndex(key), join(path, key.String()))
		}
	}
}

func (c *checker) stores() {
	names := sorted(c.Stores)
	if len(names) > 1 {
		c.wrong(join("stores", names[1]), "keep one of "+strings.Join(names, ", "), "a server has one store")
	}
	for _, name := range names {
		s := c.Stores[name]
		path := join(join("stores", name), "url")
		switch {
		case s.URL == "" || strings.HasPrefix(s.URL, "sqlite:") && len(s.URL) > len("sqlite:"):
		case strings.HasPrefix(s.URL, "postgres://"), strings.HasPrefix(s.URL, "postgresql://"):
			if s.Keyring == "" && !c.isUnread(join(join("stores", name), "keyring")) {
				c.wrong(path, "add keyring: FILE, the same file on every node", "PostgreSQL needs a keyring file: the keys never live in the database")
			}
		default:
			c.wrong(path, "write sqlite:PATH or postgres://USER@HOST:5432/DATABASE", "this is no store")
		}
	}
}

func (c *checker) auth() {
	if o := c.Auth.OIDC; o != nil {
		c.address("auth.oidc.issuer", o.Issuer)
		c.address("auth.oidc.redirect_url", o.RedirectURL)
		if c.Server.PublicURL == "" && !c.isUnread("server.public_url") {
			c.wrong("auth.oidc", "add server.public_url, where people reach the server", "login needs server.public_url")
		}
	}
	if j := c.Auth.JWT; j != nil {
		c.address("auth.jwt.keys_url", j.KeysURL)
		ways := 0
		for _, there := range []bool{j.KeysURL != "", j.KeysFile != "", j.Secret != ""} {
			if there {
				ways++
			}
		}
		if ways > 1 {
			c.wrong("auth.jwt", "keep one of keys_url, keys_file and secret", "tokens are checked in one way, this is %d", ways)
		}
	}
	for _, role := range sorted(c.Auth.Roles) {
		for i, who := range c.Auth.Roles[role] {
			if strings.TrimSpace(who) == "" || who == "group:" {
				c.wrong(fmt.Sprintf("%s[%d]", join("auth.roles", role), i), "write an id such as ana@example.org, or group:NAME", "nobody is named")
			}
		}
	}
}

func (c *checker) known(path, name, section string, names []string) {
	if name == "" || indexOf(names, name) >= 0 || c.isUnread(section) {
		return
	}
	hint := "add it to " + section
	if near := nearest(name, names); near != "" {
		hint = fmt.Sprintf("did you mean %q?", near)
	}
	c.wrong(path, hint, "%q is not one of %s", name, section)
}
