package openai_test

import (
	"net/http"
	"testing"

	"github.com/holdshort/holdshort/model"
	"github.com/holdshort/holdshort/model/internal/wiretest"
	"github.com/holdshort/holdshort/model/openai"
)

func FuzzStream(f *testing.F) {
	wiretest.FuzzStream(f, "testdata/stream", func(client *http.Client) (model.Model, error) {
		return openai.New(openai.Config{BaseURL: "http://127.0.0.1", Model: "m", Client: client, Prices: model.Prices{Input: 3, Cached: 1, Output: 15}, MaxAnswer: 1 << 16})
	})
}
