package inbox

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/identity"
	"github.com/holdshort/holdshort/policy"
	"github.com/holdshort/holdshort/store/sqlite"
)

const liveTenant holdshort.TenantID = "acme"

// livePeople are known by the name in a header or a cookie, for as long as they are here.
type livePeople struct {
	identity.Links
	mu sync.Mutex
	of map[string]identity.Who
}

func (p *livePeople) ResolveActor(r *http.Request) (identity.Who, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	name := r.Header.Get("X-Who")
	if c, err := r.Cookie("who"); err == nil {
		name = c.Value
	}
	who, ok := p.of[name]
	if !ok {
		return identity.Who{}, &holdshort.Error{Code: holdshort.Unauthenticated, Message: "nobody vouches for this call", Hint: "log in"}
	}
	return who, nil
}

func (p *livePeople) set(name string, roles ...string) holdshort.Actor {
	p.mu.Lock()
	defer p.mu.Unlock()
	tenant := liveTenant
	if strings.HasPrefix(name, "other") {
		tenant = "elsewhere"
	}
	a := holdshort.Actor{ID: name, Kind: holdshort.Person, Name: strings.ToUpper(name[:1]) + name[1:], Roles: roles, Assurance: holdshort.AssuranceLogin}
	p.of[name] = identity.Who{Tenant: tenant, Actor: a, Method: identity.ByLogin}
	return a
}

func (p *livePeople) remove(name string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.of, name)
}

// liveBed is an engine over a real file, and its live pages on loopback.
type liveBed struct {
	*testing.T
	engine *engine.Engine
	people *livePeople
	in     *Inbox
	hub    *hub
	http   *httptest.Server
	addr   string
	bot    holdshort.Actor
}

func newLiveBed(t *testing.T) *liveBed {
	t.Helper()
	s, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "live.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	b := &liveBed{T: t, people: &livePeople{of: map[string]identity.Who{}}, bot: holdshort.Actor{ID: "key:bot", Kind: holdshort.Service, Assurance: holdshort.AssuranceToken}}
	if b.engine, err = engine.New(s, engine.Config{Logger: slog.New(slog.DiscardHandler), Node: "one"}); err != nil {
		t.Fatal(err)
	}
	b.open()
	t.Cleanup(func() { b.close() })
	return b
}

// open makes pages over the engine: again after close, as a restart does.
func (b *liveBed) open() {
	b.Helper()
	var err error
	if b.in, err = New(b.engine, b.people, Options{Logger: slog.New(slog.DiscardHandler), Rate: -1, KeepAlive: 5 * time.Second}); err != nil {
		b.Fatal(err)
	}
	b.hub = newHub(b.in)
	b.hub.pace = 20 * time.Millisecond
	mux := http.NewServeMux()
	mux.HandleFunc("GET /live", b.hub.serve)
	mux.HandleFunc("GET /as/{name}", func(w http.ResponseWriter, r *http.Request) {
		http.SetCookie(w, &http.Cookie{Name: "who", Value: r.PathValue("name"), Path: "/"})
		http.Redirect(w, r, "/", http.StatusSeeOther)
	})
	mux.Handle("/", b.in)
	b.http = httptest.NewUnstartedServer(mux)
	if b.addr != "" { // a server that is started again is where it was
		b.http.Listener.Close()
		if b.http.Listener, err = net.Listen("tcp", b.addr); err != nil {
			b.Fatal(err)
		}
	}
	b.http.Start()
	b.addr = b.http.Listener.Addr().String()
}

func (b *liveBed) close() {
	b.in.Close()
	b.http.CloseClientConnections() // a browser keeps some for later
	b.http.Close()
}

// ask raises a question for an audience.
func (b *liveBed) ask(text string, audience holdshort.Audience, change ...func(*engine.AskInput)) holdshort.Request {
	b.Helper()
	in := engine.AskInput{Kind: holdshort.Clarification, Question: text, Audience: audience, Actor: b.bot}
	for _, c := range change {
		c(&in)
	}
	out, err := b.engine.Ask(b.Context(), liveTenant, in)
	if err != nil {
		b.Fatal(err)
	}
	return out.Request
}

