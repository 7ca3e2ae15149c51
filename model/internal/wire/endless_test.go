package wire

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/holdshort/holdshort/model"
)

// A provider that shows signs of life and never ends is ended.
func TestEndlessAnswer(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			t.Error(err)
		}
		tick := time.NewTicker(time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-r.Context().Done():
				return
			case <-tick.C:
				if _, err := io.WriteString(w, ": still here\n\n"); err != nil {
					return
				}
				w.(http.Flusher).Flush()
			}
		}
	}))
	defer server.Close()
	e, err := New(Setup{BaseURL: server.URL, Model: "m", Timeout: time.Minute}, nil)
	if err != nil {
		t.Fatal(err)
	}
	e.whole = 50 * time.Millisecond
	err = e.Do(t.Context(), "x", true, func(a *Answer) error {
		_, err := a.Events().Next()
		return err
	})
	var known *model.Error
	if !errors.As(err, &known) || known.Kind != model.Timeout || known.Message != "the answer did not end within 50ms" {
		t.Errorf("%v", err)
	}
}
