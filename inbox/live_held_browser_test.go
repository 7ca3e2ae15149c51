package inbox

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/holdshort/holdshort"
)

// TestViewAnswersHeldBack holds answers of the server back, so that events overtake them. Whatever order they arrive in,
// the list ends with the rows of its query, and a card says how its request stands.
func TestViewAnswersHeldBack(t *testing.T) {
	e := newViewEnv(t)
	e.refund() // so that the inbox is not empty when the others are decided
	step := func(name string, act func()) {
		t.Log(name)
		act()
	}
	row := func(req holdshort.Request) string { return fmt.Sprintf(`document.getElementById("row-%s")`, req.ID) }
	remember := `window.was = document.getElementById("rows")`
	replaced := `document.getElementById("rows") !== window.was`

	step("another view", func() {
		one := e.refund()
		e.goes("inbox")
		reached, release := e.hold(forList("view=decided"))
		e.run(clickDecided)
		e.reach(reached)
		e.reject(one)
		e.tab.Wait("!" + row(one)) // the stream of the inbox has told it
		release()
		e.agrees("view=decided")
	})
	step("the same view again", func() {
		one := e.refund()
		e.goes("inbox")
		e.run(remember)
		reached, release := e.hold(forList(""))
		e.run(`document.dispatchEvent(new CustomEvent("hs:resync"))`)
		e.reach(reached)
		e.reject(one)
		e.tab.Wait("!" + row(one))
		two := e.refund()
		e.tab.Wait(row(two))
		release()
		e.tab.Wait(replaced)
		e.agrees("")
	})
	step("there and back", func() {
		one := e.refund()
		e.goes("inbox")
		e.goes("decided")
		reached, release := e.hold(forList(""))
		stream, open := e.hold(func(r *http.Request) bool { return r.URL.Path == "/live" && r.URL.Query().Get("view") == "" })
		e.run(`document.querySelector('.nav a[data-view="inbox"]').click()`)
		e.reach(reached)
		e.reject(one)
		e.tab.Wait(row(one)) // in the list of decided requests
		release()
		e.reach(stream)
		e.run(clickDecided) // while the inbox has no stream
		open()
		e.agrees("view=decided")
		e.goes("inbox")
	})
	step("a view that is no longer wanted", func() {
		e.refund()
		e.goes("inbox")
		e.run(remember)
		reached, release := e.hold(forList("view=decided"))
		e.run(clickDecided)
		e.reach(reached)
		e.run(`document.querySelector('.nav a[data-view="inbox"]').click()`)
		e.tab.Wait(replaced)
		release()
		e.tab.Wait(row(e.refund()))
		e.agrees("")
	})
	step("a view behind a list that becomes empty", func() {
		one := e.colour()
		e.goes("inbox")
		e.chips("clarification")
		e.run(clickQuestions)
		e.agrees("kind=clarification")
		reached, release := e.hold(forList("view=decided"))
		e.run(clickDecided)
		e.reach(reached)
		e.reject(one)
		e.tab.Wait("!" + row(one))
		release()
		e.agrees("view=decided")
	})
	step("a card", func() {
		one := e.refund()
		e.goes("inbox")
		reached, release := e.hold(func(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, string(one.ID)+"/card") })
		e.run(fmt.Sprintf(`document.querySelector("#row-%s a").click()`, one.ID))
		e.reach(reached)
		e.reject(one)
		e.tab.Wait(fmt.Sprintf(`document.querySelector("#row-%s.closed")`, one.ID))
		release()
		e.cardClosed(one)
	})
	step("the stream of a card", func() {
		one := e.refund()
		e.goes("inbox")
		reached, release := e.hold(func(r *http.Request) bool {
			return r.URL.Path == "/live" && r.URL.Query().Get("card") == string(one.ID)
		})
		e.opens(one)
		e.reach(reached)
		e.reject(one)
		e.cardClosed(one)
		release()
		e.goes("inbox")
	})
	step("more rows", func() {
		var last holdshort.Request
		for range rowsShown + 5 {
			last = e.refund()
		}
		e.goes("decided")
		e.goes("inbox")
		reached, release := e.hold(func(r *http.Request) bool { return r.URL.Query().Get("part") == "rows" })
		e.run(`document.querySelector("#rows li.more a").click()`)
		e.reach(reached)
		e.reject(last)
		later := e.refund()
		e.reject(e.refund())
		e.tab.Wait(fmt.Sprintf(`document.querySelector(".nav [data-count=all]").textContent === "%d"`, len(e.all(""))))
		release()
		e.tab.Wait(`!document.querySelector("#rows li.more")`)
		e.tab.Wait(row(later))
		e.agrees("")
	})
}