func (b *liveBed) answer(id holdshort.RequestID, who holdshort.Actor) {
	b.Helper()
	if _, err := b.engine.Decide(b.Context(), liveTenant, engine.DecideInput{Request: id, Action: holdshort.Answer, Value: json.RawMessage(`"yes"`), Actor: who}); err != nil {
		b.Fatal(err)
	}
}

func roles(names ...string) holdshort.Audience { return holdshort.Audience{Roles: names} }

// told is one event of a stream.
type told struct {
	name, id string
	data     string
}

func (e told) into(t testing.TB, v any) {
	t.Helper()
	if err := json.Unmarshal([]byte(e.data), v); err != nil {
		t.Fatalf("%s: %v", e.data, err)
	}
}

// listener is somebody's open page.
type listener struct {
	t      testing.TB
	status int
	events chan told // closed at the end of the stream
	end    context.CancelFunc
	mu     sync.Mutex
	raw    strings.Builder
}

func (b *liveBed) listen(who, query string) *listener {
	b.Helper()
	ctx, end := context.WithCancel(b.Context())
	l := &listener{t: b, events: make(chan told, 10_000), end: end}
	r, err := http.NewRequestWithContext(ctx, "GET", b.http.URL+"/live?"+query, nil)
	if err != nil {
		b.Fatal(err)
	}
	r.Header.Set("X-Who", who)
	answer, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		b.Fatal(err)
	}
	l.status = answer.StatusCode
	if l.status == http.StatusOK && (!strings.HasPrefix(answer.Header.Get("Content-Type"), "text/event-stream") || answer.Header.Get("Content-Encoding") != "") {
		b.Errorf("the stream has headers %v", answer.Header)
	}
	go func() {
		defer close(l.events)
		defer answer.Body.Close()
		lines := bufio.NewScanner(answer.Body)
		lines.Buffer(nil, 8<<20)
		var e told // its id stays: it is the last that was told
		for lines.Scan() {
			text := lines.Text()
			l.mu.Lock()
			l.raw.WriteString(text + "\n")
			l.mu.Unlock()
			switch name, value, _ := strings.Cut(text, ": "); name {
			case "id":
				e.id = value
			case "event":
				e.name = value
			case "data":
				e.data = value
			case "":
				if e.name != "" {
					l.events <- e
				}
				e = told{id: e.id}
			}
		}
	}()
	b.Cleanup(end)
	return l
}

// next waits for the next event of a name; others in between are passed over.
func (l *listener) next(name string) told {
	l.t.Helper()
	limit := time.After(time.Minute)
	for {
		select {
		case e, ok := <-l.events:
			if !ok {
				l.t.Fatalf("the stream ended before %s; it said:\n%s", name, l.text())
			}
			if e.name == name {
				return e
			}
		case <-limit:
			l.t.Fatalf("no %s came; the stream said:\n%s", name, l.text())
		}
	}
}

func (l *listener) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.raw.String()
}

// counted waits until the last counts that were told begin like this. They may come before or after the rows that they are of.
func (l *listener) counted(want string) {
	l.t.Helper()
	eventually(l.t, "the counts do not become "+want, func() bool {
		text := l.text()
		at := strings.LastIndex(text, "event: counts\n")
		return at >= 0 && strings.HasPrefix(text[at:], "event: counts\ndata: {"+want)
	})
}

// ended waits for the end of the stream.
func (l *listener) ended() (last told) {
	l.t.Helper()
	limit := time.After(time.Minute)
	for {
		select {
		case e, ok := <-l.events:
			if !ok {
				return last
			}
			last = e
		case <-limit:
			l.t.Fatal("the stream does not end")
		}
	}
}

type toldRows struct {
	Upsert []struct{ ID, HTML string }
	Gone   []string
}

