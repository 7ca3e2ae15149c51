// Package torture is the proof: it ends the kernel at every moment that it can find, starts it again, and counts what was promised and not kept.
// It may import every package below cmd.
//
// The deterministic half lives in one process: each Scenario is played once without a fault, which counts its calls of the store, then once
// for every such call, with the engine dying just before it or just after it (a Fault). What the outside world saw, what every transaction
// wrote and what the database holds in the end must agree with the ten promises.
package torture
