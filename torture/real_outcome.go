package torture

import (
	"context"
	"math/rand/v2"
	"net/http"
	"strings"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
)

// outcome is what a claimer says.
type outcome struct {
	Token       string                    `json:"claim_token"`
	CallID      string                    `json:"call_id"`
	Status      holdshort.OperationStatus `json:"status"`
	ExternalIDs map[string][]string       `json:"external_ids,omitempty"`
}

// forged is a token that differs in one digit.
func forged(token string) string {
	last := "0"
	if strings.HasSuffix(token, last) {
		last = "1"
	}
	return token[:len(token)-1] + last
}

// report says what became of a call; again, and otherwise, and with a token that is none.
func (l *load) report(ctx context.Context, r *rand.Rand, me string, id holdshort.RequestID, token string, action engine.ClaimedAction, status holdshort.OperationStatus) bool {
	send := func(token string, status holdshort.OperationStatus) (reply, error) {
		a, _, err := l.public.door.until(ctx, visit{method: http.MethodPost, path: "/v1/requests/" + string(id) + "/outcome", secret: l.public.keys[me], final: true,
			body: outcome{token, action.CallID, status, map[string][]string{"receipt": {action.OperationID}}}})
		return a, err
	}
	if r.IntN(8) == 0 {
		if a, err := send(forged(token), status); err == nil {
			if l.ledger.add(&l.ledger.refused); a.status != http.StatusForbidden && a.status != http.StatusNotFound {
				l.ledger.report.Violate(NeverUnasked, "%s: a report with a forged token was answered with %d %s", id, a.status, a.code())
			}
		}
	}
	a, err := send(token, status)
	switch {
	case err != nil:
		return false
	case a.code() == holdshort.Conflict: // a person settled it meanwhile
		l.ledger.add(&l.ledger.conflicts)
		return true
	case !a.ok():
		l.ledger.refusal("outcome", a)
		return true
	}
	op, err := read[holdshort.Operation](a)
	if err != nil || op.Status != status {
		l.ledger.report.Violate(AtMostOnce, "%s was reported %s and is answered as %q", action.OperationID, status, op.Status)
		return true
	}
	l.ledger.atGate(id, func(c *gateCase) { c.outcomes[action.OperationID] = status })
	if r.IntN(4) == 0 {
		if a, err := send(token, status); err == nil && !a.ok() {
			l.ledger.report.Violate(AtMostOnce, "%s: the same report again was answered with %d %s", action.OperationID, a.status, a.code())
		}
	}
	if other := map[holdshort.OperationStatus]holdshort.OperationStatus{holdshort.OperationDone: holdshort.OperationFailed, holdshort.OperationFailed: holdshort.OperationDone}[status]; r.IntN(4) == 0 {
		if a, err := send(token, other); err == nil {
			if l.ledger.add(&l.ledger.refused); a.code() != holdshort.Conflict {
				l.ledger.report.Violate(AtMostOnce, "%s: the opposite report was answered with %d %s", action.OperationID, a.status, a.code())
			}
		}
	}
	return true
}
