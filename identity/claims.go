package identity

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"time"
)

func (c Claims) withDefaults() Claims {
	if c.Name == "" {
		c.Name = "name"
	}
	if c.Groups == "" {
		c.Groups = "groups"
	}
	return c
}

// user gives a person's id. An e-mail address counts only if the issuer says that it verified it: elsewhere anybody can write any address.
func (c Claims) user(said claimed) (string, error) {
	switch c.User {
	case "":
		subject, _ := said.text("sub")
		if subject == "" {
			return "", errors.New("it names nobody: sub is missing")
		}
		if address := said.verifiedEmail(); address != "" {
			return address, nil
		}
		if strings.Contains(subject, "@") { // it would pass for the address of somebody who has verified theirs
			return "", errors.New("its sub looks like an e-mail address that nobody verified: set the claim that names people, user: sub")
		}
		return subject, nil
	case "email":
		if address := said.verifiedEmail(); address != "" {
			return address, nil
		}
		return "", errors.New("it has no e-mail address that its issuer verified")
	}
	id, _ := said.text(c.User)
	if id == "" {
		return "", errors.New("it names nobody: " + clip(c.User) + " is missing")
	}
	return id, nil
}

// claimed is what a token says.
type claimed map[string]any

func readClaims(payload []byte) (claimed, error) {
	d := json.NewDecoder(bytes.NewReader(payload))
	d.UseNumber()
	var said claimed
	if err := d.Decode(&said); err != nil || said == nil {
		return nil, errors.New("it says nothing that can be read")
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errors.New("something follows what it says")
	}
	return said, nil
}

// at finds a claim by its name, or by a path into objects.
func (c claimed) at(name string) any {
	if v, ok := c[name]; ok {
		return v
	}
	var here any = map[string]any(c)
	for step := range strings.SplitSeq(name, ".") {
		object, ok := here.(map[string]any)
		if !ok {
			return nil
		}
		here = object[step]
	}
	return here
}

func (c claimed) text(name string) (string, bool) {
	s, ok := c.at(name).(string)
	return s, ok
}

// texts gives a claim that is one text or a list of them. What is neither counts for nothing.
func (c claimed) texts(name string) []string {
	switch v := c.at(name).(type) {
	case string:
		return []string{v}
	case []any:
		var all []string
		for _, item := range v {
			if s, ok := item.(string); ok {
				all = append(all, s)
			}
		}
		return all
	}
	return nil
}

func (c claimed) time(name string) (time.Time, bool) { return asTime(c[name]) }

// verifiedEmail is the address in lower case, "" unless it is verified. Some issuers write the flag as a text.
func (c claimed) verifiedEmail() string {
	address, _ := c.text("email")
	if yes, _ := c["email_verified"].(bool); yes || c["email_verified"] == "true" {
		return strings.ToLower(address)
	}
	return ""
}

// client is the program that a token was given to.
func (c claimed) client() string {
	for _, name := range []string{"azp", "client_id"} {
		if s, ok := c.text(name); ok && s != "" {
			return s
		}
	}
	return ""
}
