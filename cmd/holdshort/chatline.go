package main

import (
	"slices"
	"strings"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/client"
	"github.com/holdshort/holdshort/reply"
)

// wish is what somebody wants with a line that they typed.
type wish string

const (
	wishNothing wish = ""
	wishSay     wish = "say"   // to the agent
	wishReply   wish = "reply" // to a request that the line names
	wishApprove wish = "approve"
	wishReject  wish = "reject"
	wishEdit    wish = "edit"
	wishAnswer  wish = "answer"
	wishCancel  wish = "cancel"
	wishShow    wish = "show"
	wishWhy     wish = "why"
	wishHelp    wish = "help"
	wishQuit    wish = "quit"
)

// commands by the words that people know.
var chatCommands = map[string]wish{"approve": wishApprove, "yes": wishApprove, "reject": wishReject, "deny": wishReject, "no": wishReject, "edit": wishEdit, "answer": wishAnswer,
	"cancel": wishCancel, "show": wishShow, "open": wishShow, "why": wishWhy, "help": wishHelp, "?": wishHelp, "quit": wishQuit, "exit": wishQuit, "q": wishQuit}

const chatHelp = `Write to the agent. When something waits for a decision:

  yes, no                  decide what waits, if it is one thing; else write which: K7 yes
  /approve [K7] [words]    approve it, all of its calls; /approve 1 approves the first and rejects the others
  /reject [K7] [why]       reject it: nothing of it runs
  /edit [K7] field=value   approve it with other arguments; -- and words at the end say why
  /answer [K7] text        answer; to an approval: be the tool, the text becomes the result of the call
  /cancel [K7] [why]       call it off, and the run that waits for it; with nothing open: the run
  /show [K7]               show what is open once more, with what is redacted if you may decide it
  /why                     why is nothing happening?
  /quit, Ctrl-C            leave; what is open stays open

A line that begins with // is sent with one slash.`

// line is a typed line, understood.
type line struct {
	wish wish
	req  *client.Request // that it is about
	text string
}

// reader understands lines by what is open when they are typed.
type reader struct {
	open   []client.Request
	prompt holdshort.RequestID // what the session's user was asked in the chat
	closed []string            // names of what was open here once
	may    func(client.Request) bool
	hints  []string // languages
	// hasty reports whether what was typed may have been meant for something else than this request. Default: never.
	hasty func(client.Request) bool
}

func (r reader) read(typed string) (line, error) {
	typed = strings.TrimSpace(typed)
	switch {
	case typed == "":
		return line{}, nil
	case strings.HasPrefix(typed, "//"):
		return line{wish: wishSay, text: typed[1:]}, nil
	case strings.HasPrefix(typed, "/"):
		return r.command(typed[1:])
	}
	word, rest, _ := strings.Cut(typed, " ")
	for i, req := range r.open {
		if strings.EqualFold(strings.Trim(word, "#:,"), handle(req)) {
			if rest = strings.TrimSpace(rest); rest == "" {
				return line{wish: wishShow, req: &r.open[i]}, nil
			}
			return line{wish: wishReply, req: &r.open[i], text: rest}, nil
		}
	}
	if err := r.gone(word); err != nil && rest != "" {
		return line{}, err
	}
	return r.bare(typed)
}

// gone refuses the name of a request that is not open here: what was meant for it must not hit another.
func (r reader) gone(word string) error {
	word = strings.Trim(word, "#:,")
	if slices.ContainsFunc(r.closed, func(name string) bool { return strings.EqualFold(name, word) }) {
		return &holdshort.Error{Code: holdshort.Closed, Message: word + " is closed already", Hint: "/show shows what is open"}
	}
	return nil
}

