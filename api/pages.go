package api

import (
	"reflect"

	"github.com/holdshort/holdshort"
)

// pageEndpoints are in the documentation, because answers lead there, and served by Options.Pages.
func (s *Server) pageEndpoints() []endpoint {
	row := func(method, summary string) endpoint {
		return endpoint{method: method, path: "/r/{request}", in: reflect.TypeFor[linkPath](), about: about{tag: "pages", summary: summary, open: true, media: "text/html"}}
	}
	return []endpoint{
		row("GET", "The page on which a person looks at a request. It never decides."),
		row("POST", "The form of that page."),
	}
}

type linkPath struct {
	Request holdshort.RequestID `path:"request"`
	Token   string              `query:"t"`
}
