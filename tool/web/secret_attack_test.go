package web_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/holdshort/holdshort/tool"
	"github.com/holdshort/holdshort/tool/web"
)

// A server that sends back what it got must not hand the configuration's credentials to models, journals and people.
func TestSecretsThatComeBack(t *testing.T) {
	const secret = "Bearer sk-0123456789abcdef"
	for _, status := range []int{200, 400, 401, 422, 500} {
		for _, effect := range []tool.Effect{tool.Read, tool.Write} {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(status)
				_, _ = w.Write([]byte(`{"error":{"message":"no access with ` + r.Header.Get("Authorization") + `","param":"order"},"headers":["` + r.Header.Get("Authorization") + `"]}`))
			}))
			made, err := web.New("shop", web.Config{Method: "POST", URL: server.URL + "/{order}", Headers: map[string]string{"Authorization": secret}, Effect: effect})
			if err != nil {
				t.Fatal(err)
			}
			result, err := made.Call(t.Context(), tool.Call{Args: []byte(`{"order":"1"}`)})
			text := string(result.Value)
			if err != nil {
				text += err.Error()
			}
			if strings.Contains(text, "sk-0123456789abcdef") {
				t.Errorf("%d, %s: %s", status, effect, text)
			}
			server.Close()
		}
	}
}
