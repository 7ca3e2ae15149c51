package inbox

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/holdshort/holdshort/internal/browser"
)

// TestChipsAnswersHeldBack holds the answers back with which the filters of a list are drawn again. One that a newer answer
// overtook changes nothing, nor does one that ends after another view was loaded.
func TestChipsAnswersHeldBack(t *testing.T) {
	e := newViewEnv(t)
	e.reject(e.refund())
	e.refund()
	e.goes("inbox")
	e.chips("approval")
	questions := func(n int) string {
		return fmt.Sprintf(`document.querySelector(".chips [data-count='kinds.clarification']")?.textContent === "%d"`, n)
	}
	// slow begins the answer to the next load of the inbox, and ends it when the returned function is called.
	slow := func() (begun <-chan struct{}, end func()) {
		began, free, sent := make(chan struct{}), make(chan struct{}), make(chan struct{})
		e.expect(forList(""), func(w http.ResponseWriter, r *http.Request) {
			page := httptest.NewRecorder()
			e.http.Config.Handler.ServeHTTP(page, r)
			maps.Copy(w.Header(), page.Header())
			w.Header().Set("Content-Length", strconv.Itoa(page.Body.Len()))
			w.WriteHeader(http.StatusOK)
			http.NewResponseController(w).Flush()
			close(began)
			<-free
			w.Write(page.Body.Bytes())
			http.NewResponseController(w).Flush()
			close(sent)
		})
		return began, func() {
			t.Helper()
			close(free)
			e.reach(sent)
			browser.Eval[bool](e.tab, `fetch("/help").then(a => a.text()).then(() => true)`) // the page has read what was sent before
		}
	}
	begun, end := slow() // there is a new kind
	e.colour()
	e.reach(begun)
	e.colour()
	e.tab.Wait(questions(2))
	end()
	if !browser.Eval[bool](e.tab, questions(2)) {
		t.Error("an older answer replaced the filters")
	}

	begun, end = slow()
	e.run(`document.querySelector(".chips [data-count='kinds.clarification']").remove()`) // so that they are drawn again
	e.colour()
	e.reach(begun)
	e.goes("decided")
	end()
	if chips := browser.Eval[string](e.tab, `document.querySelector(".chips").textContent`); !strings.Contains(chips, "Rejected") {
		t.Errorf("the filters of the decided view are %s", chips)
	}
}
