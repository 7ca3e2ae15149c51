// Command go asks a person before it acts, with nothing but the standard library: raise, wait, claim once, act, report the outcome.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"
)

type object = map[string]any

// call is one call of the API. The key makes a repeated POST the same call.
func call(method, path, key string, body any) (int, object) {
	raw, err := json.Marshal(body)
	if err != nil {
		log.Fatal(err)
	}
	r, err := http.NewRequest(method, os.Getenv("HOLDSHORT_URL")+path, bytes.NewReader(raw))
	if err != nil {
		log.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+os.Getenv("HOLDSHORT_TOKEN"))
	r.Header.Set("Content-Type", "application/json")
	if key != "" {
		r.Header.Set("Idempotency-Key", key)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		log.Fatal(err) // a real agent tries again, with the same key
	}
	defer answer.Body.Close()
	var out object
	if err := json.NewDecoder(answer.Body).Decode(&out); err != nil || answer.StatusCode >= 400 {
		log.Fatal(answer.Status, " ", out["detail"], err)
	}
	return answer.StatusCode, out
}

func main() {
	order := os.Args[1]
	_, req := call("POST", "/v1/requests", "refund-"+order, object{"kind": "approval", "question": "Refund 120 EUR for order " + order + "?",
		"actions": []object{{"tool": "payments.refund", "args": object{"order": order, "amount": 120}}}})
	path := "/v1/requests/" + req["id"].(string)
	for req["status"] == "open" {
		_, req = call("GET", path+"?wait=30s", "", nil)
	}
	if req["outcome"] != "approved" && req["outcome"] != "edited" {
		fmt.Println("not refunded:", req["status"], req["outcome"])
		return
	}
	_, claim := call("POST", path+"/claim", "", object{"lease": "1m"}) // handed out once: whoever comes second gets a 409
	action := claim["actions"].([]any)[0].(object)
	fmt.Println("refunding", action["args"], "as", action["operation_id"]) // act here, with this id as the other side's idempotency key
	_, op := call("POST", path+"/outcome", "", object{"claim_token": claim["claim_token"], "call_id": action["call_id"], "status": "done"})
	fmt.Println("reported:", op["status"])
}