// rows waits until a request was told as a row, or as gone.
func (l *listener) row(id holdshort.RequestID) (html string, gone bool) {
	l.t.Helper()
	for {
		var rows toldRows
		l.next("rows").into(l.t, &rows)
		for _, r := range rows.Upsert {
			if r.ID == string(id) {
				return r.HTML, false
			}
		}
		for _, g := range rows.Gone {
			if g == string(id) {
				return "", true
			}
		}
	}
}

// TestLiveTranscript: a page is told what comes, what changes and what leaves, and how much there is.
func TestLiveTranscript(t *testing.T) {
	b := newLiveBed(t)
	ana := b.people.set("ana", policy.Reviewer)
	page := b.listen("ana", "view=")
	var hello struct {
		Now, Position, Keep int64
		Node, Build         string
		Missed              bool
	}
	page.next("hello").into(t, &hello)
	if hello.Node != "one" || hello.Build != b.in.looks.build || hello.Keep != 5000 || !hello.Missed || time.Since(time.UnixMilli(hello.Now)) > time.Minute {
		t.Errorf("hello is %+v", hello)
	}
	req := b.ask(`Which <b>"Dana"</b>?`, roles(policy.Reviewer))
	html, gone := page.row(req.ID)
	if gone || !strings.Contains(html, `id="row-`+string(req.ID)+`"`) || !strings.Contains(html, "Which &lt;b&gt;") {
		t.Errorf("the row is %q", html)
	}
	page.counted(`"all":"1","mine":"0","unknown":"0","soon":"1","kinds":{"clarification":"1"}`)
	if _, err := b.engine.Assign(t.Context(), liveTenant, engine.AssignInput{Request: req.ID, Actor: ana, To: "ana"}); err != nil {
		t.Fatal(err)
	}
	if html, _ := page.row(req.ID); !strings.Contains(html, `data-assignee="ana"`) {
		t.Errorf("the row is %q", html)
	}
	b.answer(req.ID, ana)
	if _, gone := page.row(req.ID); !gone {
		t.Error("what is decided stays")
	}
	page.counted(`"all":"0","mine":"0","unknown":"0","soon":"0","kinds":{}`)
	b.in.Close()
	var bye struct{ Retry int64 }
	last := page.ended()
	last.into(t, &bye)
	if last.name != "bye" || bye.Retry <= 0 {
		t.Errorf("the last is %+v", last)
	}
}

// TestLiveViews: each list is told of what belongs into it, and of what leaves it.
func TestLiveViews(t *testing.T) {
	b := newLiveBed(t)
	ana := b.people.set("ana", policy.Reviewer)
	pages := map[string]*listener{}
	for _, query := range []string{"", "view=mine", "priority=high", "kind=approval", "view=decided", "view=decided&by=me", "view=decided&outcome=rejected"} {
		pages[query] = b.listen("ana", "view="+strings.NewReplacer("=", "%3D", "&", "%26").Replace(query))
		pages[query].next("hello")
	}
	high := b.ask("high", roles(policy.Reviewer), func(in *engine.AskInput) { in.Priority = holdshort.PriorityHigh })
	pages[""].row(high.ID)
	pages["priority=high"].row(high.ID)
	if _, err := b.engine.Assign(t.Context(), liveTenant, engine.AssignInput{Request: high.ID, Actor: ana, To: "ana"}); err != nil {
		t.Fatal(err)
	}
	if _, gone := pages["view=mine"].row(high.ID); gone {
		t.Error("what is mine leaves")
	}
	if _, err := b.engine.Assign(t.Context(), liveTenant, engine.AssignInput{Request: high.ID, Actor: ana, To: "ben"}); err != nil {
		t.Fatal(err)
	}
	if _, gone := pages["view=mine"].row(high.ID); !gone {
		t.Error("what is no longer mine stays")
	}
	b.answer(high.ID, ana)
	if html, gone := pages["view=decided"].row(high.ID); gone || !strings.Contains(html, "answered") {
		t.Errorf("the decided row is %q", html)
	}
	pages["view=decided&by=me"].row(high.ID)
	other := b.ask("other", roles(policy.Reviewer))
	pages[""].row(other.ID)
	b.answer(other.ID, holdshort.Actor{ID: "carl", Kind: holdshort.Person, Roles: []string{policy.Reviewer}, Assurance: holdshort.AssuranceLogin})
	pages["view=decided"].row(other.ID)
	if _, gone := pages[""].row(other.ID); !gone {
		t.Error("what is decided stays")
	}
	for _, query := range []string{"view=decided&by=me", "priority=high"} {
		if strings.Contains(pages[query].text(), string(other.ID)) {
			t.Errorf("%s was told of another", query)
		}
	}
	for _, query := range []string{"kind=approval", "view=decided&outcome=rejected"} {
		if text := pages[query].text(); strings.Contains(text, "event: rows") {
			t.Errorf("%s was told:\n%s", query, text)
		}
	}
}