// bare is a line that names nothing: an answer to the question that was asked here, a yes or no to the one thing that waits, or a message.
func (r reader) bare(typed string) (line, error) {
	var asked *client.Request
	var waiting, others []client.Request
	for i, req := range r.open {
		switch {
		case req.ID == r.prompt:
			asked = &r.open[i]
		case req.ExpectedInput == holdshort.YesNo && r.may(req):
			waiting = append(waiting, req)
		case req.ExpectedInput == holdshort.YesNo:
			others = append(others, req)
		}
	}
	reading := reply.Read(typed, &reply.Question{Expected: reply.YesNo, Actions: true, Languages: r.hints})
	answers := reading.Verdict != reply.None || reading.Reason == reply.LetterTooWeak
	var meant *client.Request
	switch {
	case asked != nil:
		meant = asked
	case answers && len(waiting) == 1:
		meant = &waiting[0]
	}
	if meant != nil {
		if err := r.sure(*meant); err != nil {
			return line{}, err
		}
	}
	switch {
	case answers && asked == nil && len(waiting) == 0 && len(others) > 0:
		return line{}, &holdshort.Error{Code: holdshort.Forbidden, Message: handle(others[0]) + " is not yours to decide: it waits for " + audience(others[0]), Hint: "you may write on; what you write is kept"}
	case len(waiting) == 0 || !answers || asked != nil && asked.ExpectedInput != holdshort.YesNo:
		return line{wish: wishSay, req: asked, text: typed}, nil
	case asked != nil:
		return line{}, r.several(append(waiting, *asked))
	case len(waiting) > 1:
		return line{}, r.several(waiting)
	}
	switch reading.Verdict {
	case reply.Yes:
		return line{wish: wishApprove, req: &waiting[0]}, nil
	case reply.No:
		return line{wish: wishReject, req: &waiting[0]}, nil
	case reply.Cancel:
		return line{wish: wishCancel, req: &waiting[0]}, nil
	}
	return line{}, &usageError{Message: "a single letter does not approve anything", Hint: "write yes, or /approve"}
}

// hastyError is a line that came so soon after something changed that it may have been meant for something else.
type hastyError struct{ usageError }

func (e *hastyError) Unwrap() error { return &e.usageError }

// sure refuses what names nothing and came too soon: nobody approves what they have not read.
func (r reader) sure(req client.Request) error {
	if r.hasty == nil || !r.hasty(req) {
		return nil
	}
	return &hastyError{usageError{Message: handle(req) + " came up while you were writing: nothing was decided", Hint: "look at it, then send this again, or write " + handle(req) + " in front"}}
}

func (r reader) several(of []client.Request) error {
	names := make([]string, len(of))
	for i, req := range of {
		names[i] = handle(req)
	}
	return &usageError{Message: "several things wait: " + strings.Join(names, ", "), Hint: "write which: " + names[0] + " yes"}
}

func (r reader) command(typed string) (line, error) {
	word, rest, _ := strings.Cut(typed, " ")
	wanted, ok := chatCommands[strings.ToLower(word)]
	if !ok {
		return line{}, &usageError{Message: "there is no command /" + clip(oneLine(word), 40), Hint: "/help lists them; a line that begins with // is sent as it is"}
	}
	out := line{wish: wanted, text: strings.TrimSpace(rest)}
	first, after, _ := strings.Cut(out.text, " ")
	for i, req := range r.open {
		if named(req, strings.Trim(first, "#:,")) {
			out.req, out.text = &r.open[i], strings.TrimSpace(after)
			return out, nil
		}
	}
	if err := r.gone(first); err != nil {
		return line{}, err
	}
	if _, _, isCode := reply.SplitCode(first); isCode || strings.HasPrefix(first, "req_") {
		return line{}, &holdshort.Error{Code: holdshort.NotFound, Message: "nothing that is called " + clip(oneLine(first), 40) + " is open here", Hint: "/show shows what is"}
	}
	var fits []client.Request
	for _, req := range r.open {
		if suits(req, wanted) && (wanted == wishShow || wanted == wishCancel || r.may(req)) {
			fits = append(fits, req)
		}
	}
	switch {
	case wanted == wishHelp, wanted == wishQuit, wanted == wishWhy, wanted == wishShow && len(fits) != 1, wanted == wishCancel && len(fits) == 0:
		return out, nil
	case len(fits) == 1:
		out.req = &fits[0]
		if wanted == wishShow {
			return out, nil
		}
		return out, r.sure(fits[0])
	case len(fits) > 1:
		return line{}, r.several(fits)
	case len(r.open) > 0:
		return line{}, &usageError{Message: "nothing that is open takes /" + word + " from you", Hint: "/show shows what is open, and for whom"}
	}
	return line{}, &usageError{Message: "nothing is open", Hint: "write to the agent"}
}

// suits reports whether a request can take what somebody wants.
func suits(req client.Request, wanted wish) bool {
	takes := func(verbs ...holdshort.Verb) bool {
		return slices.ContainsFunc(verbs, func(v holdshort.Verb) bool { return slices.Contains(req.Allowed, v) })
	}
	switch wanted {
	case wishApprove:
		return takes(holdshort.Approve)
	case wishReject:
		return takes(holdshort.Reject)
	case wishEdit:
		return takes(holdshort.Edit)
	case wishAnswer:
		return takes(holdshort.Answer, holdshort.Select, holdshort.Respond)
	}
	return true
}
