package store

// Schema is how far a database has come. A driver's Schema function looks without changing anything.
type Schema struct {
	Applied []Migration
	Pending []Migration
}

// Migration is one numbered step, forward only.
type Migration struct {
	Number int    `json:"number"`
	Name   string `json:"name"`
	SQL    string `json:"sql,omitempty"`
}
