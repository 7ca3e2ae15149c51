package store

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/holdshort/holdshort"
)

// A seat is where somebody looks for what waits for them. Each open request stands at the seats of its audience.
const (
	// NamedSeat has every request that names roles or users: it is the reviewers'.
	NamedSeat = "r:reviewer"
	// RestSeat has every other one. The two together are everything, and have nothing in common.
	RestSeat = "-"
)

func RoleSeat(role string) string  { return seat("r:", role) }
func UserSeat(user string) string  { return seat("u:", user) }
func OwnerSeat(user string) string { return seat("o:", user) }

// seat keeps a name short enough for a key, and writable in every database.
func seat(kind, name string) string {
	if len(name) <= 128 && utf8.ValidString(name) && strings.IndexByte(name, 0) < 0 {
		return kind + name
	}
	sum := sha256.Sum256([]byte(name))
	return kind + "#" + hex.EncodeToString(sum[:])
}

// Seats are those of a request, each once.
func Seats(req *holdshort.Request) []string {
	a := &req.Audience
	out := make([]string, 1, 2)
	out[0] = RestSeat
	if len(a.Roles) > 0 || len(a.Users) > 0 {
		out[0] = NamedSeat
	}
	add := func(seat string) {
		if !slices.Contains(out, seat) {
			out = append(out, seat)
		}
	}
	for _, role := range a.Roles {
		add(RoleSeat(role))
	}
	for _, user := range a.Users {
		add(UserSeat(user))
	}
	if a.Owner && req.Requester.User != "" {
		add(OwnerSeat(req.Requester.User))
	}
	return out
}

// DeskQuery selects open requests at seats.
type DeskQuery struct {
	Seats     []string
	Kinds     []holdshort.Kind // none: all
	Priority  holdshort.Priority
	Assignee  string
	DueBefore time.Time
	Order     RequestOrder
	Cursor    string
	Limit     int
}

// DeskTally is how much stands at seats. Oldest is of all of it.
type DeskTally struct {
	All        Tally
	Mine       Tally // assigned to whom the tally is for
	Soon       Tally // due before the moment that was asked for
	ByKind     map[holdshort.Kind]Tally
	ByPriority map[holdshort.Priority]Tally
}

// DecidedQuery selects closed requests, the last closed first; those of one actor by when they decided.
type DecidedQuery struct {
	Status holdshort.RequestStatus
	By     string // who decided or voted
	Cursor string
	Limit  int
}

// DeskReader finds what waits for somebody, and what was decided. It reads a bounded number of rows, however many there are.
type DeskReader interface {
	// Seated reports whether every open request has its seats. Until then a desk shows only a part.
	Seated() (bool, error)
	// Desk lists what stands at the seats, each request once. Where few fit the filters, a page may be short, and its cursor goes on.
	Desk(DeskQuery) (Page[holdshort.Request], error)
	// DeskTally counts it; mine is an assignee, soon a moment.
	DeskTally(seats []string, mine string, soon time.Time) (DeskTally, error)
	// Decided lists closed requests.
	Decided(DecidedQuery) (Page[holdshort.Request], error)
}
