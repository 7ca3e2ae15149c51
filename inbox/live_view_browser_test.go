package inbox

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
)

const (
	clickDecided   = `document.querySelector('.nav a[data-view="decided"]').click()`
	clickApprovals = `document.querySelector('.chip[href="/?kind=approval"]').click()`
	clickQuestions = `document.querySelector('.chip[href="/?kind=clarification"]').click()`
	searchRefund   = `const f = document.querySelector(".find"); f.elements.q.value = "refund"; f.requestSubmit()`
	goBack         = `if (!window.going && navigation.currentEntry.index > window.first) {
		const back = window.going = navigation.back(), over = () => { window.going = null };
		back.committed.then(over, over);
		back.finished.catch(() => {});
	}`
	sortNewest = `const s = document.querySelector("select[name=sort]"); s.value = "newest"; s.dispatchEvent(new Event("change", {bubbles: true}))`
)

// TestViewFollowsAtOnce changes the view in every way and decides, raises and answers requests at several moments
// after it. The new list must show all of it.
func TestViewFollowsAtOnce(t *testing.T) {
	e := newViewEnv(t)
	e.colour()
	e.refund()
	e.chips("clarification")
	e.chips("approval")
	for _, way := range []struct{ name, from, act, view string }{
		{"nav", "inbox", clickDecided, "view=decided"},
		{"chip", "inbox", clickApprovals, "kind=approval"},
		{"search", "inbox", searchRefund, "q=refund"},
		{"sort", "inbox", sortNewest, "sort=newest"},
		{"back", "decided", goBack, ""},
	} {
		for _, delay := range []time.Duration{0, 50 * time.Millisecond, 200 * time.Millisecond} {
			one, other := e.refund(), e.refund()
			e.goes("inbox")
			if way.from != "inbox" {
				e.goes(way.from)
			}
			e.after(way.act, delay)
			e.reject(one)
			e.refund()
			e.reject(e.colour())
			e.colour()
			e.agrees(way.view)
			if way.name == "search" {
				e.tab.Wait(fmt.Sprintf(`document.querySelector("#row-%s .state").textContent === "rejected"`, one.ID))
			}
			e.reject(other)
			e.agrees(way.view)
			if t.Failed() {
				t.Fatalf("%s, %s later", way.name, delay)
			}
		}
	}
}

// TestViewUnderTraffic changes the view and opens a card while rows arrive faster than a person reads. The list stays
// right, and the card says that its request was decided elsewhere while the traffic goes on.
func TestViewUnderTraffic(t *testing.T) {
	e := newViewEnv(t)
	for _, perSecond := range []int{7, 20} {
		asked := e.colour()
		e.goes("inbox")
		e.chips("clarification")
		stop := e.traffic(perSecond, func() { e.refund() })
		e.run(clickQuestions)
		e.tab.Wait(`document.querySelector(".desk").dataset.view === "kind=clarification"`)
		e.opens(asked)
		e.reject(asked)
		e.cardClosed(asked)
		another := e.colour()
		e.tab.Wait(fmt.Sprintf(`document.getElementById("row-%s")`, another.ID))
		e.opens(another)
		e.reject(another)
		e.cardClosed(another)
		stop()
		e.agrees("kind=clarification")
	}
}

// TestViewsAtRandom switches views and opens cards at random while requests are raised, assigned and decided at random.
// A list never holds a row that its query does not return, and every list ends complete.
func TestViewsAtRandom(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random, events := rand.New(rand.NewPCG(seed, 1)), rand.New(rand.NewPCG(seed, 2))
	e := newViewEnv(t)
	switches := []string{clickDecided, clickApprovals, clickQuestions, searchRefund, sortNewest, goBack, `history.forward()`,
		`document.querySelector('.nav a[data-view="inbox"]').click()`, `document.querySelector('.nav a[data-view="mine"]').click()`,
		`document.querySelector("#rows li.more a").click()`, `document.dispatchEvent(new CustomEvent("hs:resync"))`,
		`const all = document.querySelectorAll("#rows li.row a"); all[%d %% all.length].click()`}
	rounds := sampled([]int{40, 40, 40, 40, 40, 40, 40, 40}, 20, 20)
	var open []holdshort.Request
	for range 60 {
		open = append(open, e.refund())
	}
	happens := func() {
		switch at := events.IntN(len(open)); events.IntN(5) {
		case 0, 1:
			open = append(open, e.refund())
		case 2:
			open = append(open, e.colour())
		case 3:
			e.assign(open[at])
		default:
			e.reject(open[at])
			open = append(open[:at], open[at+1:]...)
		}
	}
	for _, steps := range rounds {
		for range steps {
			act := switches[random.IntN(len(switches))]
			if strings.Contains(act, "%") {
				act = fmt.Sprintf(act, random.IntN(1000))
			}
			var beside sync.WaitGroup
			beside.Go(func() { // so many for each step, however slow the page is
				for range events.IntN(4) {
					happens()
				}
			})
			e.after("try {"+act+"} catch {}", time.Duration(random.IntN(120))*time.Millisecond) // some links are not in every list
			beside.Wait()
		}
		for _, name := range []string{"decided", "mine", "inbox"} {
			e.goes(name)
		}
	}
}

// assign gives a request to ana or takes it from her.
func (e *viewEnv) assign(req holdshort.Request) {
	to := "ana"
	if e.stands(req).Assignee == to {
		to = ""
	}
	if _, err := e.engine.Assign(e.Context(), liveTenant, engine.AssignInput{Request: req.ID, Actor: e.ben, To: to}); err != nil {
		e.Error(err)
	}
}

func (e *viewEnv) stands(req holdshort.Request) holdshort.Request {
	now, err := e.engine.RequestByID(e.Context(), liveTenant, req.ID)
	if err != nil {
		e.Error(err)
	}
	return now
}

// TestLongListDrawsWhatIsSeen: rows outside the window cost no layout, so that a long list keeps up with what arrives.
func TestLongListDrawsWhatIsSeen(t *testing.T) {
	e := newViewEnv(t)
	for range 50 {
		e.refund()
	}
	e.goes("inbox")
	e.tab.Wait(`document.querySelectorAll("#rows li.row").length === 50`)
	drawn := `document.querySelector("#rows li.row:%s b").checkVisibility({contentVisibilityAuto: true})`
	e.tab.Wait(fmt.Sprintf(drawn, "first-child") + " && !" + fmt.Sprintf(drawn, "nth-child(50)"))
}
