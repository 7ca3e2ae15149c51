package holdshort

import (
	"crypto/rand"
	"log/slog" // want `imports log/slog in a pure package`
	"net/http" // want `imports net/http in a pure package`
	"net/url"
	"os"      // want `imports os in a pure package`
	"os/exec" // want `imports os/exec in a pure package`
	"time"
)

func due(at, now time.Time) bool { return !now.Before(at) }

func wait(d time.Duration) time.Time {
	go wait(d)        // want `starts a goroutine`
	_ = time.Since    // want `uses time.Since`
	<-time.After(d)   // want `uses time.After`
	return time.Now() // want `uses time.Now`
}
