package webhook

import (
	"encoding/json"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/holdshort/holdshort/internal/testnode"
)

// snippet gives the code of a language on the page for receivers.
func snippet(t *testing.T, language string) string {
	t.Helper()
	page, err := os.ReadFile("../../docs/webhooks.md")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile("(?s)```" + language + "\n(.*?)```").FindSubmatch(page)
	if found == nil {
		t.Fatalf("the page has no %s", language)
	}
	return string(found[1])
}

// cases are what a receiver gets, and what it must say.
func cases(t *testing.T) (input []byte, want string) {
	t.Helper()
	type letter struct {
		Secret  string            `json:"secret"`
		Body    string            `json:"body"`
		Headers map[string]string `json:"headers"`
	}
	body := `{"type":"run.completed","data":{"text":"é 😀 <&>"}}`
	var letters []letter
	for _, c := range []struct {
		secret, body string
		age          time.Duration
		ok           bool
	}{{secretOne, body, 0, true}, {secretTwo, body, 0, true}, {secretOne, body + " ", 0, false}, {secretOne, body, time.Hour, false}, {secretOne, body, -time.Hour, false}, {"whsec_QUJDRA==", body, 0, false}} {
		h := headers(t, []string{secretOne, secretTwo}, "whk_1:evt_1", time.Now().Add(-c.age), body)
		letters = append(letters, letter{c.secret, c.body, map[string]string{IDHeader: h.Get(IDHeader), TimestampHeader: h.Get(TimestampHeader), SignatureHeader: h.Get(SignatureHeader)}})
		want += map[bool]string{true: "yes\n", false: "no\n"}[c.ok]
	}
	input, err := json.Marshal(letters)
	if err != nil {
		t.Fatal(err)
	}
	return input, want
}

// TestPageInPython runs what the page says.
func TestPageInPython(t *testing.T) {
	program := snippet(t, "python") + "\nimport json, sys\nfor c in json.load(sys.stdin):\n    print('yes' if verify(c['secret'], c['headers'], c['body'].encode()) else 'no')\n"
	input, want := cases(t)
	cmd := exec.CommandContext(t.Context(), "python3", "-c", program)
	cmd.Stdin = strings.NewReader(string(input))
	got, err := cmd.CombinedOutput()
	if err != nil || string(got) != want {
		t.Errorf("python3 says %s %v, want %s(the Debian package is python3)", got, err, want)
	}
}

// TestPageInJavaScript runs what the page says.
func TestPageInJavaScript(t *testing.T) {
	folder := testnode.Install(t, "standardwebhooks@1.0.0") // Node.js alone would do
	input, want := cases(t)
	script := snippet(t, "js") + `
let text = "";
for await (const chunk of process.stdin) text += chunk;
for (const c of JSON.parse(text)) console.log(verify(c.secret, c.headers, Buffer.from(c.body)) ? "yes" : "no");`
	if got := testnode.Run(t, folder, script, input); got != want {
		t.Errorf("node says %s, want %s", got, want)
	}
}
