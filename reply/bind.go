package reply

import "time"

// Quiet is how long after one prompt closed a bare reply may still have been meant for it.
const Quiet = 10 * time.Second

// Prompt is a request of the session a reply arrived in, as far as binding needs to know it. Include the open ones, and
// those that closed within the life of their short code.
type Prompt struct {
	ID, Code    string
	AskedAt     time.Time // zero: queued, not asked in this session yet
	DeliveredAt time.Time // zero: its delivery was not confirmed
	ClosedAt    time.Time // zero: open
}

// BindInput is a reply and what it could answer.
type BindInput struct {
	ReplyTo string    // id of the request whose message was replied to, if the channel says so
	Code    string    // from SplitCode, or ""
	SentAt  time.Time // the channel's time, else the arrival
	Prompts []Prompt
}

// BindTo says what to do with a reply.
type BindTo uint8

// The ways to bind. Only ToRequest decides anything.
const (
	ToNothing BindTo = iota // no prompt is open: it is a new message, or a stale answer
	ToRequest               // read it as the answer to Binding.ID
	ToClosed                // it answers Binding.ID, which is closed or unknown: say so, decide nothing
	AskAgain                // it may have been meant for something else: ask Binding.ID again
	ListCodes               // several questions are open: list their codes
)

var bindNames = [...]string{"nothing", "request", "closed", "ask_again", "list_codes"}

func (b BindTo) String() string {
	if int(b) < len(bindNames) {
		return bindNames[b]
	}
	return "invalid"
}

// Binding is what a reply belongs to.
type Binding struct {
	To       BindTo
	ID       string
	UsedCode bool // read the text without its code; otherwise what looked like a code is part of the answer
}

// Bind finds the request that a reply answers: the message it replies to, else its short code, else the open prompt, if that
// was surely seen before the reply was sent and no other prompt had just closed.
func Bind(in BindInput) Binding {
	coded, several := in.byCode()
	if in.ReplyTo != "" {
		replied := in.byID(in.ReplyTo)
		switch {
		case several || coded != nil && coded.ID != in.ReplyTo:
			return Binding{To: ListCodes}
		case replied == nil || !replied.open():
			return Binding{To: ToClosed, ID: in.ReplyTo, UsedCode: coded != nil}
		}
		return Binding{To: ToRequest, ID: replied.ID, UsedCode: coded != nil}
	}
	switch {
	case several:
		return Binding{To: ListCodes}
	case coded != nil && !coded.open():
		return Binding{To: ToClosed, ID: coded.ID, UsedCode: true}
	case coded != nil:
		return Binding{To: ToRequest, ID: coded.ID, UsedCode: true}
	}
	return in.bare()
}

// bare binds a reply with neither metadata nor code.
func (in *BindInput) bare() Binding {
	var prompt *Prompt
	for i := range in.Prompts {
		p := &in.Prompts[i]
		if !p.open() || p.AskedAt.IsZero() {
			continue
		}
		if prompt != nil {
			return Binding{To: ListCodes}
		}
		prompt = p
	}
	switch {
	case prompt == nil:
		return Binding{To: ToNothing}
	case in.SentAt.IsZero(), prompt.DeliveredAt.IsZero(), !prompt.DeliveredAt.Before(in.SentAt), in.justClosed():
		return Binding{To: AskAgain, ID: prompt.ID}
	}
	return Binding{To: ToRequest, ID: prompt.ID}
}

// justClosed reports a prompt that the person may have been answering: asked, and closed in the Quiet before the reply was
// sent, or even after that.
func (in *BindInput) justClosed() bool {
	for i := range in.Prompts {
		p := &in.Prompts[i]
		if !p.open() && !p.AskedAt.IsZero() && !p.ClosedAt.Before(in.SentAt.Add(-Quiet)) {
			return true
		}
	}
	return false
}

func (p *Prompt) open() bool { return p.ClosedAt.IsZero() }

func (in *BindInput) byID(id string) *Prompt {
	for i := range in.Prompts {
		if in.Prompts[i].ID == id {
			return &in.Prompts[i]
		}
	}
	return nil
}

// byCode finds the request of a code, the open one before closed ones. Two open requests with one code are nobody's.
func (in *BindInput) byCode() (found *Prompt, several bool) {
	if in.Code == "" {
		return nil, false
	}
	for i := range in.Prompts {
		p := &in.Prompts[i]
		switch {
		case p.Code != in.Code:
		case found != nil && found.open() && p.open():
			return nil, true
		case found == nil || p.open():
			found = p
		}
	}
	return found, false
}
