package inbox

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/policy"
)

// TestVoteKeepsRow approves requests that need a second approval. They stay in the list, also when the stream has told
// the vote before its answer arrives: nothing puts a row back then.
func TestVoteKeepsRow(t *testing.T) {
	e := newViewEnv(t)
	two := func() holdshort.Request {
		audience := holdshort.Audience{Roles: []string{policy.Reviewer}, Quorum: 2}
		return e.ask(fmt.Sprintf("refund %d", e.count.Add(1)), audience, func(in *engine.AskInput) { in.Kind = holdshort.Approval })
	}
	first, second := two(), two()
	for i, req := range []holdshort.Request{first, second} {
		e.visits(req)
		e.run(`window.told = 0; document.addEventListener("hs:rows", () => told++); document.addEventListener("hs:decided", () => { window.done = true })`)
		held, release := e.hold(func(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, string(req.ID)+"/decide") })
		e.run(`document.querySelector("#card .approve").click()`)
		e.reach(held)
		e.tab.Wait(`told > 0`)
		release()
		e.tab.Wait(`window.done`)
		if i == 0 {
			e.tab.Wait(fmt.Sprintf(`document.querySelector("#card:not([aria-busy]) article[data-id='%s']")`, second.ID))
		}
		e.tab.Wait(fmt.Sprintf(`document.querySelector("#row-%s:not(.closed)")`, req.ID))
		e.agrees("")
	}
}
