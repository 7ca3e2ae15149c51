package bench

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/identity"
	"github.com/holdshort/holdshort/inbox"
)

const (
	InboxPages      = 500                    // pages that are open
	InboxRate       = 100                    // events a second
	InboxToldTarget = 200 * time.Millisecond // from the commit to the page
	InboxCores      = 1.0                    // that the pages may cost
)

// InboxLive is what open pages cost, and how soon they know.
type InboxLive struct {
	Pages     int           `json:"pages"`
	People    int           `json:"people"`
	QuietP50  time.Duration `json:"quiet_commit_to_page_p50_ns"` // one request now and then
	QuietP99  time.Duration `json:"quiet_commit_to_page_p99_ns"`
	Told      int           `json:"told"` // rows that were timed under load
	BusyP50   time.Duration `json:"busy_commit_to_page_p50_ns"`
	BusyP99   time.Duration `json:"busy_commit_to_page_p99_ns"`
	Events    float64       `json:"events_per_s"`
	Cores     float64       `json:"cores"`      // of the server, engine and all
	BareCores float64       `json:"bare_cores"` // of the same without a page
	PageBytes float64       `json:"page_bytes"` // of memory, each
	Seconds   float64       `json:"seconds"`    // that was measured
	Target    time.Duration `json:"target_ns"`  // of the 99th percentiles
	CoresMost float64       `json:"cores_most"` // that the pages may cost
}

func (l *InboxLive) write(w io.Writer) {
	if l == nil {
		return
	}
	fmt.Fprintf(w, "%d live pages of %d people: a request is on the page p50 %s, p99 %s after its commit, at %.0f events/s p50 %s, p99 %s (at most %s); the server takes %.2f cores, without pages %.2f: %.2f for the pages (at most %.1f); %.1f KiB a page\n",
		l.Pages, l.People, micro(l.QuietP50), micro(l.QuietP99), l.Events, micro(l.BusyP50), micro(l.BusyP99), l.Target, l.Cores, l.BareCores, l.Cores-l.BareCores, l.CoresMost, l.PageBytes/1024)
}

// inboxRoles are shared out among people and questions, so that each question is for some of them.
var inboxRoles = [][]string{{"reviewer"}, {"finance"}, {"support"}, {"finance", "support"}, {"night"}, {"operator"}, {"support", "night", "stock"}}

var inboxAudiences = [][]string{{"reviewer"}, {"finance"}, {"support"}, {"night"}, {"stock", "finance"}}

// inboxHall is a server with its pages, and the process that has them open.
type inboxHall struct {
	*kernel
	seen  sync.Mutex
	asked map[string]time.Time // when its commit had returned
	early map[string]int       // times it was on a page before that
	late  []time.Duration      // until it was on a page
	shown map[string]bool      // requests that have been on a page
	last  string               // request that was asked last
	open  []holdshort.RequestID
	n     int
}

// measureInboxLive opens many pages in a process of their own, so that only the server's work counts, and lets things happen.
func measureInboxLive(ctx context.Context, t *target, o Options) (*InboxLive, error) {
	return measureInboxPages(ctx, t, o, InboxPages)
}

