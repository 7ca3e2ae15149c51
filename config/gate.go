package config

import (
	"fmt"
	"slices"
	"strings"
)

// Gate is about agents outside this server, which ask over HTTP before they act.
type Gate struct {
	Tools []string `yaml:"tools" doc:"Tools that such agents ask about: names such as deploy, or deploy.* for all that begin so. With this list a rule that names a tool that is neither declared nor listed is a fault; without it, a warning. The list does not restrict the gate: rules do. Default: any."`
}

// Lists reports whether a tool is one of the list.
func (g Gate) Lists(tool string) bool {
	return slices.ContainsFunc(g.Tools, func(name string) bool {
		prefix, isPattern := strings.CutSuffix(name, "*")
		return name == tool || isPattern && strings.HasPrefix(tool, prefix)
	})
}

func (c *checker) gate() {
	for i, name := range c.Gate.Tools {
		if name == "" || strings.Contains(strings.TrimSuffix(name, "*"), "*") {
			c.wrong(fmt.Sprintf("gate.tools[%d]", i), "write a name, or a beginning and one * at its end",
				"%q names no tool", name)
		}
	}
}
