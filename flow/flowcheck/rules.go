package flowcheck

import (
	"slices"
	"strings"
)

const flowPath = "github.com/holdshort/holdshort/flow"

// rule is about one package, or with a "/" at its end about all below a path.
type rule struct {
	path    string
	names   []string // none: everything in it
	message string
	hint    string
}

var rules = []rule{
	{"time", []string{"Now", "Since", "Until"}, "reads the clock, which a replay finds at another time", "use flow.Now, or a flow.Step"},
	{"time", []string{"Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker"}, "waits in memory, which no restart survives", "use flow.Sleep, or a timeout of the effect"},
	{"context", []string{"WithTimeout", "WithTimeoutCause", "WithDeadline", "WithDeadlineCause", "AfterFunc"}, "waits by the clock of this process", "set the time limit inside a flow.Step"},
	{"math/rand", nil, "gives another number on every replay", "use flow.Random, or a flow.Step"},
	{"math/rand/v2", nil, "gives another number on every replay", "use flow.Random, or a flow.Step"},
	{"crypto/rand", nil, "gives another number on every replay", "use a flow.Step, and keep secrets out of its outcome"},
	{"sync", nil, "orders goroutines, which a flow has none of", "use flow.All or flow.Each, and the results that they give"},
	{"sync/", nil, "shares memory, which no replay brings back", "use flow.All or flow.Each, and the results that they give"},
	{"os", nil, "reaches the machine, which differs from node to node", "put it into a flow.Step"},
	{"os/", nil, "reaches the machine, which differs from node to node", "put it into a flow.Step"},
	{"io/ioutil", nil, "reads or writes files", "put it into a flow.Step"},
	{"path/filepath", []string{"Abs", "EvalSymlinks", "Glob", "Walk", "WalkDir"}, "reads the file system", "put it into a flow.Step"},
	{"syscall", nil, "reaches the machine, which differs from node to node", "put it into a flow.Step"},
	{"net", nil, "uses the network", "put it into a flow.Step, or into a tool and flow.Call"},
	{"net/", nil, "uses the network", "put it into a flow.Step, or into a tool and flow.Call"},
	{"database/sql", nil, "uses a database", "put it into a flow.Step, or into a tool and flow.Call"},
}

// harmless are packages below a banned path that compute only.
var harmless = []string{"net/url", "net/netip", "net/mail", "net/textproto"}

// forbidden finds the rule against a name of a package. Names of errors, statuses and methods are constants in all but syntax.
func forbidden(imported, name string) (rule, bool) {
	if slices.Contains(harmless, imported) || strings.HasPrefix(name, "Err") || imported == "net/http" && (strings.HasPrefix(name, "Status") || strings.HasPrefix(name, "Method")) {
		return rule{}, false
	}
	for _, r := range rules {
		below := strings.HasSuffix(r.path, "/") && strings.HasPrefix(imported, r.path)
		if (below || imported == r.path) && (len(r.names) == 0 || slices.Contains(r.names, name)) {
			return r, true
		}
	}
	return rule{}, false
}
