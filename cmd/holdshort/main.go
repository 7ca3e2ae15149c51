// Command holdshort is the one binary: it reads flags, wires the packages and prints what they answer, one file per subcommand.
// It may import everything in this module and the command-line parser; nothing imports it.
package main

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
)

// grammar is the command line: a subcommand is one field here and one file beside this one.
type grammar struct {
	Demo       demoCommand       `cmd:"" help:"Try it: a server with a sample business, offline, nothing to set up."`
	Serve      serveCommand      `cmd:"" help:"Run the server."`
	Chat       chatCommand       `cmd:"" help:"Talk to an agent."`
	Inbox      inboxCommand      `cmd:"" help:"Look at what waits for people, and decide it."`
	Show       showCommand       `cmd:"" help:"Show a request."`
	Approve    approveCommand    `cmd:"" help:"Approve a request."`
	Reject     rejectCommand     `cmd:"" help:"Reject a request."`
	Answer     answerCommand     `cmd:"" help:"Answer a question."`
	Edit       editCommand       `cmd:"" help:"Approve a call with other arguments."`
	Cancel     cancelCommand     `cmd:"" help:"Call a request off."`
	Runs       runsCommand       `cmd:"" help:"Look at runs, cancel or retry them."`
	Keys       keysCommand       `cmd:"" help:"Make, list and revoke API keys."`
	Config     configCommand     `cmd:"" help:"Check a configuration, or print its schema."`
	Policy     policyCommand     `cmd:"" help:"Try policies on cases, or on the calls that were."`
	Tools      toolsCommand      `cmd:"" help:"List the tools of a configuration, and pin those of MCP servers."`
	Migrate    migrateCommand    `cmd:"" help:"Bring the store's schema up to date, or look whether it is."`
	Audit      auditCommand      `cmd:"" help:"Verify or export the audit log."`
	Doctor     doctorCommand     `cmd:"" help:"Look at the store and say what is wrong and what to do."`
	Bench      benchCommand      `cmd:"" help:"Measure how fast this machine commits."`
	Torture    tortureCommand    `cmd:"" help:"Kill processes at random and count broken promises."`
	Completion completionCommand `cmd:"" help:"Print a script that completes commands in your shell."`
	Version    versionCommand    `cmd:"" help:"Print the version of this build."`

	TortureWorker  tortureWorkerCommand  `cmd:"" hidden:""`
	TortureCounter tortureCounterCommand `cmd:"" hidden:""`
}

func main() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400) // the heap is small: collecting it less often costs a few megabytes and saves a fifth of the work
	}
	signal.Ignore(syscall.SIGPIPE) // a reader that had enough is an error of Write, not our end
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the process at once
	code := run(ctx, os.Args[1:], terminal(), &grammar{})
	stop()
	os.Exit(code)
}
