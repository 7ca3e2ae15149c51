package archtest

import (
	"path"
	"strings"
)

// Layer is what one package may import besides the standard library.
type Layer struct {
	Dir     string   // folder of the package; "x/*" is every folder directly in x that has no row of its own
	Imports []string // folders of this module; "x/*" as above, "..." any but cmd
	Modules []string // other people's modules, by path prefix; test files may import any
	Tests   []string // folders that only its test files may import too
	Pure    bool     // no clock, no I/O, no goroutines
}

// Layers is the picture of docs/architecture.md as a table, in the order in which a request travels. A package calls into the lines
// below its own; none goes back up; packages on one line do not know each other, and cmd/holdshort wires them.
var Layers = []Layer{
	// 1: main
	{Dir: "cmd/holdshort", Imports: []string{"..."}, Modules: []string{"github.com/alecthomas/kong", "charm.land", "golang.org/x/term"}, Tests: []string{"internal/testpg"}},
	{Dir: "demo", Imports: []string{".", "agent", "client", "config", "engine", "flow", "model", "model/script", "policy", "policy/rulebook", "setup", "tool"}, Tests: append([]string{"store", "store/sqlite"}, bed...)},
	{Dir: "setup", Imports: []string{".", "agent", "config", "engine", "flow", "model", "model/*", "policy", "policy/rulebook", "tool", "tool/*"}, Tests: append([]string{"store", "store/sqlite", "api", "client", "identity"}, bed...)},
	{Dir: "config", Imports: []string{".", "policy", "policy/rulebook", "internal/schema"}, Modules: []string{"github.com/goccy/go-yaml", "github.com/google/jsonschema-go"}},
	{Dir: "telemetry", Imports: []string{".", "engine"}, Modules: []string{"go.opentelemetry.io/otel"}, Tests: append([]string{"flow", "store", "policy", "store/sqlite", "tool"}, bed...)},

	// 2: in and out: decode, one call below, encode. They see the kernel, never the store.
	{Dir: "api", Imports: []string{".", "reply", "engine", "flow", "policy", "identity", "agent", "chat", "internal/schema", "internal/apart", "internal/network", "internal/pace", "internal/status"}, Modules: []string{"github.com/google/jsonschema-go"}, Tests: append([]string{"store", "store/sqlite", "tool", "model", "model/script", "internal/testnode"}, bed...)},
	{Dir: "inbox", Imports: []string{".", "reply", "engine", "flow", "policy", "policy/rulebook", "policy/replay", "identity", "agent", "chat", "tool", "internal/schema", "internal/apart", "internal/network", "internal/pace", "internal/status"}, Modules: []string{"github.com/google/jsonschema-go"}, Tests: append([]string{"api", "client", "model", "model/script", "setup", "config", "store/sqlite", "internal/testnode", "internal/browser", "demo"}, bed...)},
	{Dir: "channel", Imports: []string{"."}},
	{Dir: "channel/*", Imports: []string{".", "reply", "engine", "chat", "channel", "internal/network"}, Tests: append([]string{"store", "store/sqlite", "internal/testnode"}, bed...)},

	// 3: who is it; one inbound message; the model-and-tools loop
	{Dir: "identity", Imports: []string{".", "engine", "policy"}, Modules: []string{"github.com/coreos/go-oidc/v3", "golang.org/x/oauth2", "github.com/go-jose/go-jose/v4", "golang.org/x/time/rate"},
		Tests: append([]string{"store", "store/sqlite"}, bed...)},
	{Dir: "history", Imports: []string{"."}},
	{Dir: "chat", Imports: []string{".", "reply", "engine", "flow", "policy"}, Tests: bed},
	{Dir: "agent", Imports: []string{".", "reply", "flow", "model", "tool", "repair", "internal/schema"}, Tests: append([]string{"engine", "policy", "model/script", "store/sqlite"}, bed...)},

	// 4: the kernel, and what its users write
	{Dir: "engine", Imports: []string{".", "reply", "flow", "policy", "tool", "store", "internal/schema", "internal/apart"}, Tests: append([]string{"store/sqlite", "store/postgres"}, bed...)},
	{Dir: "flow", Imports: []string{"."}, Tests: append([]string{"policy", "tool"}, bed...)},
	{Dir: "flow/flowcheck"},
	{Dir: "policy", Imports: []string{"."}},
	{Dir: "policy/replay", Imports: []string{".", "flow", "model", "policy", "policy/rulebook", "store", "tool"}, Tests: append([]string{"agent", "engine", "store/sqlite"}, bed...)},
	{Dir: "policy/rulebook", Imports: []string{".", "policy"}, Modules: []string{"cel.dev/cel-go", "cel.dev/expr", "google.golang.org/protobuf"}, Tests: append([]string{"engine", "flow", "tool"}, bed...)},
	{Dir: "repair", Imports: []string{".", "reply", "tool", "internal/schema"}, Tests: []string{"internal/testall"}, Pure: true},

	// 5: the nouns; reading a reply; checking JSON
	{Dir: ".", Pure: true},
	{Dir: "reply", Imports: []string{"reply/internal/*"}, Modules: []string{"golang.org/x/text"}, Tests: []string{"internal/testall"}, Pure: true},
	{Dir: "reply/internal/*", Imports: []string{"reply/internal/*"}, Modules: []string{"golang.org/x/text"}},
	{Dir: "internal/apart"},
	{Dir: "internal/network"},
	{Dir: "internal/status", Imports: []string{"."}},
	{Dir: "internal/pace", Modules: []string{"golang.org/x/time/rate"}},
	{Dir: "internal/schema", Imports: []string{"."}, Modules: []string{"github.com/google/jsonschema-go"}},

	// 6: the database
	{Dir: "store", Imports: []string{"."}},
	{Dir: "store/internal/words", Modules: []string{"golang.org/x/text"}, Pure: true},
	{Dir: "store/internal/*", Imports: []string{".", "store", "store/internal/*"}},
	{Dir: "store/sqlite", Imports: []string{".", "store", "store/internal/*"}, Modules: []string{"modernc.org/sqlite", "modernc.org/libc"}, Tests: []string{"store/storetest"}},
	{Dir: "store/postgres", Imports: []string{".", "store", "store/internal/*"}, Modules: []string{"github.com/jackc/pgx/v5"},
		Tests: []string{"store/storetest", "internal/testpg"}},
	{Dir: "store/storetest", Imports: []string{".", "store", "store/internal/*", "internal/testall"}, Tests: []string{"store/sqlite", "store/postgres", "internal/testpg"}},

	// Language models and tools: the contract, then one folder for each
	{Dir: "model", Imports: []string{"."}},
	{Dir: "model/*", Imports: []string{".", "model", "model/internal/*"}},
	{Dir: "model/internal/*", Imports: []string{".", "model", "model/internal/*"}},
	{Dir: "tool", Imports: []string{".", "internal/schema"}, Modules: []string{"github.com/google/jsonschema-go"}, Tests: append([]string{"flow", "policy"}, bed...)},
	{Dir: "tool/*", Imports: []string{".", "tool", "tool/internal/*", "internal/apart"}, Tests: append([]string{"engine", "flow", "policy"}, bed...)},
	{Dir: "tool/internal/*", Imports: []string{".", "tool", "tool/internal/*", "internal/apart", "internal/network"}},
	{Dir: "tool/mcp", Imports: []string{".", "tool", "tool/internal/*", "internal/apart"}, Modules: []string{"github.com/modelcontextprotocol/go-sdk"}, Tests: append([]string{"engine", "flow", "policy"}, bed...)},

	// For programs around it, and the proof
	{Dir: "client", Imports: []string{"."}, Tests: append([]string{"api", "engine", "flow", "identity", "policy", "store/sqlite", "tool"}, bed...)},
	{Dir: "examples/gate", Tests: append([]string{".", "api", "client", "engine", "flow", "identity", "policy", "store/sqlite", "tool"}, bed...)},
	{Dir: "examples/*", Imports: []string{".", "client"}, Tests: append([]string{"api", "engine", "flow", "identity", "policy", "store/sqlite", "tool"}, bed...)},
	{Dir: "examples/agent", Imports: []string{".", "agent", "engine", "flow", "model", "model/script", "policy", "policy/rulebook", "store/sqlite", "tool"}, Tests: append([]string{"api", "client", "config", "setup", "identity"}, bed...)},
	{Dir: "examples/gate/*", Imports: []string{"."}},
	{Dir: "holdshorttest", Imports: []string{".", "reply", "engine", "flow", "flow/flowcheck", "policy", "agent", "chat", "model", "tool", "store", "store/sqlite"}},
	{Dir: "torture", Imports: []string{"..."}, Tests: []string{"internal/testall", "internal/testpg"}},
	{Dir: "bench", Imports: []string{"..."}, Modules: []string{"modernc.org/sqlite", "github.com/jackc/pgx/v5"}, Tests: []string{"internal/testpg"}},

	// Only tests import these
	{Dir: "internal/archtest"},
	{Dir: "internal/readme", Tests: append([]string{"api", "client", "engine", "flow", "identity", "policy", "store", "store/sqlite", "tool"}, bed...)},
	{Dir: "internal/testnode"},
	{Dir: "internal/testreport"},
	{Dir: "internal/browser", Imports: []string{"internal/testnode"}, Modules: []string{"github.com/chromedp"}},
	{Dir: "internal/testall"},
	{Dir: "internal/testpg", Modules: []string{"github.com/jackc/pgx/v5"}},
}

// bed is what tests above the kernel build on: a whole engine, or a real database.
var bed = []string{"holdshorttest", "internal/testpg", "internal/testall"}

// testsOnly are packages that no shipped package imports, whatever its row says.
var testsOnly = []string{
	"internal/archtest", "internal/browser", "internal/testall", "internal/testnode", "internal/testreport",
	"model/internal/wiretest", "internal/testpg", "holdshorttest", "store/storetest",
}

// layer finds the row of a folder: its own, else that of its pattern.
func layer(layers []Layer, dir string) (Layer, bool) {
	var found Layer
	ok := false
	for _, l := range layers {
		if l.Dir == dir {
			return l, true
		}
		if matches(l.Dir, dir) {
			found, ok = l, true
		}
	}
	return found, ok
}

func matches(pattern, dir string) bool {
	if pattern == "..." {
		return dir != "cmd" && !strings.HasPrefix(dir, "cmd/")
	}
	if parent, isPattern := strings.CutSuffix(pattern, "/*"); isPattern {
		return path.Dir(dir) == parent
	}
	return pattern == dir
}
