package setup_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/holdshort/holdshort/config"
	"github.com/holdshort/holdshort/setup"
)

// The greatest value that the file takes for a size is the greatest that the tool takes: config refuses one more, with
// the number, and the tool accepts that number.
func TestSizesOfTools(t *testing.T) {
	for name, tt := range map[string]struct {
		text string
		most int
	}{
		"tools.t.http.max_answer":    {`tools: {t: {http: {url: "https://h.example.org", max_answer: %d}}}`, 1 << 20},
		"tools.t.command.max_output": {`tools: {t: {command: {command: [x], max_output: %d}}}`, 128 << 10},
		"tools.t.mcp.max_answer":     {`tools: {t: {mcp: {url: "https://h.example.org", max_answer: %d}}}`, 1 << 20},
	} {
		_, err := config.Parse("x.yaml", fmt.Appendf(nil, tt.text, tt.most+1), nil)
		if want := fmt.Sprintf("%s: %d is more than %d", name, tt.most+1, tt.most); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
		c, err := config.Parse("x.yaml", fmt.Appendf(nil, tt.text, tt.most), nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := setup.Build(t.Context(), c, setup.Options{Dir: t.TempDir(), Offline: true}); err != nil {
			t.Errorf("%d: %v", tt.most, err)
		}
	}
}
