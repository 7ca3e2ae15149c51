package inbox_test

import (
	"bufio"
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
	"maps"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
)

// TestAuditSearch: each event is a line in plain words, newest first, and filters take away what does not fit.
func TestAuditSearch(t *testing.T) {
	t.Parallel()
	d := newLinkBed(t)
	run, id := d.starts(t, "refund", bedRefund{"1", 1})
	_, other := d.starts(t, "refund", bedRefund{"2", 2})
	_, fingerprint := d.link(t, id, ana)
	if _, err := d.engine.Decide(t.Context(), bedTenant, engine.DecideInput{Request: id, Actor: ana, Action: holdshort.Approve, Fingerprint: fingerprint}); err != nil {
		t.Fatal(err)
	}
	d.ends(t, run)
	before := d.events(t)
	for query, c := range map[string]struct{ has, not []string }{
		"":                                    {[]string{"approved the request", `href="/requests/` + string(id) + `"`, `href="/runs/` + string(run) + `"`, "The engine", `href="/audit?actor=ana"`, string(other)}, []string{"Nothing is found"}},
		"?request=" + string(id):              {[]string{"approved the request"}, []string{string(other)}},
		"?actor=ana":                          {[]string{"approved the request"}, []string{"completed the run"}},
		"?type=run.*":                         {[]string{"completed the run"}, []string{"approved the request"}},
		"?type=run.failed,hitl.request.d*":    {[]string{"approved the request"}, []string{"completed the run"}},
		"?run=" + string(run) + "&type=run.*": {[]string{"completed the run"}, []string{string(other), "approved the request"}},
		"?actor=nobody":                       {[]string{"Nothing is found"}, []string{"approved the request"}},
		"?since=2020-01-01T00:00&until=2020-01-02": {[]string{"Nothing is found"}, []string{"approved the request"}},
		"?last=1h":       {[]string{"approved the request"}, nil},
		"?since=garbage": {[]string{"That is no time"}, []string{"approved the request"}},
		"?type=%3Cb%3E":  {[]string{"That is not the name of an event"}, []string{"<b>"}},
		"?before=zzz":    {[]string{"approved the request"}, nil},
	} {
		a := d.page(t, ida, "/audit"+query, nil)
		for _, want := range c.has {
			if !strings.Contains(a.body, want) {
				t.Errorf("%s does not show %q (%d)", query, want, a.status)
			}
		}
		rows := a.body
		if _, list, ok := strings.Cut(a.body, `<ol class="panel events">`); ok {
			rows = list
		}
		for _, not := range c.not {
			if not == "<b>" && a.status != 400 || not != "<b>" && strings.Contains(rows, not) {
				t.Errorf("%s shows %q", query, not)
			}
		}
	}
	if after := d.events(t); !maps.Equal(before, after) {
		t.Errorf("looking left events: %v, then %v", before, after)
	}
}

// TestAuditPages: paging comes by every event once, down to the first.
func TestAuditPages(t *testing.T) {
	t.Parallel()
	d := newLinkBed(t)
	for i := range 30 {
		d.starts(t, "refund", bedRefund{strconv.Itoa(i), 1})
	}
	seen := map[string]bool{}
	address := "/audit"
	for range 50 {
		a := d.page(t, ada, address, nil)
		for _, piece := range strings.Split(a.body, "<div><dt>Event</dt><dd><code>")[1:] {
			id, _, _ := strings.Cut(piece, "<")
			if seen[id] {
				t.Fatalf("%s comes twice", id)
			}
			seen[id] = true
		}
		_, rest, more := strings.Cut(a.body, `" rel="next">Older`)
		if !more || rest == "" {
			break
		}
		head := a.body[:strings.Index(a.body, `" rel="next">Older`)]
		address = strings.ReplaceAll(head[strings.LastIndex(head, `href="`)+len(`href="`):], "&amp;", "&")
	}
	total := 0
	for _, n := range d.events(t) {
		total += n
	}
	if len(seen) < total { // the test's own logins are there too
		t.Errorf("%d of %d events were shown", len(seen), total)
	}
}

