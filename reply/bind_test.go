package reply

import (
	"fmt"
	"testing"
	"time"
)

var sent = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func at(seconds int) time.Time { return sent.Add(time.Duration(seconds) * time.Second) }

// Prompts by name: asked and seen, asked and not seen, queued, closed long ago, closed just now.
var (
	seen       = Prompt{ID: "seen", Code: "A1", AskedAt: at(-60), DeliveredAt: at(-59)}
	seenToo    = Prompt{ID: "seen_too", Code: "A2", AskedAt: at(-50), DeliveredAt: at(-49)}
	unseen     = Prompt{ID: "unseen", Code: "B1", AskedAt: at(-60)}
	crossed    = Prompt{ID: "crossed", Code: "B2", AskedAt: at(-2), DeliveredAt: at(1)}
	sameMoment = Prompt{ID: "same_moment", Code: "B3", AskedAt: at(-2), DeliveredAt: at(0)}
	queued     = Prompt{ID: "queued", Code: "C1"}
	longClosed = Prompt{ID: "long_closed", Code: "D1", AskedAt: at(-600), DeliveredAt: at(-599), ClosedAt: at(-300)}
	closed11   = Prompt{ID: "closed_11", Code: "D2", AskedAt: at(-600), DeliveredAt: at(-599), ClosedAt: at(-11)}
	closed10   = Prompt{ID: "closed_10", Code: "D3", AskedAt: at(-600), DeliveredAt: at(-599), ClosedAt: at(-10)}
	closed1    = Prompt{ID: "closed_1", Code: "D4", AskedAt: at(-600), DeliveredAt: at(-599), ClosedAt: at(-1)}
	closedIn3  = Prompt{ID: "closed_in_3", Code: "D5", AskedAt: at(-600), DeliveredAt: at(-599), ClosedAt: at(3)}
	neverAsked = Prompt{ID: "never_asked", Code: "D6", ClosedAt: at(-1)}
)

func TestBindBareReply(t *testing.T) {
	for _, tt := range []struct {
		name    string
		prompts []Prompt
		want    Binding
	}{
		{"nothing open", nil, Binding{To: ToNothing}},
		{"only closed", []Prompt{longClosed, closed1}, Binding{To: ToNothing}},
		{"only queued", []Prompt{queued}, Binding{To: ToNothing}},
		{"seen", []Prompt{seen}, Binding{To: ToRequest, ID: "seen"}},
		{"seen, others queued", []Prompt{queued, seen}, Binding{To: ToRequest, ID: "seen"}},
		{"delivery not confirmed", []Prompt{unseen}, Binding{To: AskAgain, ID: "unseen"}},
		{"delivered after it was sent", []Prompt{crossed}, Binding{To: AskAgain, ID: "crossed"}},
		{"delivered the same moment", []Prompt{sameMoment}, Binding{To: AskAgain, ID: "same_moment"}},
		{"another closed long ago", []Prompt{seen, longClosed}, Binding{To: ToRequest, ID: "seen"}},
		{"another closed 11 s before", []Prompt{seen, closed11}, Binding{To: ToRequest, ID: "seen"}},
		{"another closed 10 s before", []Prompt{seen, closed10}, Binding{To: AskAgain, ID: "seen"}},
		{"another closed 1 s before", []Prompt{closed1, seen}, Binding{To: AskAgain, ID: "seen"}},
		{"another closed after it was sent", []Prompt{seen, closedIn3}, Binding{To: AskAgain, ID: "seen"}},
		{"another closed that nobody was asked", []Prompt{seen, neverAsked}, Binding{To: ToRequest, ID: "seen"}},
		{"two asked", []Prompt{seen, seenToo}, Binding{To: ListCodes}},
		{"two asked, one not seen", []Prompt{seen, unseen}, Binding{To: ListCodes}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, code := range []string{"", "Z9"} { // a code that no request has is part of the text
				if got := Bind(BindInput{Code: code, SentAt: sent, Prompts: tt.prompts}); got != tt.want {
					t.Errorf("with code %q: got %+v, want %+v", code, got, tt.want)
				}
			}
		})
	}
	if got := Bind(BindInput{Prompts: []Prompt{seen}}); got.To != AskAgain {
		t.Errorf("a reply without a time: got %+v, want it asked again", got)
	}
}

// Metadata and codes, in every combination, against the rule written out as a table.
func TestBindEveryCombination(t *testing.T) {
	prompts := []Prompt{seen, seenToo, unseen, queued, longClosed, closed1}
	status := map[string]string{"": "none", "unknown": "unknown"}
	codes := map[string]string{"": "", "Z9": "unknown"}
	for _, p := range prompts {
		codes[p.Code] = p.ID
		if p.open() {
			status[p.ID] = "open"
		} else {
			status[p.ID] = "closed"
		}
	}
	combinations := 0
	for replyTo, replied := range status {
		for code, id := range codes {
			combinations++
			want := Binding{}
			coded := status[id] // none, unknown, open or closed
			switch {
			case replied == "none" && (coded == "none" || coded == "unknown"):
				want.To = ListCodes // three are asked
			case replied == "none" && coded == "open":
				want = Binding{To: ToRequest, ID: id, UsedCode: true}
			case replied == "none":
				want = Binding{To: ToClosed, ID: id, UsedCode: true}
			case coded != "none" && coded != "unknown" && id != replyTo:
				want.To = ListCodes // the two disagree
			case replied == "open":
				want = Binding{To: ToRequest, ID: replyTo, UsedCode: id == replyTo}
			default:
				want = Binding{To: ToClosed, ID: replyTo, UsedCode: id == replyTo && replyTo != "unknown"}
			}
			t.Run(fmt.Sprintf("reply to %q with code %q", replyTo, code), func(t *testing.T) {
				if got := Bind(BindInput{ReplyTo: replyTo, Code: code, SentAt: sent, Prompts: prompts}); got != want {
					t.Errorf("got %+v, want %+v", got, want)
				}
			})
		}
	}
	if combinations != 8*8 {
		t.Errorf("%d combinations, want 64", combinations)
	}
}

func TestBindCodeGivenTwice(t *testing.T) {
	again := seenToo
	again.Code = seen.Code
	if got := Bind(BindInput{Code: seen.Code, SentAt: sent, Prompts: []Prompt{seen, again}}); got.To != ListCodes {
		t.Errorf("two open requests with one code: got %+v", got)
	}
	old := longClosed
	old.Code = seen.Code
	for _, prompts := range [][]Prompt{{seen, old}, {old, seen}} {
		if got := Bind(BindInput{Code: seen.Code, SentAt: sent, Prompts: prompts}); got.ID != "seen" || got.To != ToRequest {
			t.Errorf("the open request goes before the closed one: got %+v", got)
		}
	}
}
