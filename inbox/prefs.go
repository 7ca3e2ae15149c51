package inbox

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// prefs are how somebody likes the pages. They are kept in a cookie of their browser: nothing depends on them but the look.
type prefs struct {
	Theme string // "", light or dark
	Dir   string // "ltr" or "rtl"
	Lang  string
	Calm  bool // no undo window: decisions are sent at once
	Set   string
}

const prefsCookie = "holdshort_look"

// rightToLeft are the languages whose readers expect a page the other way round.
var rightToLeft = []string{"ar", "dv", "fa", "he", "iw", "ku", "ps", "sd", "ug", "ur", "yi"}

func prefsOf(r *http.Request) prefs {
	p := prefs{Dir: "ltr", Lang: "en"}
	set := url.Values{}
	if c, err := r.Cookie(prefsCookie); err == nil {
		set, _ = url.ParseQuery(c.Value) // what somebody wrote into their own cookie is checked below
	}
	if theme := set.Get("theme"); theme == "light" || theme == "dark" {
		p.Theme = theme
	}
	p.Calm = set.Get("undo") == "no"
	first, _, _ := strings.Cut(r.Header.Get("Accept-Language"), ",")
	language, _, _ := strings.Cut(strings.ToLower(strings.TrimSpace(first)), "-")
	if slices.Contains(rightToLeft, language) {
		p.Dir = "rtl"
	}
	if dir := set.Get("dir"); dir == "ltr" || dir == "rtl" {
		p.Dir, p.Set = dir, dir
	}
	return p
}
