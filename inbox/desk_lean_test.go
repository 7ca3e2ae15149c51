package inbox

import "testing"

func TestLean(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"a.js", "// why\nconst a = 1; // gone\nconst c = \"x // y\"; // a 'quote' keeps it\n\n  if (a) {\n    b(\"//x\");\n  }\n", "const a = 1;\nconst c = \"x // y\"; // a 'quote' keeps it\nif (a) {\nb(\"//x\");\n}\n"},
		{"a.js", "const t = `a\n  // b\n\n  c`;\n  d();\n", "const t = `a\n  // b\n\n  c`;\nd();\n"},
		{"a.js", "const t = `one line`;\n  // gone\n", "const t = `one line`;\n"},
		{"a.min.js", "// kept\n  x\n", "// kept\n  x\n"},
		{"a.css", "/* why\n more */\n.a{b:c}/* x */.d{e:f}\n", ".a{b:c}.d{e:f}"},
		{"a.svg", "  <!-- kept -->", "  <!-- kept -->"},
	} {
		if got := string(lean(tt.name, []byte(tt.in))); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}
