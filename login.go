package holdshort

import "time"

// LoginKind says what a login's token is good for.
type LoginKind string

const (
	LoginLink    LoginKind = "link"    // once, for a session
	LoginSession LoginKind = "session" // until it expires or is ended
)

// Login stands behind a one-time link or a cookie. The token itself is nowhere: only its SHA-256 is stored.
type Login struct {
	Hash      string    `json:"-"` // hexadecimal
	Kind      LoginKind `json:"kind"`
	Actor     Actor     `json:"actor"`
	CreatedAt time.Time `json:"created_at"`
	ExpiresAt time.Time `json:"expires_at"`
	UsedAt    time.Time `json:"used_at,omitzero"` // of a link: when it became a session; of a session: when it was ended
}

// Live reports whether the login opens anything at now.
func (l Login) Live(now time.Time) bool { return l.UsedAt.IsZero() && now.Before(l.ExpiresAt) }
