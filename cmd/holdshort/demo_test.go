package main

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/client"
)

// A visitor follows the printed link in a browser's way, looks, and decides over HTTP; the link works once.
func TestDemoByLink(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), safetyLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, "holdshort", "demo", "--addr", "127.0.0.1:0")
	cmd.Env = append(os.Environ(), "XDG_CONFIG_HOME="+t.TempDir())
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = safetyLimit
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		cmd.Process.Signal(os.Interrupt)
		if err := cmd.Wait(); err != nil {
			t.Errorf("the demo ended with %v", err)
		}
	}()
	var link string
	lines := bufio.NewScanner(stdout)
	for lines.Scan() {
		if l, found := strings.CutPrefix(lines.Text(), "log in, once: "); found {
			link = l
		}
		if strings.HasPrefix(lines.Text(), "Ctrl-C") {
			break
		}
	}
	address, err := url.Parse(link)
	if err != nil || address.Query().Get("token") == "" {
		t.Fatalf("no link: %q, %v", link, err)
	}
	base := address.Scheme + "://" + address.Host

	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	browser := &http.Client{Jar: jar}
	do := func(method, target, kind, body string) (int, string) {
		t.Helper()
		r, err := http.NewRequestWithContext(ctx, method, target, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		if kind != "" {
			r.Header.Set("Content-Type", kind)
			r.Header.Set("Origin", base)
			r.Header.Set("Sec-Fetch-Site", "same-origin")
		}
		answer, err := browser.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		raw, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		return answer.StatusCode, string(raw)
	}
	if status, _ := do("GET", base+"/v1/me", "", ""); status != http.StatusUnauthorized {
		t.Errorf("before the login: %d", status)
	}
	if status, _ := do("GET", link, "", ""); status != http.StatusOK { // looking does not use it up
		t.Errorf("the link: %d", status)
	}
	form := url.Values{"token": {address.Query().Get("token")}}.Encode()
	if status, body := do("POST", base+"/login", "application/x-www-form-urlencoded", form); status >= 400 {
		t.Fatalf("the login: %d %s", status, body)
	}
	status, body := do("GET", base+"/v1/requests?status=open", "", "")
	var page struct{ Items []client.Request }
	if err := json.Unmarshal([]byte(body), &page); status != http.StatusOK || err != nil || len(page.Items) != 9 {
		t.Fatalf("the inbox: %d, %v, %d requests", status, err, len(page.Items))
	}
	for _, req := range page.Items {
		if req.Rule != "large refunds" {
			continue
		}
		target := base + "/v1/requests/" + string(req.ID)
		if status, body := do("POST", target+"/decision", "application/json", `{"action":"approve","fingerprint":"`+req.Fingerprint+`"}`); status != http.StatusOK {
			t.Errorf("the decision: %d %s", status, body)
		}
		status, body = do("GET", target, "", "")
		var now client.Request
		if err := json.Unmarshal([]byte(body), &now); err != nil || now.Outcome != holdshort.Approved || now.Decision.Actor.ID != "ana@example.org" || now.Decision.Actor.Assurance != holdshort.AssuranceLogin {
			t.Errorf("decided: %d %s", status, body)
		}
	}
	if status, _ := do("GET", base+"/", "", ""); status != http.StatusOK {
		t.Errorf("the page of open requests: %d", status)
	}
	browser.Jar = nil
	if status, _ := do("POST", base+"/login", "application/x-www-form-urlencoded", form); status < 400 {
		t.Errorf("the link worked twice: %d", status)
	}
}
