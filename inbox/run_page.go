package inbox

import (
	"cmp"
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/policy"
)

// runView is the page of a run.
type runView struct {
	ID, Name, Flow string
	Version        int
	User           string
	StartedBy      string
	Session        string
	Parent         string
	Trace          string
	Attempt        int
	State          runState
	Created, Ended time.Time
	Took           string
	Why            []engine.Reason
	Picture        timelineView
	Journal        []runEntry
	Shown          int    // steps until then
	Before, After  string // addresses of other parts of the journal
	Audit          string // address of all its events
	Values         bool
	Requests       []runRequest
	Hidden         int
	Operations     []runOperation
	Events         []runEvent
	Earlier        bool
	Children       []runRow
	Usage          engine.Usage
	Cost           string
	Input          valueView
	Asked          string // what somebody said to it, in short
	Answer         string // what it said last, where that is a text
	Result         valueView
	Error          *holdshort.Failure
	Replay         *runReplay // shown as it was after a step
	Steps          int
	First          string // address of the replay's beginning
	MayCancel      bool
	MayRetry       bool
	Live           bool // it may still change
	Pruned         bool
}

// serveRun shows a run as it is, or as it was after one of its steps.
func (v *visit) serveRun() error {
	tl, err := v.timelineOf(holdshort.RunID(v.r.PathValue("id")))
	if err != nil {
		return err
	}
	view, err := v.runView(tl)
	if err != nil {
		return err
	}
	if v.partial() {
		return v.part(200, "run_main", view)
	}
	return v.page(200, "run", view.Name, view)
}

// timelineOf reads a run with all that hangs on it, its journal in the order in which steps ended: that is the order of a replay.
func (v *visit) timelineOf(id holdshort.RunID) (engine.Timeline, error) {
	tl, err := v.engine.Timeline(v.ctx, v.tenant(), id, v.actor())
	if err != nil {
		return tl, err
	}
	slices.SortStableFunc(tl.Journal, func(a, b holdshort.JournalEntry) int { return a.Ended.Compare(b.Ended) })
	return tl, nil
}

func (v *visit) runView(tl engine.Timeline) (runView, error) {
	q, now, run := v.r.URL.Query(), v.now, tl.Run
	steps := len(tl.Journal)
	path := "/runs/" + url.PathEscape(string(run.ID))
	out := runView{ID: string(run.ID), Steps: steps, First: path + "?step=1#step", Live: !run.Status.Ended(), Pruned: run.Pruned}
	past := false
	if n := stepOf(q, steps); n > 0 {
		past = true
		tl, now = asOf(tl, n)
		out.Replay = replayOf(tl, n, steps, path, q)
		run = tl.Run
	}
	out.Name, out.Flow, out.Version, out.User, out.StartedBy = nameOfRun(run), run.Flow, run.FlowVersion, run.User, run.StartedBy
	out.Session, out.Parent, out.Trace, out.Attempt = string(run.SessionID), string(run.ParentID), run.TraceID, run.Attempt
	out.State, out.Created, out.Ended, out.Error = stateOfRun(run), run.CreatedAt, run.EndedAt, run.Error
	end := run.EndedAt
	if end.IsZero() {
		end = now
	}
	out.Took = longSpan(max(end.Sub(run.CreatedAt), 0))
	out.Picture = pageTimeline(tl, q, now, past)
	from := fromOf(q, len(tl.Journal))
	out.Journal, out.Values = entriesOf(tl, path, from), tl.Values
	if out.Shown = len(tl.Journal); from > 0 {
		out.Before = listFrom(path, q, max(from-mostEntries, 0))
	}
	if from+mostEntries < len(tl.Journal) {
		out.After = listFrom(path, q, from+mostEntries)
	}
	for _, r := range tl.Requests {
		out.Requests = append(out.Requests, requestOfRun(r, now))
	}
	out.Hidden, out.Operations, out.Events, out.Earlier = tl.Hidden, operationsOfRun(tl.Operations), eventsOfRun(tl.Events), tl.Earlier || len(tl.Events) > mostEvents
	if v.mayAudit() {
		out.Audit = "/audit?" + url.Values{"run": {string(run.ID)}}.Encode()
	}
	for _, child := range tl.Children {
		out.Children = append(out.Children, rowOfRun(child, now))
	}
	out.Usage, out.Cost = tl.Usage, money(tl.Usage.Cost)
	out.Input, out.Result = valueView{None: true}, valueView{None: true}
	if tl.Values { // what went in and came out is shown to those who see the values in between
		out.Input, out.Result, out.Asked, out.Answer = valueOf(run.Input), valueOf(run.Result), v.askedOf(run), textOfValue(run.Result)
	}
	if past {
		return out, nil
	}
	if !run.Status.Ended() {
		why, err := v.engine.Why(v.ctx, v.tenant(), run.ID)
		if err != nil {
			return out, err
		}
		out.Why = reasonsOf(why)
	}
	out.MayCancel = !run.Status.Ended() && v.mayRun(policy.CancelRun, run)
	out.MayRetry = (run.Status == holdshort.RunFailed || run.Held != nil) && !run.Pruned && v.mayRun(policy.RetryRun, run)
	return out, nil
}

