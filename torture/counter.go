package torture

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// Effect is what the world saw of one operation.
type Effect struct {
	Operation string   `json:"operation"`
	Tool      string   `json:"tool"`
	Calls     int      `json:"calls"`             // that arrived
	Count     int      `json:"count"`             // that took effect
	Args      [][]byte `json:"args,omitempty"`    // of each that took effect, byte for byte
	Overdue   int      `json:"overdue,omitempty"` // arrived after their own deadline
	Fenced    int      `json:"fenced,omitempty"`  // came from an attempt that somebody had been told did not happen
	Settled   int      `json:"settled,omitempty"` // attempts up to this one can no longer take effect
}

// Mark is one execution of a step: which process did it, and when that pass over the flow had begun.
type Mark struct {
	Token string    `json:"token"`
	Node  string    `json:"node"`
	Began time.Time `json:"began"`
}

// Seen is everything that the world saw.
type Seen struct {
	Effects map[string]*Effect        `json:"effects"` // by operation
	Marks   map[string][]Mark         `json:"marks"`   // by run and step
	Said    map[string]map[string]int `json:"said"`    // by run: how often each message arrived, by its key
}

// counter is the world outside: a process that nobody kills, so that what happened is known whoever dies.
type counter struct {
	address string // where it answers, if that is in this process
	mu      sync.Mutex
	seen    Seen
}

func newCounter() *counter {
	return &counter{seen: Seen{Effects: map[string]*Effect{}, Marks: map[string][]Mark{}, Said: map[string]map[string]int{}}}
}

// copy gives what was seen until now.
func (c *counter) copy() Seen {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := Seen{Effects: map[string]*Effect{}}
	for id, e := range c.seen.Effects {
		own := *e
		out.Effects[id] = &own
	}
	return out
}

// Ways in which the world can behave. What a call names happens to its first attempt; later ones are answered.
const (
	worldFine   = "fine"
	worldSlow   = "slow"   // takes a while before it takes effect
	worldDrop   = "drop"   // takes effect, and the connection breaks
	worldHang   = "hang"   // takes effect, and answers after the caller has given up
	worldLost   = "lost"   // does not take effect, and the connection breaks
	worldRefuse = "refuse" // definitely not
)

const (
	slowness = 150 * time.Millisecond
	hanging  = workerTimeout + 400*time.Millisecond
	overdue  = 250 * time.Millisecond // more than a machine under load needs from the check of a deadline to the call
)

// RunCounter serves the world on a loopback address until ctx ends or its parent does.
func RunCounter(ctx context.Context, in io.Reader, out io.Writer) error {
	ctx, _, err := attend(ctx, in)
	if err != nil {
		return err
	}
	return serve(ctx, newCounter().handler(), nil, out, nil)
}

func (c *counter) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /effect", c.effect)
	mux.HandleFunc("POST /settle", c.settle)
	mux.HandleFunc("POST /mark", c.mark)
	mux.HandleFunc("POST /deliver", c.deliver)
	mux.HandleFunc("GET /seen", func(w http.ResponseWriter, r *http.Request) {
		c.mu.Lock()
		defer c.mu.Unlock()
		_ = json.NewEncoder(w).Encode(c.seen) // a parent that went away asks no more
	})
	return mux
}

// at finds the record of an operation. The caller has the lock.
func (c *counter) at(operation string) *Effect {
	e := c.seen.Effects[operation]
	if e == nil {
		e = &Effect{Operation: operation}
		c.seen.Effects[operation] = e
	}
	return e
}

// effect is one call of a tool.
func (c *counter) effect(w http.ResponseWriter, r *http.Request) {
	args, err := io.ReadAll(r.Body)
	if err != nil { // the caller died while it spoke
		return
	}
	q := r.URL.Query()
	attempt, _ := strconv.Atoi(q.Get("attempt"))
	deadline, _ := strconv.ParseInt(q.Get("deadline"), 10, 64)
	var how struct {
		World string `json:"world"`
	}
	_ = json.Unmarshal(args, &how)
	c.mu.Lock()
	e := c.at(q.Get("operation"))
	e.Tool = q.Get("tool")
	e.Calls++
	first := e.Calls == 1
	if deadline > 0 && time.Since(time.UnixMicro(deadline)) > overdue {
		e.Overdue++
	}
	c.mu.Unlock()
	if first {
		switch how.World {
		case worldRefuse:
			http.Error(w, "refused", http.StatusUnprocessableEntity)
			return
		case worldLost:
			hangUp(w)
			return
		case worldSlow:
			linger(context.Background(), slowness)
		}
	}
	count, ok := c.happen(e, args, attempt, q.Get("once") != "")
	if !ok {
		http.Error(w, "somebody was told that this did not happen", http.StatusGone)
		return
	}
	if first {
		switch how.World {
		case worldDrop:
			hangUp(w)
			return
		case worldHang:
			linger(r.Context(), hanging)
		}
	}
	_ = json.NewEncoder(w).Encode(map[string]string{"receipt": q.Get("operation") + " " + strconv.Itoa(count)})
}

// happen is the moment at which the world changes.
func (c *counter) happen(e *Effect, args []byte, attempt int, once bool) (count int, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if attempt <= e.Settled {
		e.Fenced++
		return 0, false
	}
	if !once || e.Count == 0 {
		e.Count++
		e.Args = append(e.Args, args)
	}
	return e.Count, true
}

// settle says what became of an operation. Whoever is told that it did not happen can rely on that: attempts up to the one that was asked
// about can no longer take effect.
func (c *counter) settle(w http.ResponseWriter, r *http.Request) {
	attempt, _ := strconv.Atoi(r.URL.Query().Get("attempt"))
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.at(r.URL.Query().Get("operation"))
	if e.Count == 0 {
		e.Settled = max(e.Settled, attempt)
	}
	_ = json.NewEncoder(w).Encode(e)
}

func (c *counter) mark(w http.ResponseWriter, r *http.Request) {
	var m Mark
	if json.NewDecoder(r.Body).Decode(&m) != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	at := r.URL.Query().Get("at")
	c.seen.Marks[at] = append(c.seen.Marks[at], m)
}

func (c *counter) deliver(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	run := r.URL.Query().Get("run")
	if c.seen.Said[run] == nil {
		c.seen.Said[run] = map[string]int{}
	}
	c.seen.Said[run][r.URL.Query().Get("key")]++
}

// hangUp breaks the connection without an answer.
func hangUp(w http.ResponseWriter) {
	if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
		conn.Close()
	}
}

func linger(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