func measureInboxPages(ctx context.Context, t *target, o Options, n int) (*InboxLive, error) {
	own, drop, err := t.fresh(ctx, "inboxlive")
	if err != nil {
		return nil, err
	}
	defer drop()
	s, err := own.open(ctx, 256, 1)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	k, err := startKernel(ctx, s, 8)
	if err != nil {
		return nil, err
	}
	defer k.stop()
	people, err := identity.New(k.Engine, identity.Config{Tenant: tenant, Keys: true, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return nil, err
	}
	pages, err := inbox.New(k.Engine, people, inbox.Options{Rate: -1, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	server := &http.Server{Handler: pages, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)}
	go server.Serve(listener)
	defer server.Close()
	defer pages.Close()

	hall := &inboxHall{kernel: k, asked: map[string]time.Time{}, early: map[string]int{}, shown: map[string]bool{}}
	out := &InboxLive{Pages: n, People: n, Target: InboxToldTarget, CoresMost: InboxCores, Seconds: (10 * o.Duration).Seconds()}
	o.Progress("events without pages")
	if out.BareCores, _, err = hall.busy(ctx, 10*o.Duration); err != nil {
		return nil, err
	}
	o.Progress(fmt.Sprintf("opening %d live pages", n))
	before := settledMemory()
	stop, err := hall.watched(ctx, o, listener.Addr().String(), n)
	if err != nil {
		return nil, err
	}
	defer stop()
	out.PageBytes = float64(settledMemory()-before) / float64(n)
	o.Progress("a request now and then")
	for range max(5, int(30*o.Duration.Seconds())) {
		if err := hall.ask(ctx); err != nil {
			return nil, err
		}
		if err := pause(ctx, 300*time.Millisecond); err != nil {
			return nil, err
		}
	}
	if err := hall.untilShown(ctx); err != nil {
		return nil, err
	}
	late := hall.take()
	out.QuietP50, out.QuietP99 = quantile(late, 0.5), quantile(late, 0.99)
	o.Progress(fmt.Sprintf("%d events a second", InboxRate))
	if out.Cores, out.Events, err = hall.busy(ctx, 10*o.Duration); err != nil {
		return nil, err
	}
	if err := hall.untilShown(ctx); err != nil {
		return nil, err
	}
	late = hall.take()
	out.Told, out.BusyP50, out.BusyP99 = len(late), quantile(late, 0.5), quantile(late, 0.99)
	return out, nil
}

// watched starts the process that has the pages open, each as another person, and returns when all are.
func (h *inboxHall) watched(ctx context.Context, o Options, address string, n int) (stop func(), err error) {
	var say strings.Builder
	fmt.Fprintln(&say, address)
	for i := range n {
		_, secret, err := h.CreateKey(ctx, tenant, engine.CreateKeyInput{Name: "page", User: fmt.Sprint("person", i), Roles: inboxRoles[i%len(inboxRoles)], Actor: holdshort.SystemActor("bench")})
		if err != nil {
			return nil, err
		}
		fmt.Fprintln(&say, secret)
	}
	ctx, cancel := context.WithCancel(ctx)
	from, to := io.Pipe()
	end := func() {}
	if o.Self != "" {
		cmd := exec.CommandContext(ctx, o.Self, "bench", "--watch", strconv.Itoa(n))
		cmd.Stdin, cmd.Stdout = strings.NewReader(say.String()), to
		if err := cmd.Start(); err != nil {
			cancel()
			return nil, err
		}
		end = func() { cmd.Wait() } // it was ended
	} else {
		go WatchInbox(ctx, n, strings.NewReader(say.String()), to)
	}
	opened := make(chan error, 1)
	var read sync.WaitGroup
	read.Go(func() {
		lines := bufio.NewScanner(from)
		for lines.Scan() {
			id, at, _ := strings.Cut(lines.Text(), " ")
			switch id {
			case "open":
				opened <- nil
			case "ended":
				select {
				case opened <- errors.New("a live page ended: " + at):
				default:
				}
			default:
				h.told(id, at)
			}
		}
	})
	stop = func() {
		cancel()
		end()
		to.Close()
		read.Wait()
	}
	select {
	case err = <-opened:
	case <-ctx.Done():
		err = ctx.Err()
	}
	if err != nil {
		stop()
		return nil, err
	}
	return stop, nil
}

// told notes how long it took until a page knew of a request. Later changes of it do not count.
func (h *inboxHall) told(id, at string) {
	nanos, err := strconv.ParseInt(at, 10, 64)
	if err != nil {
		return
	}
	h.seen.Lock()
	defer h.seen.Unlock()
	h.shown[id] = true
	if asked, ok := h.asked[id]; ok {
		h.late = append(h.late, max(0, time.Unix(0, nanos).Sub(asked)))
	} else {
		h.early[id]++
	}
}

// untilShown waits until the last request is on a page.
func (h *inboxHall) untilShown(ctx context.Context) error {
	for end := time.Now().Add(5 * time.Minute); time.Now().Before(end); {
		h.seen.Lock()
		shown := h.shown[h.last]
		h.seen.Unlock()
		if shown {
			return nil
		}
		if err := pause(ctx, 10*time.Millisecond); err != nil {
			return err
		}
	}
	return fmt.Errorf("request %s did not appear on any page", h.last)
}

func (h *inboxHall) take() []time.Duration {
	h.seen.Lock()
	defer h.seen.Unlock()
	late := h.late
	h.late = nil
	return late
}

func (h *inboxHall) ask(ctx context.Context) error {
	h.n++
	asked, err := h.Ask(ctx, tenant, engine.AskInput{Kind: holdshort.Clarification, Question: fmt.Sprintf("Which address is order %d to be sent to?", h.n), Audience: holdshort.Audience{Roles: inboxAudiences[h.n%len(inboxAudiences)]},
		ExpiresIn: time.Hour, Actor: holdshort.Actor{ID: "key:desk", Kind: holdshort.Service, Assurance: holdshort.AssuranceToken}})
	if err != nil {
		return err
	}
	h.seen.Lock()
	defer h.seen.Unlock()
	id := string(asked.Request.ID)
	h.asked[id], h.last = time.Now(), id
	h.late = append(h.late, make([]time.Duration, h.early[id])...)
	delete(h.early, id)
	h.open = append(h.open, asked.Request.ID)
	return nil
}

// answer decides the oldest that is open.
func (h *inboxHall) answer(ctx context.Context) error {
	h.seen.Lock()
	id := h.open[0]
	h.open = h.open[1:]
	delete(h.asked, string(id))
	h.seen.Unlock()
	_, err := h.Decide(ctx, tenant, engine.DecideInput{Request: id, Action: holdshort.Answer, Value: []byte(`"the old one"`),
		Actor: holdshort.Actor{ID: "boss", Kind: holdshort.Person, Roles: []string{"reviewer", "finance", "support", "night", "stock"}, Assurance: holdshort.AssuranceLogin}})
	return err
}

// busy lets so many events happen a second, as many questions as answers, and gives what the process took and how many there were.
func (h *inboxHall) busy(ctx context.Context, d time.Duration) (cores, events float64, err error) {
	for len(h.open) < 3*InboxRate { // what is answered has been seen for some seconds
		if err := h.ask(ctx); err != nil {
			return 0, 0, err
		}
	}
	if err := pause(ctx, time.Second); err != nil {
		return 0, 0, err
	}
	h.take()
	first, err := h.Position(ctx, tenant)
	if err != nil {
		return 0, 0, err
	}
	begin, used := time.Now(), processorTime()
	for i := 0; i == 0 || time.Since(begin) < d; i++ {
		if err := pause(ctx, time.Until(begin.Add(time.Duration(i)*time.Second/InboxRate))); err != nil {
			return 0, 0, err
		}
		do := h.ask
		if i%2 == 1 {
			do = h.answer
		}
		if err := do(ctx); err != nil {
			return 0, 0, err
		}
	}
	took, spent := time.Since(begin), processorTime()-used
	last, err := h.Position(ctx, tenant)
	if err != nil {
		return 0, 0, err
	}
	if err := pause(ctx, time.Second); err != nil { // most pages know of the last request by then
		return 0, 0, err
	}
	return spent.Seconds() / took.Seconds(), float64(last-first) / took.Seconds(), nil
}

// processorTime that this process has taken, 0 where the system does not say. Linux counts it in hundredths of a second.
func processorTime() time.Duration {
	raw, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		return 0
	}
	_, rest, _ := bytes.Cut(raw, []byte(") ")) // the name may have spaces in it
	fields := bytes.Fields(rest)
	if len(fields) < 13 {
		return 0
	}
	user, _ := strconv.ParseInt(string(fields[11]), 10, 64)
	system, _ := strconv.ParseInt(string(fields[12]), 10, 64)
	return time.Duration(user+system) * 10 * time.Millisecond
}
