package browser

import (
	"os"
	"path/filepath"
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

// Barriers looks for them by WCAG 2.2 AA and good practice.
func (tab *Tab) Barriers(t *testing.T) []Barrier {
	t.Helper()
	Eval[bool](tab, axeScript(t)+";true")
	return Eval[[]Barrier](tab, `axe.run(document, {resultTypes: ["violations"], runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}).then(r => r.violations.map(v => ({ID: v.id, Impact: v.impact, Help: v.help, Nodes: v.nodes.slice(0, 5).map(n => n.target.join(" ") + ": " + n.failureSummary.slice(0, 300))})))`)
}
