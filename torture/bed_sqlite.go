package torture

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/holdshort/holdshort/store"
	"github.com/holdshort/holdshort/store/sqlite"
)

// SQLite is a bed over one file in a folder. A process that comes after another opens it anew; one that comes beside shares it.
type SQLite struct {
	path  string
	shift atomic.Int64

	mu   sync.Mutex
	open *sqlite.Store
}

var _ Bed = (*SQLite)(nil)

// NewSQLite makes a bed in an empty folder.
func NewSQLite(dir string) *SQLite { return &SQLite{path: filepath.Join(dir, "torture.db")} }

// Copy makes a bed in an empty folder that begins as this one is, which must be closed: that saves thousands of passes the migrations.
func (b *SQLite) Copy(dir string) (*SQLite, error) {
	c := NewSQLite(dir)
	for _, part := range []string{"", ".keys", ".mark"} {
		content, err := os.ReadFile(b.path + part)
		if err == nil {
			err = os.WriteFile(c.path+part, content, 0o600)
		}
		if err != nil {
			return nil, err
		}
	}
	return c, nil
}

// Name of the store.
func (b *SQLite) Name() string { return "sqlite" }

// Now is the injected time.
func (b *SQLite) Now() time.Time { return time.Now().Add(time.Duration(b.shift.Load())) }

// Advance moves it.
func (b *SQLite) Advance(d time.Duration) { b.shift.Add(int64(d)) }

// Store opens the file.
func (b *SQLite) Store(beside bool) (store.Store, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if beside && b.open != nil {
		return b.open, nil
	}
	if b.open != nil {
		if err := b.open.Close(); err != nil {
			return nil, err
		}
	}
	s, err := sqlite.Open(context.Background(), b.path, sqlite.Options{Clock: b.Now, Logger: slog.New(slog.DiscardHandler)})
	b.open = s
	return s, err
}

// Keep makes a backup.
func (b *SQLite) Keep() error { return b.copyTo(b.path, b.path+".backup") }

// PutBack puts the backup in the place of what came after it.
func (b *SQLite) PutBack() error { return b.copyTo(b.path+".backup", b.path) }

func (b *SQLite) copyTo(from, to string) error {
	if err := b.Close(); err != nil {
		return err
	}
	content, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, content, 0o600)
}

// Close closes the file.
func (b *SQLite) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.open == nil {
		return nil
	}
	err := b.open.Close()
	b.open = nil
	return err
}
