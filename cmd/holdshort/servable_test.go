package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

// refusedFiles are configurations that serve refuses, with the beginning of the fault.
var refusedFiles = map[string]struct{ text, want string }{
	"shape": {"server: {shutdown: soon}\n", `x.yaml:1:20: server.shutdown: want a duration`},
	"syntax": {"policies:\n  - when: !(tool != \"deploy\")\n    deny: true\n",
		`x.yaml:2:19: value is not allowed in this context`},
	"two documents": {"server: {}\n---\nserver: {}\n", `x.yaml:3:1: a second document`},
	"no text":       {"server: \xff\n", `x.yaml: this is not UTF-8 text`},
	"no mapping":    {"hello\n", `x.yaml:1:1: want keys and values`},
	"name":          {"agents: {a: {model: m}}\n", `x.yaml:1:14: agents.a.model: "m" is not one of models`},
	"pattern of a script": {"models:\n  m: {provider: script, rules: [{when: {user: \"(\"}, say: x}]}\n",
		`x.yaml:2:41: models.m.rules[0].when.user: not a regular expression`},
	"store in memory": {"stores:\n  main: {url: \"sqlite::memory:\"}\n",
		`x.yaml:2:10: stores.main.url: a store in memory is gone`},
	"store on a host": {"stores: {main: {url: \"sqlite://host/x.db\"}}\n",
		`x.yaml:1:17: stores.main.url: sqlite: has no host`},
	"store with options": {"stores: {main: {url: \"sqlite:x.db?mode=ro\"}}\n",
		`x.yaml:1:17: stores.main.url: sqlite: takes a path and no options`},
	"channels": {"server: {}\nchannels: {telegram: {token: x}}\n",
		`x.yaml:2:1: channels: channels are not part of this build`},
	"tool of a program": {"tools: {t: {builtin: true}}\n",
		`x.yaml:1:13: tools.t.builtin: this program brings no tool "t"`},
	"flow of a program": {"models: {m: {provider: script, rules: [{say: x}]}}\nagents: {a: {model: m, tools: [\"flow:pay\"]}}\n", `x.yaml:2:32: agents.a.tools[0]: this program brings no flow "pay"`},
	"headers of a program": {"tools:\n  f: {mcp: {command: [x], headers: {a: b}}}\n",
		`x.yaml:2:27: tools.f.mcp.headers: a program has no headers`},
	"backend":              {"models: {m: {provider: script, rules: [{say: x}]}}\nagents: {a: {model: m, task: {backend: memory}}}\n", `x.yaml:2:31: agents.a.task.backend: runs are kept in a database, not in memory`},
	"database of an agent": {"models: {m: {provider: script, rules: [{say: x}]}}\nagents: {a: {model: m, task: {sql: {dsn: x}}}}\n", `x.yaml:2:37: agents.a.task.sql.dsn: an agent has no database of its own`},
	"tool of no agent":     {"tools: {pay: {http: {url: \"https://h.example.org\"}}}\npolicies:\n  - when: tool == \"pey\"\n    deny: true\ngate: {tools: [deploy]}\n", `x.yaml:3:19: policies[0].when: no tool is called "pey"`},
	"pattern of the gate":  {"gate: {tools: [\"a*b\"]}\n", `x.yaml:1:16: gate.tools[0]: "a*b" names no tool`},
	"tenant":               {"auth: {tenant: Big Corp}\n", `x.yaml:1:8: auth.tenant: "Big Corp" is not a tenant name`},
	"public address": {"server: {public_url: \"http://hold.example.org\"}\n",
		`x.yaml:1:10: server.public_url: public_url is not https`},
	"query in an address": {"server: {public_url: \"https://hold.example.org/?a=b\"}\n",
		`x.yaml:1:10: server.public_url: public_url is not an address`},
	"member of a role": {"auth:\n  jwt: {issuer: \"https://a.example.org\", audience: [x]}\n  roles: {finance: [Ana@example.org]}\n", `x.yaml:3:11: auth.roles.finance: Ana@example.org would never be found`},
	"name of a role":   {"auth: {roles: {\"group:x\": [ana]}}\n", `x.yaml:1:8: auth.roles: a role has no name`},
	"short secret": {"auth: {jwt: {issuer: a, audience: [x], secret: short}}\n",
		`x.yaml:1:40: auth.jwt.secret: the secret has less than 32 bytes`},
	"algorithm": {"auth: {jwt: {issuer: \"https://a.example.org\", audience: [x], algorithms: [none]}}\n",
		`x.yaml:1:62: auth.jwt.algorithms: tokens signed with none are not taken here`},
	"keys that are absent": {"auth: {jwt: {issuer: a, audience: [x], keys_file: nowhere.json}}\n",
		`x.yaml:1:40: auth.jwt.keys_file: `},
	"keys that are none": {"auth: {jwt: {issuer: a, audience: [x], keys_file: x.yaml}}\n",
		`x.yaml:1:40: auth.jwt.keys_file: `},
	"issuer twice": {"server: {public_url: \"https://h.example.org\"}\nauth:\n  oidc: {issuer: \"https://a.example.org\", client_id: x}\n  jwt: {issuer: \"https://a.example.org\", audience: [x]}\n", `x.yaml:4:9: auth.jwt.issuer: it is configured twice`},
	"prefix twice": {"server: {public_url: \"https://h.example.org\"}\nauth:\n  oidc: {issuer: \"https://a.example.org\", client_id: x}\n  jwt: {issuer: \"https://b.example.org\", audience: [x]}\n", `x.yaml:4:3: auth.jwt.prefix: a person of https://b.example.org could have the id`},
	"webhook without TLS": {"webhooks:\n  - {url: \"http://hooks.example.org\"}\n",
		`x.yaml:2:6: webhooks[0].url: nothing is sent to that address`},
	"private webhook": {"webhooks: [{url: \"https://10.0.0.1/x\"}]\n",
		`x.yaml:1:13: webhooks[0].url: nothing is sent to that address`},
	"unknown event": {"webhooks: [{url: \"https://h.example.org\", events: [hitl.nothing]}]\n",
		`x.yaml:1:43: webhooks[0].events: no event is named like "hitl.nothing"`},
	"secret of a webhook": {"webhooks: [{url: \"https://h.example.org\", secret: whsec_short}]\n",
		`x.yaml:1:43: webhooks[0].secret: a secret is whsec_ and the base64`},
	"tool of a server twice": {"models: {m: {provider: script, rules: [{say: x}]}}\ntools: {files: {mcp: {command: [nowhere]}}}\nagents: {a: {model: m, tools: [files, files/read]}}\n", `x.yaml:3:39: agents.a.tools[1]: "files/read" is there twice: files names every tool of that server`},
	"port": {"server: {addr: \"127.0.0.1:99999\"}\n",
		`x.yaml:1:10: server.addr: "127.0.0.1:99999" is no address to listen on`},
	"port of a database": {"stores: {main: {url: \"postgres://u@h:54x2/db\", keyring: keys}}\n",
		`x.yaml:1:17: stores.main.url: it is not a PostgreSQL URL`},
	"parameter of a database": {"stores: {main: {url: \"postgres://u@h/db?sslmode=often\", keyring: keys}}\n",
		`x.yaml:1:17: stores.main.url: it is not a PostgreSQL URL`},
	"too many webhooks": {webhooksText(101), `x.yaml:1:1: webhooks: a tenant has 100 webhooks at most, these are 101`},
	"webhook twice":     {"webhooks:\n  - {url: \"https://h.example.org\"}\n  - {url: \"https://h.example.org\", events: [hitl.*]}\n", `x.yaml:3:6: webhooks[1].url: another webhook has this address`},
}

