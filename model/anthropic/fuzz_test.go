package anthropic_test

import (
	"net/http"
	"testing"

	"github.com/holdshort/holdshort/model"
	"github.com/holdshort/holdshort/model/anthropic"
	"github.com/holdshort/holdshort/model/internal/wiretest"
)

func FuzzStream(f *testing.F) {
	wiretest.FuzzStream(f, "testdata/stream", func(client *http.Client) (model.Model, error) {
		return anthropic.New(anthropic.Config{BaseURL: "http://127.0.0.1", Model: "m", Client: client, Prices: model.Prices{Input: 3, Cached: 1, Output: 15}, MaxAnswer: 1 << 16})
	})
}
