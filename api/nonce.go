package api

import "crypto/rand"

// nonce is for one page: only what carries it may style or run there.
func nonce() string { return rand.Text() }