// TestAuditChain: the page says how far the log is sealed and that its end holds.
func TestAuditChain(t *testing.T) {
	t.Parallel()
	d := newLinkBed(t)
	d.starts(t, "refund", bedRefund{"1", 1})
	for _, path := range []string{"/audit?check=1", "/audit/chain"} {
		if a := d.page(t, ida, path, nil); a.status != 200 || !strings.Contains(a.body, "are verified") || strings.Contains(a.body, "not what was written") {
			t.Errorf("%s: %d %s", path, a.status, a.body)
		}
	}
	if a := d.page(t, ida, "/audit", nil); !strings.Contains(a.body, `hx-get="/audit/chain"`) || !strings.Contains(a.body, "check=1") {
		t.Error("the page does not ask for the check")
	}
}

// TestAuditExport: all of it, newest first, with hashes that another program can check, and nothing that a spreadsheet would run.
func TestAuditExport(t *testing.T) {
	t.Parallel()
	d := newLinkBed(t)
	for i := range 75 {
		d.starts(t, "refund", bedRefund{strconv.Itoa(i), 1})
	}
	evil := holdshort.Actor{ID: `=HYPERLINK("https://elsewhere.example","x")`, Kind: holdshort.Person, Roles: []string{"admin"}}
	d.page(t, evil, "/settings/keys", url.Values{"name": {"k"}, "once": {"x"}, "expires": {""}})

	lines := d.page(t, ida, "/audit/export?format=ndjson", nil)
	if lines.status != 200 || lines.header.Get("Content-Type") != "application/x-ndjson" || !strings.Contains(lines.header.Get("Content-Disposition"), "attachment") || lines.header.Get("Cache-Control") != "no-store" {
		t.Fatalf("%d %v", lines.status, lines.header)
	}
	var last int64
	n := 0
	for in := bufio.NewScanner(strings.NewReader(lines.body)); in.Scan(); n++ {
		var e holdshort.Event
		var sums struct{ Prev, Hash string }
		var loose map[string]any
		if err := json.Unmarshal(in.Bytes(), &loose); err != nil {
			t.Fatal(err)
		}
		sums.Prev, _ = loose["prev"].(string)
		sums.Hash, _ = loose["hash"].(string)
		delete(loose, "prev")
		rest, err := json.Marshal(loose)
		if err != nil || json.Unmarshal(rest, &e) != nil {
			t.Fatalf("%s %v", in.Bytes(), err)
		}
		if e.Prev, err = hex.DecodeString(sums.Prev); err != nil {
			t.Fatal(err)
		}
		if last != 0 && e.Position >= last {
			t.Fatalf("%d after %d", e.Position, last)
		}
		last = e.Position
		if hash := e.Hash(bedTenant); hex.EncodeToString(hash[:]) != sums.Hash {
			t.Errorf("%s: the hash does not fit", e.ID)
		}
	}
	if last != 1 || n < 200 {
		t.Errorf("%d events down to position %d", n, last)
	}
	table := d.page(t, ida, "/audit/export?format=csv&type=key.*", nil)
	rows, err := csv.NewReader(strings.NewReader(table.body)).ReadAll()
	if err != nil || len(rows) != 2 || table.header.Get("Content-Type") != "text/csv; charset=utf-8" {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	for _, cell := range rows[1] {
		if cell != "" && strings.ContainsAny(cell[:1], "=+-@\t\r") {
			t.Errorf("a spreadsheet would run %q", cell)
		}
	}
	if !strings.Contains(rows[1][3], "HYPERLINK") {
		t.Errorf("%v", rows[1])
	}
	if empty := d.page(t, ida, "/audit/export?format=csv&actor=nobody", nil); strings.TrimSpace(empty.body) != strings.Join(rows[0], ",") {
		t.Errorf("an empty table is %q", empty.body)
	}
	for _, wrong := range []string{"", "?format=exe", "?format=csv&type=%3C"} {
		if a := d.page(t, ida, "/audit/export"+wrong, nil); a.status != 400 {
			t.Errorf("%q: %d", wrong, a.status)
		}
	}
}
