package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
)

func good() Tool {
	return Tool{Name: "refund", Call: func(context.Context, Call) (Result, error) { return Result{}, nil }}
}

func TestPrepareTakesTheCarefulDefaults(t *testing.T) {
	got, err := good().Prepare()
	if err != nil {
		t.Fatal(err)
	}
	if got.Effect != Write || got.Reversible != Irreversible || got.Idempotent || got.Timeout != DefaultTimeout || got.Retries != 0 || got.Concurrency != 0 {
		t.Errorf("defaults are %+v", got)
	}
	if got.RepeatSafe() || good().RepeatSafe() {
		t.Error("a tool that says nothing of itself may be repeated")
	}
	if err := got.Validate(json.RawMessage(`{"any":"thing"}`)); err != nil || got.SchemaHash() != "" {
		t.Errorf("without a schema: %v, hash %q", err, got.SchemaHash())
	}
}

func TestPrepareRefuses(t *testing.T) {
	tests := []struct {
		name   string
		change func(*Tool)
		field  string
	}{
		{"no name", func(t *Tool) { t.Name = "" }, "name"},
		{"a long name", func(t *Tool) { t.Name = strings.Repeat("a", 201) }, "name"},
		{"a name with a zero byte", func(t *Tool) { t.Name = "a\x00b" }, "name"},
		{"a name of two lines", func(t *Tool) { t.Name = "a\nb" }, "name"},
		{"a name that is no text", func(t *Tool) { t.Name = "a\xff" }, "name"},
		{"no function", func(t *Tool) { t.Call = nil }, "call"},
		{"an unknown effect", func(t *Tool) { t.Effect = "reed" }, "effect"},
		{"an unknown word for undoing", func(t *Tool) { t.Reversible = "maybe" }, "reversible"},
		{"a negative timeout", func(t *Tool) { t.Timeout = -1 }, "timeout"},
		{"negative retries", func(t *Tool) { t.Retries = -1 }, "timeout"},
		{"negative concurrency", func(t *Tool) { t.Concurrency = -1 }, "timeout"},
		{"a schema that is none", func(t *Tool) { t.Schema = json.RawMessage(`{"type":"strin"}`) }, "schema"},
		{"a schema of another document", func(t *Tool) { t.Schema = json.RawMessage(`{"$ref":"https://example.org/a"}`) }, "schema"},
		{"a schema that never ends", func(t *Tool) { t.Schema = json.RawMessage(`{"$ref":"#"}`) }, "schema"},
	}
	for _, tt := range tests {
		tool := good()
		tt.change(&tool)
		_, err := tool.Prepare()
		var e *holdshort.Error
		if !errors.As(err, &e) || e.Code != holdshort.Invalid || e.Field != tt.field || holdshort.HintOf(err) == "" || !strings.HasPrefix(e.Op, "register tool") {
			t.Errorf("%s: %v, want invalid %s with a hint", tt.name, err, tt.field)
		}
	}
}

func TestPrepareTakesWhatIsDeclared(t *testing.T) {
	tool := good()
	tool.Effect, tool.Reversible, tool.Timeout, tool.Schema = Read, External, time.Minute, json.RawMessage(`{"type":"object","required":["order"]}`)
	got, err := tool.Prepare()
	if err != nil {
		t.Fatal(err)
	}
	if got.Effect != Read || got.Reversible != External || got.Timeout != time.Minute || got.SchemaHash() == "" {
		t.Errorf("gives %+v", got)
	}
	if err := got.Validate(json.RawMessage(`{"order":"77"}`)); err != nil {
		t.Error(err)
	}
	if err := got.Validate(json.RawMessage(`{}`)); !errors.Is(err, holdshort.DoesNotFit) {
		t.Errorf("arguments without an order: %v", err)
	}
}

func TestRepeatSafe(t *testing.T) {
	for _, tt := range []struct {
		tool Tool
		want bool
	}{{Tool{}, false}, {Tool{Effect: Write}, false}, {Tool{Effect: Read}, true}, {Tool{Effect: Write, Idempotent: true}, true}} {
		if got := tt.tool.RepeatSafe(); got != tt.want {
			t.Errorf("effect %q, idempotent %v: %v", tt.tool.Effect, tt.tool.Idempotent, got)
		}
	}
}

// Only proof that nothing happened is definite.
func TestIsDefinite(t *testing.T) {
	refused := errors.New("refused")
	declares := Tool{Definite: func(err error) bool { return errors.Is(err, refused) }}
	loud := Tool{Definite: func(error) bool { panic("no") }}
	tests := []struct {
		name string
		tool Tool
		err  error
		want bool
	}{
		{"no error", declares, nil, false},
		{"no error marked", Tool{}, Definite(nil), false},
		{"any error", Tool{}, refused, false},
		{"marked", Tool{}, Definite(refused), true},
		{"marked and wrapped", Tool{}, fmt.Errorf("refund: %w", Definite(refused)), true},
		{"never sent", Tool{}, NotSent(io.EOF), true},
		{"declared", declares, fmt.Errorf("refund: %w", refused), true},
		{"not declared", declares, io.ErrUnexpectedEOF, false},
		{"marked, whatever is declared", declares, Definite(io.EOF), true},
		{"a declaration that panics", loud, refused, false},
		{"marked, before a declaration that panics", loud, Definite(refused), true},
		{"time is up", Tool{}, context.DeadlineExceeded, false},
		{"canceled", Tool{}, context.Canceled, false},
	}
	for _, tt := range tests {
		if got := tt.tool.IsDefinite(tt.err); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
	if err := Definite(refused); !errors.Is(err, refused) || err.Error() != "refused" {
		t.Errorf("a marked error reads %v", err)
	}
}

func TestStatusError(t *testing.T) {
	definite := map[int]bool{400: true, 401: true, 403: true, 404: true, 405: true, 410: true, 422: true, 429: true}
	for status := 300; status < 600; status++ {
		err := StatusError(status, "sorry")
		if got := (Tool{}).IsDefinite(err); got != definite[status] {
			t.Errorf("status %d: definite is %v", status, got)
		}
		if want := fmt.Sprintf("status %d: sorry", status); err.Error() != want {
			t.Errorf("text is %q, want %q", err, want)
		}
	}
}
