package web_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/holdshort/holdshort/tool"
	"github.com/holdshort/holdshort/tool/web"
)

func Example() {
	shop := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Println(r.Method, r.RequestURI, r.Header.Get("Idempotency-Key"))
		fmt.Fprint(w, `{"refund":{"id":"re_1","state":"paid"}}`)
	}))
	defer shop.Close()

	refund, err := web.New("orders.refund", web.Config{
		URL:               shop.URL + "/orders/{order}/refunds",
		Body:              json.RawMessage(`{"amount":"{amount}"}`),
		IdempotencyHeader: "Idempotency-Key",
		Response:          "refund",
		ExternalIDs:       map[string]string{"refund": "refund.id"},
	})
	if err != nil {
		panic(err)
	}
	for _, order := range []string{"77", "../admin"} {
		args, _ := json.Marshal(map[string]any{"order": order, "amount": 12})
		result, err := refund.Call(context.Background(), tool.Call{OperationID: "op_1", Args: args})
		fmt.Println(string(result.Value), result.ExternalIDs, err)
	}
	// Output:
	// POST /orders/77/refunds op_1
	// {"id":"re_1","state":"paid"} map[refund:[re_1]] <nil>
	//  map[] order: it is part of a path, so it can hold no slash and cannot be . or ..
}
