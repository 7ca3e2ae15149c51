package inbox

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"html/template"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strings"
	"sync"
)

//go:embed templates
var templateFiles embed.FS

//go:embed assets
var assetFiles embed.FS

// looks is how pages look: templates, and the files that they load. All of it is in the binary.
type looks struct {
	parts  *template.Template            // what several pages share
	pages  map[string]*template.Template // by name: parts, and the page's own "main"
	build  string                        // names this set of files: a browser keeps them for ever, and asks for others after an upgrade
	assets map[string]asset
}

type asset struct {
	kind    string
	plain   []byte
	smaller []byte // gzip
}

// newLooks returns a copy of the parsed templates and compressed assets. They are the same in every Inbox of a process, and parsing
// them takes longer than everything else that New does.
func newLooks() (*looks, error) {
	shared, err := parsedLooks()
	if err != nil {
		return nil, err
	}
	l := *shared
	return &l, nil
}

var parsedLooks = sync.OnceValues(parseLooks)

func parseLooks() (*looks, error) {
	l := &looks{pages: map[string]*template.Template{}, assets: map[string]asset{}}
	if err := l.readAssets(); err != nil {
		return nil, err
	}
	var err error
	if l.parts, err = template.New("").Funcs(l.functions()).ParseFS(templateFiles, "templates/*.html", "templates/parts/*.html"); err != nil {
		return nil, fmt.Errorf("read templates: %w", err)
	}
	names, err := fs.Glob(templateFiles, "templates/pages/*.html")
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		page, err := l.parts.Clone()
		if err == nil {
			_, err = page.ParseFS(templateFiles, name)
		}
		if err != nil {
			return nil, fmt.Errorf("read template %s: %w", name, err)
		}
		l.pages[strings.TrimSuffix(path.Base(name), ".html")] = page
	}
	return l, nil
}

func (l *looks) readAssets() error {
	files, err := assetFiles.ReadDir("assets")
	if err != nil {
		return err
	}
	sum := sha256.New()
	for _, f := range files {
		raw, err := assetFiles.ReadFile("assets/" + f.Name())
		if err != nil {
			return err
		}
		raw = lean(f.Name(), raw)
		fmt.Fprintf(sum, "%s %d\n", f.Name(), len(raw))
		sum.Write(raw)
		l.assets[f.Name()] = asset{kind: kindOf(f.Name()), plain: raw, smaller: compressed(raw)}
	}
	l.build = hex.EncodeToString(sum.Sum(nil))[:12]
	return nil
}

func kindOf(name string) string {
	switch path.Ext(name) { // not from the machine's own table, which differs
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".css":
		return "text/css; charset=utf-8"
	case ".svg":
		return "image/svg+xml"
	}
	return mime.TypeByExtension(path.Ext(name))
}

var writers = sync.Pool{New: func() any { return gzip.NewWriter(nil) }}

func compressed(raw []byte) []byte {
	var b bytes.Buffer
	w := writers.Get().(*gzip.Writer)
	defer writers.Put(w)
	w.Reset(&b)
	w.Write(raw)
	w.Close() // a buffer takes everything
	return b.Bytes()
}

// url is where a file of the pages is.
func (l *looks) url(name string) string { return "/assets/" + l.build + "/" + name }

func (l *looks) serveAsset(w http.ResponseWriter, r *http.Request) {
	a, ok := l.assets[r.PathValue("name")]
	if !ok {
		http.NotFound(w, r)
		return
	}
	h := w.Header()
	h.Set("Content-Type", a.kind)
	h.Set("Vary", "Accept-Encoding")
	h.Set("Cache-Control", "no-cache")
	if r.PathValue("build") == l.build {
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	body := a.plain
	if takesGzip(r) && len(a.smaller) < len(body) {
		h.Set("Content-Encoding", "gzip")
		body = a.smaller
	}
	w.Write(body) // whoever does not listen any more cannot be told
}

func takesGzip(r *http.Request) bool {
	for kind := range strings.SplitSeq(r.Header.Get("Accept-Encoding"), ",") {
		if name, weight, _ := strings.Cut(strings.TrimSpace(kind), ";"); name == "gzip" && strings.TrimSpace(weight) != "q=0" {
			return true
		}
	}
	return false
}