// webhooksText is a file with n webhooks.
func webhooksText(n int) string {
	var text strings.Builder
	text.WriteString("webhooks:\n")
	for i := range n {
		fmt.Fprintf(&text, "  - {url: \"https://h.example.org/%d\"}\n", i)
	}
	return text.String()
}

// Whatever serve refuses a file for, config check refuses it for in the same words, and neither makes a store.
func TestCheckAndServeRefuseTheSame(t *testing.T) {
	for name, tt := range refusedFiles {
		t.Run(name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			if err := os.WriteFile("x.yaml", []byte(tt.text), 0o600); err != nil {
				t.Fatal(err)
			}
			checked, code := commandStderr(t, "config", "check", "x.yaml")
			expected := strings.HasPrefix(checked, "holdshort: "+tt.want) && strings.Count(checked, "holdshort: ") == 1
			if code != exitFailed || !expected {
				t.Errorf("config check: exit %d, %s\nwant %s", code, checked, tt.want)
			}
			served, code := commandStderr(t, "serve", "--config", "x.yaml", "--addr", "127.0.0.1:0")
			if code != exitFailed || served != checked {
				t.Errorf("serve: exit %d, %s\nwant as config check: %s", code, served, checked)
			}
			if _, err := os.Stat("holdshort.db"); err == nil {
				t.Error("a store was made")
			}
		})
	}
}

// Faults of every stage are reported in one go.
func TestCheckReportsEveryStage(t *testing.T) {
	t.Chdir(t.TempDir())
	text := `server: {adr: ":1", public_url: "http://hold.example.org"}
stores: {main: {url: "sqlite::memory:"}}
auth: {tenant: Big Corp, jwt: {issuer: a, audience: [x], secret: short}}
models: {m: {provider: script, rules: [{when: {user: "("}, say: x}]}}
agents: {a: {model: n}}
channels: {x: {}}
webhooks: [{url: "http://hooks.example.org", events: [nothing]}, {url: "https://h.example.org", events: [nothing]}]
`
	if err := os.WriteFile("x.yaml", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	stderr, _ := commandStderr(t, "config", "check", "x.yaml")
	at := 0
	for _, path := range []string{"server: ", "server.public_url: ", "stores.main.url: ", "auth.tenant: ",
		"auth.jwt.secret: ", "models.m.rules[0].when.user: ", "agents.a.model: ", "channels: ", "webhooks[0].url: ",
		"webhooks[1].events: "} {
		i := strings.Index(stderr[at:], path)
		if i < 0 {
			t.Errorf("%s is not reported, or not in the order of the file:\n%s", path, stderr)
			break
		}
		at += i
	}
}

// commandStderr runs a command that is expected to end by itself.
func commandStderr(t *testing.T, args ...string) (string, int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var stdout, stderr bytes.Buffer
	code := run(ctx, args, &console{stdout: &stdout, stderr: &stderr}, &grammar{})
	return stderr.String(), code
}
