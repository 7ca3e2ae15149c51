package config

// Model is a language model.
type Model struct {
	Provider    string       `yaml:"provider" need:"yes" enum:"openai,anthropic,script" doc:"Which protocol it speaks; openai is any compatible endpoint, script answers by rules written here."`
	Model       string       `yaml:"model" doc:"Name of the model at the provider. Needed unless the provider is script, which takes only prices and rules besides."`
	BaseURL     string       `yaml:"base_url" doc:"Address of the endpoint. Default: the provider's."`
	APIKey      string       `yaml:"api_key" secret:"yes" doc:"Key for the endpoint; take it from the environment: ${NAME}."`
	Timeout     Duration     `yaml:"timeout" doc:"How long the provider may be silent, before its answer and between two pieces of it; a whole answer may take ten times as long. Default: 60s."`
	Retries     *int         `yaml:"retries" min:"0" doc:"How often a call is made again that the provider could not answer. Default: 3."`
	MaxTokens   int          `yaml:"max_tokens" min:"0" doc:"Of one answer. Default: the provider's."`
	Temperature *float64     `yaml:"temperature" min:"0" doc:"Default: the provider's."`
	Prices      Prices       `yaml:"prices" doc:"Of a million tokens, for limits on cost. Default: none, nothing is counted."`
	Rules       []ScriptRule `yaml:"rules" doc:"Of a script: the first whose when fits the latest input answers."`
}

// Prices of a million tokens.
type Prices struct {
	Input  float64 `yaml:"input" min:"0" doc:"What the model reads."`
	Cached float64 `yaml:"cached" min:"0" doc:"Of that, what the provider had read before. Default: as input."`
	Output float64 `yaml:"output" min:"0" doc:"What the model writes."`
}

// ScriptRule is one answer of a script, and what it is the answer to.
type ScriptRule struct {
	When ScriptWhen   `yaml:"when" doc:"When it answers: all that is written must hold. Default: always."`
	Say  string       `yaml:"say" doc:"Text of the answer; $1 is a group of the pattern, {result} the result of the tool, {result.a.b} a part of it."`
	Call []ScriptCall `yaml:"call" doc:"What it wants done."`
	Wait Duration     `yaml:"wait" doc:"How long it thinks. Default: not at all."`
}

// ScriptWhen says which input a rule answers.
type ScriptWhen struct {
	User   string `yaml:"user" doc:"Regular expression found in what the user said last."`
	Tool   string `yaml:"tool" doc:"Tool whose result came last."`
	Result string `yaml:"result" doc:"Regular expression found in the result."`
	Failed *bool  `yaml:"failed" doc:"Whether there is a reason instead of a result. Default: either."`
}

// ScriptCall is a call that a script asks for.
type ScriptCall struct {
	Tool string `yaml:"tool" need:"yes" doc:"One of the agent's tools."`
	Args Free   `yaml:"args" doc:"Arguments; texts may have $1 and {result.x} in them."`
}

// endpointKeys returns the keys that are written and mean something only where a provider is asked.
func (m Model) endpointKeys() (keys []string) {
	for _, k := range []struct {
		name    string
		written bool
	}{
		{"model", m.Model != ""}, {"base_url", m.BaseURL != ""}, {"api_key", m.APIKey != ""},
		{"timeout", m.Timeout != 0}, {"retries", m.Retries != nil}, {"max_tokens", m.MaxTokens != 0},
		{"temperature", m.Temperature != nil},
	} {
		if k.written {
			keys = append(keys, k.name)
		}
	}
	return keys
}

func (c *checker) model(path string, m Model) {
	if m.Provider != "script" {
		c.address(path+".base_url", m.BaseURL)
	}
	if c.isUnread(path + ".provider") {
		return
	}
	if m.Provider == "script" {
		if len(m.Rules) == 0 {
			c.wrong(path+".rules", "add a rule with say or call", "a script needs at least one rule")
		}
		for _, key := range m.endpointKeys() {
			c.wrong(path+"."+key, "take it away, or write provider: openai or anthropic",
				"a script asks no provider: nothing would read this")
		}
		return
	}
	if m.Model == "" && m.Provider != "" {
		c.wrong(path+".model", "Name of the model at the provider.", "model is missing")
	}
	if len(m.Rules) > 0 {
		c.wrong(path+".rules", "write provider: script, or take the rules away", "only a script answers by rules")
	}
}
