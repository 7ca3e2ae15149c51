// Package demo is a sample business: an order desk that looks orders up, refunds, cancels and writes to customers, with people who have to say
// yes. It may import the root package, the kernel, setup, agent and client, and nothing outside this module.
package demo
