// Package setup turns a configuration into what an engine runs: models, tools, policy and agents, each fault with its place in the file.
// It may import config, agent, the kernel's packages, and every model and tool; cmd/holdshort and programs that embed the engine use it.
package setup
