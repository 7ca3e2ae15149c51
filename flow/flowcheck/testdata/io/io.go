package io

import (
	"context"
	"database/sql"
	"errors"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/holdshort/holdshort/flow"
)

func Load(c *flow.Context, db *sql.DB) (string, error) { // a parameter is no use
	home := os.Getenv("HOME")                       // want "os.Getenv reaches the machine"
	_, err := os.ReadFile(filepath.Join(home, "x")) // want "os.ReadFile reaches the machine"
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	_, _ = filepath.Glob("*")             // want "filepath.Glob reads the file system"
	_ = exec.Command("true").Run()        // want "exec.Command reaches the machine"
	_, _ = http.Get("http://localhost")   // want "http.Get uses the network"
	_, _ = net.Dial("tcp", "localhost:1") // want "net.Dial uses the network"
	_, _ = sql.Open("", "")               // want "sql.Open uses a database"
	_, _ = url.Parse("http://localhost")
	_ = http.StatusOK + len(http.MethodGet)
	fetch := func(ctx context.Context) (string, error) {
		_, err := http.Get("http://localhost")
		return "", err
	}
	direct := func() { _, _ = http.Get("http://localhost") } // want "http.Get uses the network"
	direct()
	return flow.Model(c, "fetch", fetch)
}
