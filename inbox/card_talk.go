package inbox

import (
	"cmp"
	"strings"
	"time"

	"github.com/holdshort/holdshort"
)

// talkView is the end of the conversation that a request comes from.
type talkView struct {
	Session string // "": it is not theirs to open
	About   string // channel and language
	Lines   []talkLine
	More    bool // there is more before
}

type talkLine struct {
	Who  string // "", the user, or whoever else spoke
	Mine bool   // it is not the user's
	Text string
	At   time.Time
}

// saidLast is how many messages a card shows.
const saidLast = 6

// talkOf is what was said, to those who may see the session and to those who have to decide. Only the former can go on to the session.
func (v *visit) talkOf(req holdshort.Request) (talkView, error) {
	said, err := v.engine.Excerpt(v.ctx, v.tenant(), req, v.actor(), saidLast)
	if err != nil || said.Session.ID == "" {
		return talkView{}, err
	}
	out := talkView{About: strings.Join(present(cmp.Or(said.Session.Channel, "web"), said.Session.Language), ", "), More: said.More}
	if said.Whole {
		out.Session = string(said.Session.ID)
	}
	for _, m := range said.Messages {
		line := talkLine{Who: m.Author, Mine: m.Role != holdshort.RoleUser, At: m.CreatedAt}
		for _, p := range m.Parts {
			switch {
			case p.Text != "":
				line.Text = strings.TrimPrefix(line.Text+"\n"+p.Text, "\n")
			case p.Type == "file" && (p.Name != "" || p.URL != ""):
				line.Text = strings.TrimPrefix(line.Text+"\n["+cmp.Or(p.Name, p.URL)+"]", "\n")
			}
		}
		if line.Text != "" {
			out.Lines = append(out.Lines, line)
		}
	}
	return out, nil
}

func present(texts ...string) (out []string) {
	for _, text := range texts {
		if text != "" {
			out = append(out, text)
		}
	}
	return out
}
