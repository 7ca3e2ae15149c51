package api_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/holdshort/holdshort/internal/testnode"
)

// The document is judged by somebody else's validator, and every row of the published table is in it.
func TestOpenAPI(t *testing.T) {
	d := newDoor(t)
	raw := d.get(t, "/openapi.json", http.StatusOK)
	folder := testnode.Install(t, "@seriousme/openapi-schema-validator@2.8.0")
	said := testnode.Run(t, folder, `
import { Validator } from "@seriousme/openapi-schema-validator";
import { readFileSync } from "node:fs";
const v = new Validator();
const res = await v.validate(JSON.parse(readFileSync(0, "utf8")));
console.log(res.valid ? "valid " + v.version : JSON.stringify(res.errors, null, 1));
`, raw)
	if strings.TrimSpace(said) != "valid 3.1" {
		t.Errorf("the validator says: %.4000s", said)
	}
	var doc struct {
		Paths map[string]map[string]struct {
			OperationID string `json:"operationId"`
		} `json:"paths"`
	}
	if err := json.Unmarshal(raw, &doc); err != nil {
		t.Fatal(err)
	}
	for _, row := range promised {
		method, path, _ := strings.Cut(row, " ")
		if doc.Paths[path][strings.ToLower(method)].OperationID == "" {
			t.Errorf("%s is promised and not there", row)
		}
	}
	seen := map[string]bool{}
	for path, methods := range doc.Paths {
		for method, op := range methods {
			if seen[op.OperationID] {
				t.Errorf("%s %s: the operation id %s stands twice", method, path, op.OperationID)
			}
			seen[op.OperationID] = true
		}
	}
}

// promised is the published table.
var promised = strings.Split(strings.TrimSpace(`
POST /v1/sessions
GET /v1/sessions/{id}
DELETE /v1/sessions/{id}
POST /v1/sessions/{id}/messages
GET /v1/sessions/{id}/messages
POST /v1/sessions/{id}/messages/{msg}/pin
POST /v1/sessions/{id}/messages/{msg}/unpin
GET /v1/sessions/{id}/events
GET /v1/events
POST /v1/sessions/{id}/takeover
POST /v1/sessions/{id}/handback
POST /v1/sessions/{id}/say
POST /v1/runs
GET /v1/runs
GET /v1/runs/{id}
GET /v1/runs/{id}/journal
GET /v1/runs/{id}/operations
POST /v1/runs/{id}/cancel
POST /v1/runs/{id}/retry
GET /v1/requests
GET /v1/requests/{id}
POST /v1/requests
POST /v1/requests/{id}/decision
POST /v1/requests/{id}/reply
POST /v1/requests/{id}/claim
POST /v1/requests/{id}/outcome
POST /v1/requests/{id}/extend
POST /v1/requests/decisions
POST /v1/requests/{id}/cancel
POST /v1/requests/{id}/assign
POST /v1/requests/{id}/comment
POST /v1/escalations/resolve
POST /v1/resume/{request_id}
POST /tealagents/v1alpha1/resume/{request_id}
GET /v1/webhooks
POST /v1/webhooks
DELETE /v1/webhooks/{id}
POST /v1/webhooks/{id}/test
GET /v1/webhooks/{id}/deliveries
POST /v1/webhooks/{id}/deliveries/{delivery}/redeliver
GET /v1/keys
POST /v1/keys
DELETE /v1/keys/{id}
GET /v1/me
GET /v1/stats
GET /r/{request}
GET /healthz
GET /readyz
GET /metrics
`), "\n")
