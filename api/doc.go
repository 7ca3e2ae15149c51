// Package api is the HTTP door: it decodes a request, makes one call of the kernel and encodes the answer. It may import the root package,
// reply, engine, flow, policy, identity and internal/schema, never the store.
//
// A call travels so: Server.ServeHTTP (limits, who is it) → endpoint.serve (decode, scope) → the noun's own file (one engine method) →
// answer or problem. Every endpoint stands in one table (endpoints.go), from which the mux and the OpenAPI document are made.
package api
