// Package status says how HTTP calls the kernel's errors.
// It imports the nouns and the engine's codes.
package status

import (
	"net/http"

	"github.com/holdshort/holdshort"
)

// of is the one table from codes to HTTP. What is not in it is a fault of ours: 500, and only its code is told.
var of = map[holdshort.Code]int{
	holdshort.Unauthenticated:     http.StatusUnauthorized,
	holdshort.Invalid:             http.StatusBadRequest,
	holdshort.NotCanonical:        http.StatusBadRequest,
	holdshort.FlowUnknown:         http.StatusBadRequest,
	holdshort.ToolUnknown:         http.StatusBadRequest,
	holdshort.AgentUnknown:        http.StatusBadRequest,
	holdshort.NotFound:            http.StatusNotFound,
	holdshort.Forbidden:           http.StatusForbidden,
	holdshort.Denied:              http.StatusForbidden,
	holdshort.Expired:             http.StatusGone,
	holdshort.Closed:              http.StatusConflict,
	holdshort.AlreadyVoted:        http.StatusConflict,
	holdshort.FingerprintMismatch: http.StatusConflict,
	holdshort.WrongState:          http.StatusConflict,
	holdshort.Conflict:            http.StatusConflict,
	holdshort.Duplicate:           http.StatusConflict,
	holdshort.DecisionUsed:        http.StatusConflict,
	holdshort.SeveralOpen:         http.StatusConflict,
	holdshort.LeaseLost:           http.StatusConflict,
	holdshort.ArgsChanged:         http.StatusConflict,
	holdshort.MissingResult:       http.StatusConflict,
	holdshort.MACInvalid:          http.StatusConflict,
	holdshort.KeyUnknown:          http.StatusConflict,
	holdshort.Corrupt:             http.StatusConflict,
	holdshort.SessionTaken:        http.StatusConflict,
	holdshort.TooLarge:            http.StatusRequestEntityTooLarge,
	holdshort.DoesNotFit:          http.StatusUnprocessableEntity,
	holdshort.InvalidReply:        http.StatusUnprocessableEntity,
	holdshort.KeyReused:           http.StatusUnprocessableEntity,
	holdshort.LimitReached:        http.StatusTooManyRequests,
	holdshort.RateLimited:         http.StatusTooManyRequests,
	holdshort.TimedOut:            http.StatusGatewayTimeout,
	holdshort.StoreUnavailable:    http.StatusServiceUnavailable,
	holdshort.StoreFull:           http.StatusServiceUnavailable,
	holdshort.StoreReadOnly:       http.StatusServiceUnavailable,
	holdshort.StoreLocked:         http.StatusServiceUnavailable,
	holdshort.StoreClosed:         http.StatusServiceUnavailable,
	holdshort.OutcomeUnknown:      http.StatusServiceUnavailable,
	holdshort.Quarantined:         http.StatusServiceUnavailable,
	holdshort.NotReady:            http.StatusServiceUnavailable,
}

// Of gives the HTTP status of a code, 0 for one that callers are not told.
func Of(code holdshort.Code) int { return of[code] }
