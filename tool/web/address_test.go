package web

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/tool"
)

// urlOf fills the template of an address.
func urlOf(template string, args map[string]any) (*url.URL, error) {
	r, _, err := parseRequest("GET", template, nil, nil, nil, nil)
	if err != nil {
		return nil, err
	}
	raw, err := json.Marshal(args)
	if err != nil {
		return nil, err
	}
	out, err := r.make(context.Background(), tool.Call{Args: raw, OperationID: "op"})
	if err != nil {
		return nil, err
	}
	return out.URL, nil
}

func TestParseAddressRefuses(t *testing.T) {
	for _, text := range []string{"", "/orders", "ftp://a.example/", "//a.example", "https://", "https:///x", "{scheme}://a.example", "https://user:pass@a.example/", "https://{user}@a.example/",
		"https://a.example:{port}/", "https://{host}:{port}/", "https://a.example:x/", "https://{h}:/", "https://a.example/#top", "https://a.example/{x?}", "https://{x?}.example.com/",
		"https://a.example/../b", "https://a.example/./b", "https://a.example/%2e%2e/b", "https://a.example/..;a=1/b", "https://a.example/%zz", "https://a example/", "https://a.example/a b",
		"https://münchen.de/", "https://a.example/ä", "https://a.example/?{name}=1", "https://a.example/?=1", "https://a.example/?a=%zz", "https://a.{tld}/", "https://{a}.com/", "https://api.{x}.com/",
		"https://a.{x}", "{url?}", "{@run_id}", "https://a.example\\b/", "https://a.example/{", "https://[::1/", "https://[fe80::1%25eth0]x/", "https://-a.example/", "https://a..example/", "https://{a}..example.com/",
		"https://a.example/{a}?b={", "https://{a}_.example.com/", "https://a.example/\r\nX: y", "https://a%2eexample/", "https://a.example%00/"} {
		if _, err := parseAddress(text); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
}

func TestAddress(t *testing.T) {
	tests := []struct {
		template string
		args     map[string]any
		want     string
	}{
		{"https://a.example", nil, "https://a.example"},
		{"https://a.example:8443/orders/{order}", map[string]any{"order": "77"}, "https://a.example:8443/orders/77"},
		{"https://a.example/orders/{order}/", map[string]any{"order": 77}, "https://a.example/orders/77/"},
		{"HTTPS://a.example/x-{a}.{b}", map[string]any{"a": "1", "b": true}, "https://a.example/x-1.true"},
		{"https://a.example/{a}", map[string]any{"a": "a b?c=d#e&f"}, "https://a.example/a%20b%3Fc%3Dd%23e%26f"},
		{"https://a.example/{a}", map[string]any{"a": "100%"}, "https://a.example/100%25"},
		{"https://a.example/{a}", map[string]any{"a": "ä€"}, "https://a.example/%C3%A4%E2%82%AC"},
		{"https://a.example/{a}", map[string]any{"a": "a:b@c"}, "https://a.example/a%3Ab%40c"},
		{"https://a.example/a%2Fb/c%2Fd{x}", map[string]any{"x": "1"}, "https://a.example/a%2Fb/c%2Fd1"},
		{"https://a.example/v1:do", nil, "https://a.example/v1:do"},
		{"https://a.example/?q={q}&n={n?}", map[string]any{"q": "a&b=c#d %"}, "https://a.example/?q=a%26b%3Dc%23d+%25"},
		{"https://a.example?q=x%20{q}", map[string]any{"q": "y"}, "https://a.example?q=x%20y"},
		{"https://a.example/?id={ids}&z=1", map[string]any{"ids": []any{1, "b&", true}}, "https://a.example/?id=1&id=b%26&id=true&z=1"},
		{"https://a.example/?op={@operation_id}", nil, "https://a.example/?op=op"},
		{"https://{region}.api.example.com:8443/x", map[string]any{"region": "EU-1"}, "https://eu-1.api.example.com:8443/x"},
		{"https://eu-{n}.example.com/", map[string]any{"n": 1}, "https://eu-1.example.com/"},
		{"https://{host}/x", map[string]any{"host": "b.Example.org"}, "https://b.example.org/x"},
		{"https://{host}:99/x", map[string]any{"host": "2600::1"}, "https://[2600::1]:99/x"},
		{"{url}", map[string]any{"url": "https://b.example/a/../b?c=d#e"}, "https://b.example/a/../b?c=d"},
		{"{url}", map[string]any{"url": "http://8.8.8.8:8080/x"}, "http://8.8.8.8:8080/x"},
		{"http://127.0.0.1:80/{{x}}", nil, "http://127.0.0.1:80/%7Bx%7D"},
		{"http://db_1/x", nil, "http://db_1/x"},
		{"http://[::1]:80/{a}", map[string]any{"a": "b"}, "http://[::1]:80/b"},
	}
	for _, tt := range tests {
		u, err := urlOf(tt.template, tt.args)
		if err != nil || u.String() != tt.want {
			t.Errorf("%s of %v is %v, %v; want %s", tt.template, tt.args, u, err, tt.want)
		}
	}
}

// What could lead elsewhere is refused before anything is sent, and names the argument.
func TestAddressRefusesValues(t *testing.T) {
	tests := []struct {
		template string
		values   []any
	}{
		{"https://a.example/orders/{v}/lines", []any{"", ".", "..", "...", "/", "a/b", "../admin", `..\admin`, `a\b`, "%2e%2e", "%2E.", "%2f", "a%2Fb", "%5c", "%252f", "%25252e%25252e", "%zz%2f", "..;x=1", ".;", ".. ", " ..",
			"\x00", "a\r\nHost: b", "a\nb", "\x7f", "a%0d%0ab", "%00", "\u2028", nil, []any{}, map[string]any{}, strings.Repeat("%25", 1) + "25252f"}},
		{"https://a.example/.{v}", []any{".", "./x", ".;a"}},
		{"https://a.example/{v}?a=b", []any{"..", "x/.."}},
		{"https://a.example/x?a={v}", []any{nil, map[string]any{"a": 1}, []any{[]any{}}}},
		{"https://{v}.example.com/", []any{"", "a.b", "a/b", "a@b", "a:b", "evil.com/", "evil.com#", "evil.com?", "evil.com%2f", "ä", "ｅvil", "a\\", "a b", "-a", "a-", "a_b", "a\r\n", strings.Repeat("a", 64), "xn--", "[::1]", nil}},
		{"https://x{v}x.example.com/", []any{"a.evil", "@", "/", strings.Repeat("a", 62)}},
		{"https://{v}/", []any{"", "a b", "a/b", "user@evil.example", "evil.example:22", "[::1]", "münchen.de", "ｅvil.example", "127.0.0.1", "localhost", "::1", "10.1.2.3", "169.254.169.254", "fe80::1%eth0", "0.0.0.0", "a..b", ".", "evil。example", nil}},
		{"{v}", []any{"", "x", "/etc", "file:///etc/passwd", "gopher://a.example", "https://", "https://user@a.example", "https://user:p@a.example", "https://127.0.0.1/", "http://[::1]/", "http://localhost/", "http://[::ffff:10.0.0.1]/",
			"http://169.254.169.254/latest", "https://a.example:99:1/", "https://a.example:/", "https://a.example:x/", "https://mü.example/", "https://a example/", "https://a.example/\r\nX: y", "https:\\\\a.example", "https:a.example", "http://0x7f.1@a.example", "javascript:alert(1)", "https://a.example\t/", nil, 7}},
	}
	for _, tt := range tests {
		for _, value := range tt.values {
			u, err := urlOf(tt.template, map[string]any{"v": value})
			if err == nil {
				t.Errorf("%s takes %q: %s", tt.template, value, u)
				continue
			}
			if !(tool.Tool{}).IsDefinite(err) {
				t.Errorf("%s and %q: %v is no proof that nothing was sent", tt.template, value, err)
			}
			var f *tool.Fault
			if !errors.As(err, &f) && !errors.Is(err, holdshort.Forbidden) || f != nil && f.Field != "v" {
				t.Errorf("%s and %q: %v names no argument", tt.template, value, err)
			}
		}
	}
}

// hostile draws values that attackers draw.
func hostile() *rapid.Generator[string] {
	bits := rapid.SampledFrom([]string{"/", "\\", "..", ".", "%2f", "%2F", "%252f", "%2e", "%5c", "@", ":", "?", "#", "&", "=", ";", "\r\n", "\n", "\x00", " ", "+", "evil.example", "//evil.example/", "127.0.0.1", "[::1]",
		"ｅ", "。", "／", "％2f", "a", "7", "-", "_", "{v}", "{{", "}}", "\u202e", "ä", "%", "%%", "%u002f", "\u2044", "\ufeff"})
	return rapid.OneOf(rapid.String(), rapid.Map(rapid.SliceOfN(bits, 0, 8), func(s []string) string { return strings.Join(s, "") }))
}

// No value can change host, port, scheme, the number of segments, or the names and number of parameters.
func TestValuesOnlyFill(t *testing.T) {
	const template = "https://api.example.com:8443/v1/{a}/x-{b}/end?q={c}&fixed=1&r=pre{d}"
	rapid.Check(t, func(r *rapid.T) {
		args := map[string]any{}
		for _, name := range []string{"a", "b", "c", "d"} {
			args[name] = hostile().Draw(r, name)
		}
		u, err := urlOf(template, args)
		if err != nil {
			if !(tool.Tool{}).IsDefinite(err) {
				r.Fatalf("%v: %v is no proof", args, err)
			}
			return
		}
		again, err := url.Parse(u.String())
		if err != nil {
			r.Fatalf("%v: %v", args, err)
		}
		for _, u := range []*url.URL{u, again} {
			raw, plain := strings.Split(u.EscapedPath(), "/"), strings.Split(u.Path, "/")
			if u.Scheme != "https" || u.Host != "api.example.com:8443" || u.User != nil || u.Fragment != "" || len(raw) != 5 || len(plain) != 5 || plain[1] != "v1" || plain[4] != "end" ||
				plain[2] != args["a"] || plain[3] != "x-"+args["b"].(string) {
				r.Fatalf("%q became %s", args, u)
			}
			if cleaned := u.JoinPath(); cleaned.EscapedPath() != u.EscapedPath() {
				r.Fatalf("%q: a server that cleans paths sees %s", args, cleaned)
			}
			if twice, err := url.PathUnescape(u.Path); err == nil && strings.Count(twice, "/") != 4 {
				r.Fatalf("%q: a server that decodes twice sees %s", args, twice)
			}
			query, err := url.ParseQuery(u.RawQuery)
			if err != nil || len(query) != 3 || len(query["q"]) != 1 || query.Get("q") != args["c"] || query.Get("fixed") != "1" || query.Get("r") != "pre"+args["d"].(string) {
				r.Fatalf("%q: the query is %s", args, u.RawQuery)
			}
		}
	})
}

// A value in a host stays one label of it, and the rest of the host stays what it is.
func TestValuesInHosts(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		value := rapid.OneOf(hostile(), rapid.StringMatching(`[a-zA-Z0-9-]{0,70}`)).Draw(r, "value")
		u, err := urlOf("https://{v}.example.com:99/x", map[string]any{"v": value})
		if err != nil {
			return
		}
		if u.Host != strings.ToLower(value)+".example.com:99" || strings.Count(u.Host, ".") != 2 || u.User != nil || u.Path != "/x" {
			r.Fatalf("%q became %s", value, u)
		}
	})
}

func FuzzPathValue(f *testing.F) {
	for _, seed := range []string{"77", "..", "a/b", "%2e%2e%2f", "..;/", "\r\nHost: x", "％2f", "a?b#c"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		u, err := urlOf("http://a.example:80/one/{v}/two", map[string]any{"v": value})
		if err != nil {
			return
		}
		if parts := strings.Split(u.EscapedPath(), "/"); u.Host != "a.example:80" || len(parts) != 4 || parts[1] != "one" || parts[3] != "two" || parts[2] == "" || strings.Trim(parts[2], ".") == "" {
			t.Errorf("%q became %s", value, u)
		}
	})
}

func FuzzParseAddress(f *testing.F) {
	for _, seed := range []string{"https://a.example/{x}", "{url}", "https://{h}/", "https://{r}.example.com:1/a?b={c}", "https://a{", "https://{@args}/"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		a, err := parseAddress(text)
		if err != nil {
			return
		}
		for _, p := range a.places() {
			if p.Name == "" {
				t.Errorf("%q has a place without a name", text)
			}
		}
		_, _ = urlOf(text, map[string]any{"x": "y"})
	})
}
