package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

type completionCommand struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

func (completionCommand) Help() string {
	return `Prints a script that completes commands and flags.

Examples:

    holdshort completion bash > /etc/bash_completion.d/holdshort
    holdshort completion zsh > ~/.zfunc/_holdshort
    holdshort completion fish > ~/.config/fish/completions/holdshort.fish`
}

// words are what can follow a command: its commands, and its flags.
type words struct {
	path     string // "", "runs", "runs show"
	commands []*kong.Node
	flags    []string
}

func (c *completionCommand) Run(parsed *kong.Context, out *console) error {
	var all []words
	var walk func(node *kong.Node, path []string)
	walk = func(node *kong.Node, path []string) {
		w := words{path: strings.Join(path, " ")}
		for _, child := range node.Children {
			if !child.Hidden {
				w.commands = append(w.commands, child)
			}
		}
		for _, group := range node.AllFlags(true) {
			for _, f := range group {
				w.flags = append(w.flags, "--"+f.Name)
			}
		}
		slices.Sort(w.flags)
		w.flags = slices.Compact(w.flags)
		all = append(all, w)
		for _, child := range w.commands {
			walk(child, append(slices.Clone(path), child.Name))
		}
	}
	walk(parsed.Model.Node, nil)
	script := map[string]func([]words) string{"bash": bash, "zsh": zsh, "fish": fish}[c.Shell]
	_, err := fmt.Fprint(out, script(all))
	return err
}

func (w words) names() []string {
	list := make([]string, len(w.commands))
	for i, c := range w.commands {
		list[i] = c.Name
	}
	return list
}

func bash(all []words) string {
	var b strings.Builder
	b.WriteString("# holdshort completion for bash\n_holdshort() {\n  local cur path i word\n  cur=\"${COMP_WORDS[COMP_CWORD]}\"\n  path=\"\"\n")
	b.WriteString("  for ((i = 1; i < COMP_CWORD; i++)); do\n    word=\"${COMP_WORDS[i]}\"\n    case \"$path $word\" in\n")
	for _, w := range all {
		for _, name := range w.names() {
			fmt.Fprintf(&b, "      %q) path=%q ;;\n", w.path+" "+name, strings.TrimSpace(w.path+" "+name))
		}
	}
	b.WriteString("    esac\n  done\n  case \"$path\" in\n")
	for _, w := range all {
		fmt.Fprintf(&b, "    %q) COMPREPLY=($(compgen -W %q -- \"$cur\")) ;;\n", w.path, strings.Join(append(w.names(), w.flags...), " "))
	}
	b.WriteString("  esac\n}\ncomplete -o default -F _holdshort holdshort\n")
	return b.String()
}

// zsh runs the function for bash, as zsh itself provides.
func zsh(all []words) string {
	return "#compdef holdshort\nautoload -U +X bashcompinit && bashcompinit\n" + bash(all)
}

func fish(all []words) string {
	var b strings.Builder
	b.WriteString("# holdshort completion for fish\ncomplete -c holdshort -f\n")
	for _, w := range all {
		condition := "__fish_use_subcommand"
		if w.path != "" {
			parts := strings.Fields(w.path)
			condition = "__fish_seen_subcommand_from " + parts[len(parts)-1]
			if len(parts) > 1 {
				condition = "__fish_seen_subcommand_from " + parts[0] + "; and " + condition
			}
		}
		for _, c := range w.commands {
			fmt.Fprintf(&b, "complete -c holdshort -n '%s' -a '%s' -d '%s'\n", condition, c.Name, strings.ReplaceAll(c.Help, "'", "’"))
		}
		for _, f := range w.flags {
			fmt.Fprintf(&b, "complete -c holdshort -n '%s' -l '%s'\n", condition, strings.TrimPrefix(f, "--"))
		}
	}
	return b.String()
}