// askedOf is what somebody said to start a run, shortened; "" where it was no text.
func (v *visit) askedOf(run holdshort.Run) string {
	text := textOfValue(run.Input)
	var in struct {
		Message holdshort.MessageID `json:"message_id"`
	}
	if text == "" && json.Unmarshal(run.Input, &in) == nil && in.Message != "" {
		if m, err := v.engine.MessageByID(v.ctx, v.tenant(), in.Message); err == nil && m.SessionID == run.SessionID {
			text = bubbleOf(m, run.User).Text
		}
	}
	if r := []rune(text); len(r) > 240 {
		return string(r[:240]) + "…"
	}
	return text
}

// textOfValue is the text of an agent's input or result.
func textOfValue(raw json.RawMessage) string {
	var v struct {
		Text string `json:"text"`
		Task string `json:"task"`
	}
	if json.Unmarshal(raw, &v) != nil {
		return ""
	}
	return cmp.Or(v.Text, v.Task)
}

func (v *visit) mayRun(a policy.Action, run holdshort.Run) bool {
	ok, _ := policy.Can(a, v.actor(), policy.Resource{Owner: run.User, Requester: holdshort.Requester{User: run.User}})
	return ok && v.who.Allows(a)
}

// reasonsOf are why a run stands where it stands, as sentences: what has a link needs no id.
func reasonsOf(why engine.Why) []engine.Reason {
	list := slices.Clone(why.Reasons)
	for i, r := range list {
		if r.Request != "" {
			r.Text = strings.Replace(r.Text, " "+string(r.Request), "", 1)
		}
		list[i].Text, list[i].Hint = sentence(r.Text), sentence(r.Hint)
	}
	return list
}

// sentence writes a line of an error as people read it: with a capital letter and a full stop.
func sentence(text string) string {
	if text == "" {
		return ""
	}
	first, size := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(first)) + strings.TrimSuffix(text[size:], ".") + "."
}

func stepOf(q url.Values, steps int) int {
	n, err := strconv.Atoi(q.Get("step"))
	if err != nil || n < 1 {
		return 0
	}
	return min(n, steps)
}

// fromOf is how many steps the list leaves out at its beginning: without a wish its end is shown.
func fromOf(q url.Values, steps int) int {
	n, err := strconv.Atoi(q.Get("from"))
	if err != nil || n < 0 || n >= steps {
		return max(steps-mostEntries, 0)
	}
	return n
}

func listFrom(path string, q url.Values, from int) string {
	values := url.Values{"from": {strconv.Itoa(from)}}
	for _, name := range []string{"step", "unfold"} {
		if q.Has(name) {
			values[name] = q[name]
		}
	}
	return path + "?" + values.Encode() + "#journal"
}

// money writes millionths as people write money. What is not known is not written.
func money(millionths int64) string {
	if millionths <= 0 {
		return ""
	}
	text := strconv.FormatFloat(float64(millionths)/1e6, 'f', 6, 64)
	whole, part, _ := strings.Cut(text, ".")
	return whole + "." + part[:2] + strings.TrimRight(part[2:], "0")
}

// serveTimeline is the picture alone.
func (v *visit) serveTimeline() error {
	tl, err := v.timelineOf(holdshort.RunID(v.r.PathValue("id")))
	if err != nil {
		return err
	}
	now, past := v.now, false
	if n := stepOf(v.r.URL.Query(), len(tl.Journal)); n > 0 {
		tl, now = asOf(tl, n)
		past = true
	}
	return v.part(200, "timeline", pageTimeline(tl, v.r.URL.Query(), now, past))
}

// cancelRun ends a run, once: whoever clicks twice finds it canceled.
func (v *visit) cancelRun() error {
	form, err := v.form()
	if err != nil {
		return err
	}
	id := holdshort.RunID(v.r.PathValue("id"))
	_, err = v.engine.Cancel(v.ctx, v.tenant(), id, v.actor(), strings.TrimSpace(form.Get("reason")))
	return v.changed(id, err, func(run holdshort.Run) bool { return run.Status == holdshort.RunCanceled })
}

// retryRun lets a failed or held run go on.
func (v *visit) retryRun() error {
	id := holdshort.RunID(v.r.PathValue("id"))
	_, err := v.engine.Retry(v.ctx, v.tenant(), id, v.actor())
	return v.changed(id, err, func(run holdshort.Run) bool {
		return run.Status != holdshort.RunFailed && run.Held == nil && !run.Status.Ended()
	})
}

// changed leads back to the run, also if it stands already where somebody wanted to have it.
func (v *visit) changed(id holdshort.RunID, err error, done func(holdshort.Run) bool) error {
	if holdshort.CodeOf(err) == holdshort.WrongState {
		if run, e := v.engine.RunFor(v.ctx, v.tenant(), id, v.actor()); e == nil && done(run) {
			err = nil
		}
	}
	if err != nil {
		return err
	}
	return v.redirect("/runs/" + url.PathEscape(string(id)))
}
