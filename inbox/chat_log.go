package inbox

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
)

// bubble is something that was said.
type bubble struct {
	ID      string
	Mine    bool // the session's user said it
	Aside   bool // it is about the conversation, and not in it
	By      string
	Text    string
	Files   []string
	Kind    string // question, notice, reply, …; "" for plain words
	Request string
	Run     string
	Pinned  bool
	At      time.Time
	Lost    bool // the user never saw it
}

// chatLog is a conversation.
type chatLog struct {
	Session  string
	User     string
	Bubbles  []bubble
	Earlier  bool
	Paused   string // why it stands still, "" if it does not
	Working  bool   // a run is at work
	Over     bool
	Requests []string // open ones, oldest first, that whoever looks may see
	Failed   string   // why the last run came to nothing
	Run      string
	Taken    string // who has taken it over
}

const (
	mostBubbles = 200
	mostLooks   = 20 // pages that are read for them, where much was not said to the user
)

// chatLog reads what was said, as the session's user sees it. Whoever looks after the system also gets what is about the conversation.
func (v *visit) chatLog(s engine.SessionView, asides bool) (chatLog, error) {
	log := chatLog{Session: string(s.ID), User: s.User, Over: !s.EndedAt.IsZero(), Taken: s.TakenBy}
	back, cursor := [][]bubble{}, ""
	for n := 0; n < mostBubbles; { // from the end: a long conversation is read no further than it is shown
		page, err := v.engine.Messages(v.ctx, v.tenant(), engine.MessageQuery{Session: s.ID, Newest: true, Limit: mostBubbles, Cursor: cursor})
		if err != nil {
			return log, err
		}
		var some []bubble
		for _, m := range page.Items {
			b := bubbleOf(m, s.User)
			if isSaid(m) && (asides || m.Type != holdshort.TypeSuppressed) || asides && b.Aside {
				some = append(some, b)
			}
		}
		back, n, cursor = append(back, some), n+len(some), page.Next
		if cursor == "" || len(back) == mostLooks {
			break
		}
	}
	for _, some := range slices.Backward(back) {
		log.Bubbles = append(log.Bubbles, some...)
	}
	if log.Earlier = cursor != ""; len(log.Bubbles) > mostBubbles {
		log.Bubbles, log.Earlier = log.Bubbles[len(log.Bubbles)-mostBubbles:], true
	}
	for _, id := range s.Open {
		if req, err := v.engine.RequestFor(v.ctx, v.tenant(), id, v.actor()); err == nil && req.Request.Status == holdshort.RequestOpen {
			log.Requests = append(log.Requests, string(id))
		} else if err != nil && holdshort.CodeOf(err) != holdshort.NotFound {
			return log, err
		}
	}
	return log, v.standing(s, &log)
}

// standing says whether the conversation moves, and if not, why.
func (v *visit) standing(s engine.SessionView, log *chatLog) error {
	if s.ActiveRun == "" {
		return v.lastRun(s, log)
	}
	run, err := v.engine.RunByID(v.ctx, v.tenant(), s.ActiveRun)
	if holdshort.CodeOf(err) == holdshort.NotFound {
		return nil
	}
	if err != nil {
		return err
	}
	log.Run = string(run.ID)
	switch {
	case run.Status.Ended():
		return v.lastRun(s, log)
	case run.Held != nil:
		log.Paused = "Held: an operator has to look at it"
	case s.HitlState == engine.HitlEscalated:
		log.Paused = "Paused: those who look after the system were asked"
	case s.Prompt != "":
		log.Paused = "Paused: waits for your answer"
	case len(s.Open) > 0:
		log.Paused = "Paused: waits for a person"
	case run.Status == holdshort.RunWaiting:
		log.Paused = "Paused: waits"
	default:
		log.Working = true
	}
	return nil
}

// lastRun says if what ran last came to nothing.
func (v *visit) lastRun(s engine.SessionView, log *chatLog) error {
	page, err := v.engine.Runs(v.ctx, v.tenant(), engine.RunQuery{Session: s.ID, Limit: 1})
	if err != nil || len(page.Items) == 0 {
		return err
	}
	run := page.Items[0]
	log.Run = string(run.ID)
	switch run.Status {
	case holdshort.RunFailed:
		log.Failed = "The last run failed."
	case holdshort.RunCanceled:
		log.Failed = "The last run was canceled."
	case holdshort.RunQueued, holdshort.RunRunning:
		log.Working = true
	}
	return nil
}

// isSaid reports whether a message is one that its user sees: what they wrote, and what they were sent.
func isSaid(m holdshort.Message) bool {
	switch m.Role {
	case holdshort.RoleUser:
		return m.Type == holdshort.TypeText || m.Type == holdshort.TypeReply
	case holdshort.RoleAssistant:
		return m.Type == holdshort.TypeText || m.Type == holdshort.TypeQuestion || m.Type == holdshort.TypeNotice
	}
	return false
}

var kindsOfMessages = map[string]string{holdshort.TypeQuestion: "question", holdshort.TypeNotice: "notice", holdshort.TypeReply: "answer", holdshort.TypeFeedback: "said with the decision",
	holdshort.TypeDecision: "decision", holdshort.TypeHandback: "handed back", holdshort.TypeSuppressed: "not sent: a person had the session"}

func bubbleOf(m holdshort.Message, user string) bubble {
	b := bubble{ID: string(m.ID), Mine: m.Role == holdshort.RoleUser, Kind: kindsOfMessages[m.Type], Request: string(m.RequestID), Run: string(m.RunID), Pinned: m.Pinned, At: m.CreatedAt, By: m.Author,
		Lost: m.Type == holdshort.TypeSuppressed}
	if b.Mine {
		b.By = cmp.Or(m.Author, user)
	}
	switch m.Type {
	case holdshort.TypeFeedback, holdshort.TypeDecision, holdshort.TypeHandback, holdshort.TypeSuppressed:
		b.Aside = true
	}
	var text []string
	for _, p := range m.Parts {
		switch {
		case p.Type == "text":
			text = append(text, p.Text)
		case p.Type == "file":
			b.Files = append(b.Files, cmp.Or(p.Name, "a file"))
		}
	}
	b.Text = strings.Join(text, "\n")
	var decided struct {
		Action holdshort.Verb `json:"action"`
	}
	if m.Type == holdshort.TypeDecision && json.Unmarshal([]byte(b.Text), &decided) == nil && decided.Action != "" {
		b.Text = deedOf(decided.Action) // it is kept for programs
	}
	return b
}
