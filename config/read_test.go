package config

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/policy"
)

var update = flag.Bool("update", false, "write what is said now into the transcripts")

func nothingSet(string) (string, bool) { return "", false }

func env(pairs ...string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1], true
			}
		}
		return "", false
	}
}

// Every fault is told with its place, a line of the source and what to do: testdata/faults.txtar holds files and what is said of each.
func TestFaults(t *testing.T) {
	const file = "testdata/faults.txtar"
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(archive.Files); i += 2 {
		in, want := archive.Files[i], &archive.Files[i+1]
		_, err := Parse(in.Name, in.Data, env("EMPTY", ""))
		var said strings.Builder
		for _, f := range FaultsOf(err) {
			fmt.Fprintf(&said, "%s\n%s\n", f.Error(), f.Excerpt)
			if f.Hint != "" {
				fmt.Fprintf(&said, "hint: %s\n", f.Hint)
			}
		}
		if said.Len() == 0 {
			t.Errorf("%s: nothing is wrong with it, %v", in.Name, err)
		}
		if *update {
			want.Data = []byte(said.String())
		} else if said.String() != string(want.Data) {
			t.Errorf("%s:\n%s\nwant\n%s", in.Name, said.String(), want.Data)
		}
		if coded, ok := errors.AsType[*holdshort.Error](err); !ok || coded.Code != holdshort.Invalid {
			t.Errorf("%s: %v is no error with a code", in.Name, err)
		}
	}
	if *update {
		if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

const whole = `
server: {addr: 127.0.0.1:8080, public_url: https://hold.example.org, max_body: 2048, rate: {per_second: 0.5, burst: 3}, shutdown: 5s}
stores: {main: {url: sqlite:./holdshort.db}}
auth: {oidc: {issuer: https://login.example.org, client_id: holdshort}, roles: {finance: [ana@example.org, "group:payments"]}}
models:
  main: {provider: openai, model: small, base_url: http://127.0.0.1:11434/v1, api_key: "${OPENAI_API_KEY}"}
agents:
  refunds:
    model: main
    instructions: |
      Be kind.
      Be brief.
    session_store: main
    task: {input_timeout: 600, hitl: {mode: auto}}
    tools: [orders.lookup, orders.refund]
tools:
  orders.lookup: {http: {method: GET, url: "${SHOP:-http://127.0.0.1:9000}/orders"}, effect: read}
  orders.refund: {http: {method: POST, url: http://127.0.0.1:9000/refunds}, effect: write, idempotency_header: Idempotency-Key, schema: {type: object, required: [amount]}}
  shell: {command: {}, effect: write, requires_approval: true}
  files: {mcp: {command: [mcp-files, /srv]}, trusted: false}
policies:
  - name: big refunds
    when: tool == "orders.refund" && args.amount > 500
    ask: {roles: [finance], quorum: 2, expires_in: 24h, on_timeout: fail, editable: [amount]}
  - when: effect == "read"
    allow: true
channels: {telegram: {token: x}}
webhooks: [{url: https://hooks.example.org/in, secret: whsec_bm90IGEgcmVhbCBzZWNyZXQgYXQgYWxs, events: ["hitl.*"]}]
`

func TestWhole(t *testing.T) {
	c, err := Parse("holdshort.yaml", []byte(whole), env("OPENAI_API_KEY", "sk-1: {odd}"))
	if err != nil {
		t.Fatal(err)
	}
	agent := c.Agents["refunds"]
	for _, check := range []struct{ got, want any }{
		{c.Server.Addr, "127.0.0.1:8080"},
		{c.Server.MaxBody, 2048},
		{c.Server.Rate, Rate{0.5, 3}},
		{c.Server.Shutdown, Duration(5 * time.Second)},
		{c.Models["main"].APIKey, "sk-1: {odd}"},
		{c.Tools["orders.lookup"].HTTP.URL, "http://127.0.0.1:9000/orders"},
		{agent.Instructions, "Be kind.\nBe brief.\n"},
		{agent.Task.InputTimeout, Duration(10 * time.Minute)},
		{c.Policies[0].Ask.ExpiresIn, Duration(24 * time.Hour)},
		{c.Policies[1].Allow, true},
		{c.Auth.Roles["finance"], []string{"ana@example.org", "group:payments"}},
		{c.Tools["orders.refund"].Schema["required"], []any{"amount"}},
		{c.Tools["shell"].Command != nil, true},
		{c.Channels["telegram"]["token"], "x"},
		{c.Unbuilt(), []string{"channels"}},
	} {
		if !reflect.DeepEqual(check.got, check.want) {
			t.Errorf("%#v, want %#v", check.got, check.want)
		}
	}
	if mode, err := c.ModeOf("refunds"); mode != Async || err != nil {
		t.Errorf("mode %q, %v", mode, err)
	}
}

// Without the store the same agent blocks: naming it is the only change.
func TestNamingTheStoreIsTheOnlyChange(t *testing.T) {
	c, err := Parse("x", []byte(strings.Replace(whole, "    session_store: main\n", "", 1)), env("OPENAI_API_KEY", "k"))
	if mode, modeErr := c.ModeOf("refunds"); err != nil || modeErr != nil || mode != Blocking {
		t.Errorf("%q, %v, %v", mode, err, modeErr)
	}
}

func TestSmallFiles(t *testing.T) {
	for _, text := range []string{"", "# nothing\n", "server:\n", "---\nserver: {addr: ':0'}\n", "server: {addr: 'localhost:http'}\n", "stores: {main: {url: &u 'sqlite:x'}}\nserver: {log: warn}\n"} {
		if _, err := Parse("x", []byte(text), nothingSet); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestEnvironment(t *testing.T) {
	set := env("PORT", "9", "ON", "true", "EMPTY", "")
	c, err := Parse("x", []byte("server: {max_body: \"${SIZE:-4096}\", rate: {burst: \"${PORT}\"}, addr: \":${PORT}\", log: \"${EMPTY:-warn}\"}\ntools: {t: {command: {}, idempotent: \"${ON}\", description: \"$${PORT} ${EMPTY}.\"}}\n"), set)
	if err != nil || c.Server.MaxBody != 4096 || c.Server.Rate.Burst != 9 || c.Server.Addr != ":9" || c.Server.Log != "warn" || !c.Tools["t"].Idempotent || c.Tools["t"].Description != "${PORT} ." {
		t.Errorf("%+v, %v", c, err)
	}
	// What the environment holds is a value, never YAML.
	c, err = Parse("x", []byte("server: {public_url: \"${URL}\"}"), env("URL", "https://a.example.org\nstores: {}"))
	if err == nil || c.Stores != nil {
		t.Errorf("%+v, %v", c, err)
	}
}

func TestRead(t *testing.T) {
	file := filepath.Join(t.TempDir(), "holdshort.yaml")
	if _, err := Read(file); holdshort.CodeOf(err) != holdshort.NotFound {
		t.Errorf("no file: %v", err)
	}
	if err := os.WriteFile(file, []byte("server: {addr: 127.0.0.1:1}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if c, err := Read(file); err != nil || c.Server.Addr != "127.0.0.1:1" {
		t.Errorf("%+v, %v", c, err)
	}
	if _, err := Parse("x", bytes.Repeat([]byte("#"), maxSize+1), nothingSet); len(FaultsOf(err)) != 1 {
		t.Errorf("a huge file: %v", err)
	}
	if _, err := Parse("x", []byte{'a', 0xff}, nothingSet); len(FaultsOf(err)) != 1 {
		t.Errorf("no text: %v", err)
	}
}

func TestDuration(t *testing.T) {
	for text, want := range map[string]time.Duration{"600": 10 * time.Minute, "0": 0, "1.5": 1500 * time.Millisecond,
		"24h": 24 * time.Hour, "30d": 720 * time.Hour, "never": policy.Never} {
		var d Duration
		if err := d.setText(text); err != nil || time.Duration(d) != want {
			t.Errorf("%s: %v, %v", text, time.Duration(d), err)
		}
	}
	for _, text := range []string{"", "-1", "soon", "-5m", "1e300", "NaN", "-1d", "NaNd", "1e300d"} {
		if err := new(Duration).setText(text); err == nil {
			t.Errorf("%q was taken", text)
		}
	}
}

// Aliases of aliases are an old way to fill a machine's memory.
func TestAliasesEndSomewhere(t *testing.T) {
	text := "channels:\n  a0: &a0 {x: [1,1,1,1,1,1,1,1,1,1]}\n"
	for i := 1; i < 12; i++ {
		text += fmt.Sprintf("  a%d: &a%d {x: [*a%d,*a%d,*a%d,*a%d,*a%d,*a%d,*a%d,*a%d]}\n", i, i, i-1, i-1, i-1, i-1, i-1, i-1, i-1, i-1)
	}
	_, err := Parse("x", []byte(text), nothingSet)
	if faults := FaultsOf(err); len(faults) == 0 || !strings.Contains(faults[0].Message, "aliases") {
		t.Errorf("%v", err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(whole)
	f.Add("a: &a [*a]\n")
	f.Add("server: {addr: ${X}}")
	f.Add("? [a]\n: b\n")
	f.Fuzz(func(t *testing.T, text string) {
		_, err := Parse("x", []byte(text), env("X", "y"))
		for _, fault := range FaultsOf(err) {
			if fault.Message == "" {
				t.Errorf("a fault without a word in %q", text)
			}
		}
		if err != nil && len(FaultsOf(err)) == 0 {
			t.Errorf("%v has no fault", err)
		}
	})
}