var requestIDs = regexp.MustCompile(`req_[0-9a-z]+`)

// TestLiveTellsOnlyThoseWhoMay: many people, many audiences; nobody is told so much as the id of what they may not see, whatever they ask for.
func TestLiveTellsOnlyThoseWhoMay(t *testing.T) {
	b := newLiveBed(t)
	actors := map[string]holdshort.Actor{}
	for name, has := range map[string][]string{"ana": {policy.Reviewer}, "fin": {"finance"}, "ops": {"ops", "night"}, "adm": {policy.Admin}, "aud": {policy.Auditor}, "eve": nil, "ben": nil, "other-ana": {policy.Admin, policy.Reviewer}} {
		actors[name] = b.people.set(name, has...)
	}
	audiences := []holdshort.Audience{roles(policy.Reviewer), roles("finance"), roles("ops"), roles("finance", "night"), {Users: []string{"ben"}}, {Users: []string{"eve", "fin"}}}
	var old []holdshort.Request // they are on everybody's wish list
	cards := ""
	for i := range audiences {
		old = append(old, b.ask(fmt.Sprint("old ", i), audiences[i]))
		cards += "&card=" + string(old[i].ID)
	}
	pages := map[string][]*listener{}
	for name := range actors {
		for _, query := range []string{"view=" + cards, "view=view%3Ddecided", "after=0&view=kind%3Dclarification", ""} {
			l := b.listen(name, query)
			l.next("hello")
			pages[name] = append(pages[name], l)
		}
	}
	everything := old
	for i := range 60 {
		req := b.ask(fmt.Sprint("question ", i), audiences[i%len(audiences)])
		everything = append(everything, req)
	}
	// A request that opens and closes between two pushes is never shown: pages must hear of the others.
	mustHear := map[holdshort.RequestID]bool{}
	for i, req := range everything {
		mustHear[req.ID] = i%2 != 0 || i < len(old)
		if i%2 == 0 {
			if _, err := b.engine.CancelRequest(t.Context(), liveTenant, engine.CancelRequestInput{Request: req.ID, Actor: actors["adm"], Reason: "enough"}); err != nil {
				t.Fatal(err)
			}
		}
	}
	last := b.ask("the end", holdshort.Audience{Users: []string{"ana", "fin", "ops", "eve", "ben"}})
	for name, all := range pages {
		if name == "other-ana" {
			continue
		}
		all[0].row(last.ID)
	}
	b.in.Close()
	for name, all := range pages {
		for i, l := range all {
			l.ended()
			seen := map[string]bool{}
			for _, id := range requestIDs.FindAllString(l.text(), -1) {
				seen[id] = true
			}
			for _, req := range append(everything, last) {
				may := name != "other-ana" && b.engine.Visible(actors[name], &req, nil)
				if seen[string(req.ID)] && !may {
					t.Errorf("%s was told of %q, page %d", name, req.Question, i)
				}
				if may && i == 0 && mustHear[req.ID] && !seen[string(req.ID)] {
					t.Errorf("%s was not told of %q", name, req.Question)
				}
			}
		}
	}
}
