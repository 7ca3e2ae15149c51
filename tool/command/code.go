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
	option *regexp.Regexp // whose value is code
}

var interpreters = []interpreter{
	{regexp.MustCompile(`^(ba|da|a|z|k|mk|fi|c|tc)?sh$`), regexp.MustCompile(`^-[a-z]*c[a-z]*$`)},
	{regexp.MustCompile(`^(su|runuser)$`), regexp.MustCompile(`^(-[a-z]*c[a-z]*$|--command)`)},
	{regexp.MustCompile(`^(python|pypy)[0-9.]*$`), regexp.MustCompile(`^-[A-Za-z]*c`)},
	{regexp.MustCompile(`^(perl|ruby|lua|luajit|groovy|julia|Rscript|R|osascript|elixir|racket)[0-9.]*$`), regexp.MustCompile(`^-[A-Za-z]*[eE]`)},
	{regexp.MustCompile(`^(node|nodejs|deno|bun)[0-9.]*$`), regexp.MustCompile(`^(-[a-z]*[ep]|--eval|--print)`)},
	{regexp.MustCompile(`^php[0-9.]*$`), regexp.MustCompile(`^-[rBRE]`)},
	{regexp.MustCompile(`^(pwsh|powershell)(\.exe)?$`), regexp.MustCompile(`(?i)^-(c|e)`)},
	{regexp.MustCompile(`^find$`), regexp.MustCompile(`^-(exec|execdir|ok|okdir)$`)},
}

var (
	// wrappers run the program that their arguments name.
	wrappers = []string{"env", "sudo", "doas", "nice", "nohup", "timeout", "time", "xargs", "setsid", "stdbuf", "ionice", "chroot", "unshare", "busybox"}
	// first are programs whose first operand is code or a program.
	first = []string{"awk", "gawk", "mawk", "sed", "gsed", "eval", "env", "sudo", "doas", "nohup", "setsid", "xargs", "busybox"}
	// rest are programs all of whose operands but the first are a line for a shell.
	rest = []string{"ssh"}
)

// code finds the item with places that would be run as code, or as a program: -1 if there is none. It knows the usual ways to do so by
// mistake, not every program there is.
func (l line) code() int {
	programs := []string{path.Base(l.program)}
	wrapped := slices.Contains(wrappers, programs[0])
	for i, it := range l.items {
		if text, literal := it.template.Literal(); literal {
			if wrapped {
				programs = append(programs, path.Base(text))
			}
			continue
		}
		operands := l.operands(i)
		for _, program := range programs {
			if operands == 0 && slices.Contains(first, program) || operands > 0 && slices.Contains(rest, program) {
				return i
			}
			for _, known := range interpreters {
				if known.name.MatchString(program) && (known.option.MatchString(it.template.Prefix()) || i > 0 && known.takes(l.items[i-1])) {
					return i
				}
			}
		}
	}
	return -1
}

// takes reports whether what follows an item is code.
func (k interpreter) takes(before item) bool {
	text, ok := before.template.Literal()
	return ok && k.option.MatchString(text)
}

// operands counts the items before i that are no options.
func (l line) operands(i int) int {
	n := 0
	for _, before := range l.items[:i] {
		if text, ok := before.template.Literal(); !ok || !strings.HasPrefix(text, "-") {
			n++
		}
	}
	return n
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
