package config

// Model is a language model.
type Model struct {
	Provider string   `yaml:"provider" need:"yes" enum:"openai,anthropic" doc:"Which protocol it speaks; openai is any compatible endpoint."`
	Model    string   `yaml:"model" need:"yes" doc:"Name of the model at the provider."`
	BaseURL  string   `yaml:"base_url" doc:"Address of the endpoint. Default: the provider's."`
	APIKey   string   `yaml:"api_key" secret:"yes" doc:"Key for the endpoint; take it from the environment: ${NAME}."`
	Timeout  Duration `yaml:"timeout" doc:"Of one call. Default: 60s."`
}

// Agent is a model with instructions and tools.
type Agent struct {
	Model        string   `yaml:"model" need:"yes" doc:"One of models."`
	Instructions string   `yaml:"instructions" doc:"What it is told first."`
	SessionStore string   `yaml:"session_store" doc:"One of stores: its pauses then outlive the process. Default: none."`
	Task         *Task    `yaml:"task" doc:"How its runs wait."`
	Tools        []string `yaml:"tools" doc:"Which of tools it may use."`
}

// Task is how an agent's runs wait. A configuration without it is valid.
type Task struct {
	Backend      string   `yaml:"backend" enum:"memory,sql" doc:"Where runs are kept; decided by session_store, read for compatibility."`
	WorkerPool   int      `yaml:"worker_pool" min:"0" doc:"How many runs at once. Default: the server's own."`
	SQL          Free     `yaml:"sql" doc:"Read for compatibility: a server has one store."`
	InputTimeout Duration `yaml:"input_timeout" doc:"How long a person has to answer. Default: 600 seconds."`
	Timeout      Duration `yaml:"timeout" doc:"Of a whole run. Default: none."`
	HITL         *HITL    `yaml:"hitl" doc:"Whether callers wait through pauses."`
}

// HITL is the mode of a pause.
type HITL struct {
	Mode string `yaml:"mode" doc:"auto (default), blocking or async."`
}

// mode is what the agent wrote, "" if nothing.
func (a Agent) mode() string {
	if a.Task == nil || a.Task.HITL == nil {
		return ""
	}
	return a.Task.HITL.Mode
}
