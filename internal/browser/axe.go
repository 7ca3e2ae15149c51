package browser

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/holdshort/holdshort/internal/testnode"
)

var axe struct {
	sync.Mutex
	script string
}

// Axe gives the script that finds barriers. It is fetched once.
func axeScript(t *testing.T) string {
	axe.Lock()
	defer axe.Unlock()
	if axe.script == "" {
		raw, err := os.ReadFile(filepath.Join(testnode.Install(t, "axe-core@4.14.0"), "node_modules/axe-core/axe.min.js"))
		if err != nil {
			t.Fatal(err)
		}
		axe.script = string(raw)
	}
	return axe.script
}

// Barrier is something on a page that keeps some people out.
type Barrier struct {
	ID, Impact, Help string
	Nodes            []string
}

// Barriers looks for them by WCAG 2.2 AA and good practice: on the whole page, or in what a selector finds of it.
func (tab *Tab) Barriers(t *testing.T, within ...string) []Barrier {
	t.Helper()
	Eval[bool](tab, "if (typeof axe === 'undefined') {"+axeScript(t)+"\n} true")
	where := "document"
	if len(within) > 0 {
		where = fmt.Sprintf("%q", strings.Join(within, ","))
	}
	// What is found is named in a second look: to find names for everything takes longer than to look.
	return Eval[[]Barrier](tab, fmt.Sprintf(`(async () => {
		const rules = {resultTypes: ["violations"], preload: false, iframes: false, runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]};
		if (!(await axe.run(%[1]s, {...rules, selectors: false})).violations.length) return [];
		const found = (await axe.run(%[1]s, rules)).violations;
		return found.map(v => ({ID: v.id, Impact: v.impact, Help: v.help, Nodes: v.nodes.slice(0, 5).map(n => n.target.join(" ") + ": " + n.failureSummary.slice(0, 300))}));
	})()`, where))
}
