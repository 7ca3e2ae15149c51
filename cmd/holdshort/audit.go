package main

type auditCommand struct {
	Verify verifyCommand `cmd:"" help:"Walk the whole log and report every place where it is not what was written."`
	Export exportCommand `cmd:"" help:"Write every event and seal as NDJSON, one record per line."`
}

func (auditCommand) Help() string {
	return `Every event carries the hash of the one before it in its stream, and seals are signed roots over all streams. Both commands only read, also beside a running server.

Examples:

    holdshort audit verify
    holdshort audit export --out audit.ndjson`
}
