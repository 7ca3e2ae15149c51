package inbox

import (
	"fmt"
	"testing"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/internal/browser"
)

// A stream may tell rows of a position that the list has passed, because the list was loaded meanwhile. They are older than
// the list and must not change it.
func TestListIgnoresOlderRows(t *testing.T) {
	e := newViewEnv(t)
	older, newer := e.refund(), e.refund()
	e.reject(older)
	e.reject(newer)
	e.refund()
	opened, send := e.stream()
	e.tab.Open(e.url + "/")
	e.reach(opened)
	position := browser.Eval[int](e.tab, `+document.querySelector(".desk").dataset.position`)
	rows := func(req holdshort.Request, position int) string {
		row, err := drawRow(e.in.looks, req)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf("event: rows\ndata: {\"upsert\":[%s],\"gone\":[]}\n\nid: %d\n\n", row, position)
	}
	send <- fmt.Sprintf("event: hello\ndata: {\"now\":0,\"build\":%q,\"position\":%d,\"keep\":15000}\n\n", e.in.looks.build, position-2)
	send <- rows(older, position)
	send <- rows(newer, position+1)
	e.tab.Wait(fmt.Sprintf(`document.getElementById("row-%s")`, newer.ID))
	if browser.Eval[bool](e.tab, fmt.Sprintf(`Boolean(document.getElementById("row-%s"))`, older.ID)) {
		t.Error("the list shows a row that is older than the list")
	}
}
