package model

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"slices"
	"strings"
)

// maxName is the longest name of a tool that every provider takes.
const maxName = 64

var plainName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// Aliases are the names by which a provider gets to know the tools of one request: it takes letters, digits, _ and - only, where ours have
// dots and slashes. They depend on the tools alone, not on their order.
type Aliases struct {
	alias map[string]string // by name
	name  map[string]string // by alias
}

// AliasesOf gives every tool an alias of its own. A name that providers take is its own alias.
func AliasesOf(tools []Tool) *Aliases {
	a := &Aliases{alias: map[string]string{}, name: map[string]string{}}
	var others []string
	for _, t := range tools {
		if plainName.MatchString(t.Name) {
			a.set(t.Name, t.Name)
		} else {
			others = append(others, t.Name)
		}
	}
	slices.Sort(others)
	for _, name := range slices.Compact(others) {
		a.set(name, a.free(name))
	}
	return a
}

func (a *Aliases) set(name, alias string) {
	a.alias[name] = alias
	a.name[alias] = name
}

// Alias of a tool. One that is not among the tools of the request, because the conversation is older than they are, gets one that nobody else has.
func (a *Aliases) Alias(name string) string {
	if alias, ok := a.alias[name]; ok {
		return alias
	}
	return a.free(name)
}

// free makes an alias that no tool has, not even one that was named to be mistaken for another.
func (a *Aliases) free(name string) string {
	alias := plain(name)
	for salt := ""; ; salt += "#" {
		if owner, taken := a.name[alias]; !taken || owner == name {
			return alias
		}
		alias = distinct(name, salt)
	}
}

// Name of an alias that came back. What is no alias is passed on as it is: whoever asked answers that there is no such tool.
func (a *Aliases) Name(alias string) string {
	if name, ok := a.name[alias]; ok {
		return name
	}
	return alias
}

func plain(name string) string {
	text := letters(name)
	if text == "" || len(text) > maxName {
		return distinct(name, "")
	}
	return text
}

// distinct is a readable beginning and a hash of the whole.
func distinct(name, salt string) string {
	sum := sha256.Sum256([]byte(name + salt))
	hash := hex.EncodeToString(sum[:6])
	text := letters(name)
	return text[:min(len(text), maxName-len(hash)-1)] + "_" + hash
}

func letters(name string) string {
	return strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' {
			return r
		}
		return '_'
	}, name)
}
