// Package identity says who calls: an API key, a bearer token, a login or a personal link becomes an actor of one tenant. It decides nothing
// about requests; what somebody may do is for policy. It may import holdshort, engine and policy, and never sees the store.
//
// A call travels so: Identity.ResolveActor (resolve.go) → one credential (credential.go) → key.go, token.go or cookie.go → roles.go → Who.
package identity
