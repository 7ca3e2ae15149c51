package command

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// interpreter runs text as code.
type interpreter struct {
	name   *regexp.Regexp
	option *regexp.Regexp // what follows it is code
}

var interpreters = []interpreter{
	{regexp.MustCompile(`^(ba|da|a|z|k|mk|fi|c|tc)?sh$`), regexp.MustCompile(`^-[a-z]*c[a-z]*$`)},
	{regexp.MustCompile(`^(su|runuser|script|flock)$`), regexp.MustCompile(`^(-[a-z]*c[a-z]*$|--command)`)},
	{regexp.MustCompile(`^(python|pypy)[0-9.]*$`), regexp.MustCompile(`^-[A-Za-z]*c`)},
	{regexp.MustCompile(`^(perl|ruby|lua|luajit|groovy|julia|Rscript|R|osascript|elixir|racket)[0-9.]*$`), regexp.MustCompile(`^-[A-Za-z]*[eE]`)},
	{regexp.MustCompile(`^(node|nodejs|deno|bun)[0-9.]*$`), regexp.MustCompile(`^(-[a-z]*[ep]|--eval|--print)`)},
	{regexp.MustCompile(`^php[0-9.]*$`), regexp.MustCompile(`^-[rBRE]`)},
	{regexp.MustCompile(`^(pwsh|powershell)(\.exe)?$`), regexp.MustCompile(`(?i)^-(c|e)`)},
	{regexp.MustCompile(`^(gdb|lldb)$`), regexp.MustCompile(`^-(ex|iex|o|O|eval-command|-eval-command|-one-line)`)},
	{regexp.MustCompile(`^find$`), regexp.MustCompile(`^-(exec|execdir|ok|okdir)$`)},
}

var (
	// wrappers run the program that their arguments name.
	wrappers = []string{"env", "sudo", "doas", "nohup", "time", "xargs", "setsid", "stdbuf", "unshare", "busybox", "strace", "ltrace", "watch", "parallel", "eval", "timeout", "nice", "ionice", "chroot"}
	// measured are wrappers that take a value of their own before the program.
	measured = []string{"timeout", "nice", "ionice"}
	// coded are programs whose first operand is code.
	coded = []string{"awk", "gawk", "mawk", "sed", "gsed"}
	// joined are programs that put operands together to a line for a shell: those from the second on, or all of them.
	joined = map[string]int{"ssh": 1, "watch": 0, "parallel": 0, "eval": 0}

	aValue = regexp.MustCompile(`^([0-9.]+[smhd]?|[A-Za-z_][A-Za-z0-9_]*=.*)$`)
)

// code finds the item with places that would be run as code, or as a program: -1 if there is none. It knows the usual ways to do so by
// mistake, not every program there is.
func (l line) code() int {
	program := path.Base(l.program)
	awaits := make([]bool, len(interpreters)) // code comes next
	speaks := make([]bool, len(interpreters)) // that interpreter is in the line
	named, operands := false, 0               // of a wrapper: its program; of all: items that are no options
	hear := func(name string) {
		for i, known := range interpreters {
			speaks[i] = speaks[i] || known.name.MatchString(name)
		}
	}
	hear(program)
	for i, it := range l.items {
		text, literal := it.template.Literal()
		option := strings.HasPrefix(it.template.Prefix(), "-")
		for k, known := range interpreters {
			switch {
			case !literal && speaks[k] && (awaits[k] || known.option.MatchString(it.template.Prefix())):
				return i
			case literal && speaks[k] && known.option.MatchString(text):
				awaits[k] = true
			case !option:
				awaits[k] = false
			}
		}
		if from, ok := joined[program]; !literal && ok && operands >= from || !literal && operands == 0 && slices.Contains(coded, program) {
			return i
		}
		if !literal && !option && !named && slices.Contains(wrappers, program) && !(slices.Contains(measured, program) && operands == 0 && l.namesProgram(i+1)) {
			return i
		}
		if literal && !option {
			hear(path.Base(text))
			named = named || !aValue.MatchString(text)
		}
		if !option {
			operands++
		}
	}
	return -1
}

// namesProgram reports whether the item at i is one that is written out.
func (l line) namesProgram(i int) bool {
	if i >= len(l.items) {
		return false
	}
	text, literal := l.items[i].template.Literal()
	return literal && !strings.HasPrefix(text, "-") && !aValue.MatchString(text)
}

// readsCode reports whether an interpreter would run what it reads.
func (l line) readsCode() bool {
	if !slices.ContainsFunc(interpreters, func(k interpreter) bool { return k.name.MatchString(path.Base(l.program)) }) {
		return false
	}
	for _, it := range l.items {
		if text, ok := it.template.Literal(); !ok || text != "-" && text != "-s" && text != "--" {
			return false
		}
	}
	return true
}
