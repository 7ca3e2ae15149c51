package inbox

import (
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
	"time"

	"github.com/holdshort/holdshort/internal/browser"
)

func TestZZLook(t *testing.T) {
	b := newRulesBed(t)
	began := time.Now()
	b.live(150)
	t.Log(time.Since(began), b.kit.Now(), time.Now())
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Header.Set("X-Test-Who", "adm")
		b.in.ServeHTTP(w, r)
	}))
	defer front.Close()
	br := browser.Start(t)
	defer browser.Stop()
	for name, look := range map[string]browser.Look{"light": {Width: 1440, Height: 2000}, "dark": {Dark: true, Width: 1440, Height: 2000}, "phone": {Width: 390, Height: 2400}, "rtl": {Language: "he", Width: 1440, Height: 2000}} {
		tab := br.Tab(t, look)
		for _, page := range []string{"overview?period=30d", "overview?period=24h", "policy?rule=big"} {
			tab.Open(front.URL + "/" + page)
			os.MkdirAll("/tmp/plan/h/rshots", 0o755)
			tab.Shot("/tmp/plan/h/rshots/" + name + "-" + page[:6] + page[len(page)-3:] + ".png")
			if name == "light" {
				t.Logf("%s: %+v", page, tab.Barriers(t))
			}
		}
	}
}
