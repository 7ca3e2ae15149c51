package inbox

import (
	"cmp"
	"strings"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
)

// talkView is the end of the conversation that a request comes from, to those who may see the session.
type talkView struct {
	Session string
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

func (v *visit) talkOf(req holdshort.Request) (talkView, error) {
	if req.SessionID == "" {
		return talkView{}, nil
	}
	session, err := v.engine.SessionFor(v.ctx, v.tenant(), req.SessionID, v.actor())
	if holdshort.CodeOf(err) == holdshort.NotFound { // it is not theirs to see, or it is erased
		return talkView{}, nil
	}
	if err != nil {
		return talkView{}, err
	}
	out := talkView{Session: string(session.ID), About: strings.Join(present(cmp.Or(session.Channel, "web"), session.Language), ", ")}
	page, err := v.engine.Messages(v.ctx, v.tenant(), engine.MessageQuery{Session: req.SessionID, Newest: true, Limit: saidLast + 4})
	if err != nil {
		return out, err
	}
	out.More = page.Next != ""
	for _, m := range page.Items {
		if m.Type == holdshort.TypeSuppressed || m.Role == holdshort.RoleSystem || m.Role == holdshort.RoleTool || m.RequestID == req.ID && m.Type == holdshort.TypeQuestion {
			continue // what the user never saw; and the question itself is the headline
		}
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
	if n := len(out.Lines); n > saidLast {
		out.Lines, out.More = out.Lines[n-saidLast:], true
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
