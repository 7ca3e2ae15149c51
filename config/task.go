package config

import "strings"

// Task is how an agent's runs wait. A configuration without it is valid.
type Task struct {
	Backend      string   `yaml:"backend" enum:"memory,sql" doc:"Where runs are kept. It states what stores says and must agree with it: sql for a database, memory for a store in memory. Default: as stores says."`
	WorkerPool   int      `yaml:"worker_pool" min:"0" doc:"How many runs at once. Default: the server's own."`
	SQL          Free     `yaml:"sql" doc:"States the driver of the store: {driver: sqlite} or {driver: postgres}. It takes no other key: the database is stores.NAME.url. Default: as stores says."`
	InputTimeout Duration `yaml:"input_timeout" doc:"How long a person has to answer. Default: 600 seconds."`
	Timeout      Duration `yaml:"timeout" doc:"Of a whole run. Default: none."`
	HITL         *HITL    `yaml:"hitl" doc:"Whether callers wait through pauses."`
}

// HITL is the mode of a pause.
type HITL struct {
	Mode string `yaml:"mode" doc:"auto (default), blocking or async."`
}

// Values of Task.Backend.
const (
	backendMemory = "memory"
	backendSQL    = "sql"
)

// storeOf returns the store that the runs of an agent are kept in, and its path. A server without stores keeps them
// in a SQLite file.
func (c *checker) storeOf(a Agent) (path string, s Store) {
	for name, only := range c.Stores {
		if a.SessionStore == "" || a.SessionStore == name {
			return join("stores", name), only
		}
	}
	return "stores.NAME", Store{URL: "sqlite:./holdshort.db"}
}

// task checks that backend and sql agree with the store: no value may be ignored.
func (c *checker) task(path string, a Agent) {
	if a.Task == nil {
		return
	}
	storePath, store := c.storeOf(a)
	if store.URL == "" || c.isUnread(storePath+".url") {
		return
	}
	database := "the database is " + storePath + ".url"
	switch a.Task.Backend {
	case backendMemory:
		if store.Durable() {
			c.wrong(path+".backend", "write backend: sql, or take it out; "+database,
				"runs are kept in a database, not in memory")
		}
	case backendSQL:
		if !store.Durable() {
			c.wrong(path+".backend", "write backend: memory, or take it out; "+database,
				"runs are kept in memory, not in a database")
		}
	}
	driver := "sqlite"
	if !strings.HasPrefix(store.URL, "sqlite:") {
		driver = "postgres"
	}
	for _, key := range sorted(a.Task.SQL) {
		inner := join(path+".sql", key)
		switch value := a.Task.SQL[key]; {
		case key != "driver":
			c.wrong(inner, "take it out; "+database,
				"an agent has no database of its own: runs are kept in the server's one store")
		case value != driver:
			c.wrong(inner, "write driver: "+driver+", or take it out; "+database,
				"runs are not kept there: the driver of the store is %s", driver)
		}
	}
}
