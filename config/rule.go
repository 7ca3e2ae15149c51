package config

// Rule is one policy: a condition, and what then holds.
type Rule struct {
	Name  string `yaml:"name" doc:"For people and the log."`
	When  string `yaml:"when" need:"yes" doc:"Condition over tool, args, effect, actor, session, agent, cost, time."`
	Ask   *Ask   `yaml:"ask" doc:"A person decides."`
	Allow bool   `yaml:"allow" doc:"It runs."`
	Deny  bool   `yaml:"deny" doc:"It does not run."`
}

// Ask says who decides, and how.
type Ask struct {
	Owner     bool     `yaml:"owner" doc:"The session's own user may."`
	Users     []string `yaml:"users" doc:"These people may."`
	Roles     []string `yaml:"roles" doc:"Whoever has one of these roles may. Default: reviewer."`
	Quorum    int      `yaml:"quorum" min:"0" doc:"How many approvals it takes. Default: 1."`
	Separate  bool     `yaml:"separate" doc:"Whoever asked never counts."`
	ExpiresIn Duration `yaml:"expires_in" doc:"How long it waits: 10m, 24h, or never. Default: 10 minutes."`
	ValidFor  Duration `yaml:"valid_for" doc:"How long an approval is good. Default: 24h."`
	OnTimeout string   `yaml:"on_timeout" enum:"fail,resume,clear,escalate,approve" doc:"What happens when nobody answers. Default: fail."`
	OnReject  string   `yaml:"on_reject" enum:"continue,cancel,return" doc:"What happens after a no. Default: continue."`
	Editable  []string `yaml:"editable" doc:"Arguments that a decider may change; *: all."`
	Redacted  []string `yaml:"redacted" doc:"Arguments that are hidden until somebody who may decide asks for them."`
	Blind     []string `yaml:"blind" doc:"Redacted arguments that may be approved unseen."`
	Priority  string   `yaml:"priority" enum:"low,normal,high,critical" doc:"Default: normal."`
	Question  string   `yaml:"question" doc:"Text of the question. Default: one that names the call."`
}
