package script

import (
	"regexp"
	"slices"

	"github.com/holdshort/holdshort/model"
)

// input is what the model is to answer.
type input struct {
	user    string          // what the user said last
	said    bool            // there is such a message
	results []model.Message // of the tools that ran after it and after the model last spoke, in their order
}

// latest finds what came last. What the model itself said after it is no input.
func latest(messages []model.Message) input {
	var in input
	end := len(messages)
	for end > 0 && messages[end-1].Role == model.Assistant {
		end--
	}
	begin := end
	for begin > 0 && messages[begin-1].Role == model.ToolRole {
		begin--
	}
	in.results = messages[begin:end]
	for _, m := range slices.Backward(messages[:begin]) {
		if m.Role == model.User {
			in.user, in.said = m.Text, true
			break
		}
	}
	return in
}

// match is what a rule found in an input.
type match struct {
	groups  []string
	names   map[string]string
	result  string // of the tool
	results []model.Message
}

func (r *rule) match(in input) (match, bool) {
	found := match{results: in.results}
	if r.user != nil {
		if !in.said || len(in.results) > 0 && !r.When.aboutTools() || !found.groupsOf(r.user, in.user) {
			return match{}, false
		}
	}
	if !r.When.aboutTools() {
		if n := len(in.results); n > 0 {
			found.result = in.results[n-1].Text
		}
		return found, true
	}
	for _, m := range slices.Backward(in.results) {
		if r.When.Tool != "" && r.When.Tool != m.Tool || r.When.Failed != nil && *r.When.Failed != m.Failed {
			continue
		}
		if r.result == nil || found.groupsOf(r.result, m.Text) {
			found.result = m.Text
			return found, true
		}
	}
	return match{}, false
}

// groupsOf adds the groups of a regular expression to those found so far. $0 is the whole of the first match.
func (m *match) groupsOf(re *regexp.Regexp, text string) bool {
	groups := re.FindStringSubmatch(text)
	if groups == nil {
		return false
	}
	for i, name := range re.SubexpNames() {
		if name != "" {
			if m.names == nil {
				m.names = map[string]string{}
			}
			m.names[name] = groups[i]
		}
	}
	if len(m.groups) > 0 {
		groups = groups[1:]
	}
	m.groups = append(m.groups, groups...)
	return true
}
