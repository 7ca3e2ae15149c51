"""Ask a person before acting, with nothing but the standard library: raise, wait, claim once, act, report the outcome."""
import json
import os
import sys
import urllib.request


def call(method, path, body=None, key=None):
    """One call of the API. The key makes a repeated POST the same call."""
    headers = {"Authorization": "Bearer " + os.environ["HOLDSHORT_TOKEN"], "Content-Type": "application/json"}
    if key:
        headers["Idempotency-Key"] = key
    data = json.dumps(body).encode() if body is not None else None
    request = urllib.request.Request(os.environ["HOLDSHORT_URL"] + path, data, headers, method=method)
    with urllib.request.urlopen(request, timeout=60) as answer:  # raises on 4xx and 5xx; a real agent tries 503 again, with the same key
        return json.load(answer)


def main(order):
    req = call("POST", "/v1/requests", {
        "kind": "approval",
        "question": f"Refund 120 EUR for order {order}?",
        "actions": [{"tool": "payments.refund", "args": {"order": order, "amount": 120}}],
    }, key="refund-" + order)
    path = "/v1/requests/" + req["id"]
    while req["status"] == "open":
        req = call("GET", path + "?wait=30s")
    if req.get("outcome") not in ("approved", "edited"):
        print("not refunded:", req["status"], req.get("outcome"))
        return
    claim = call("POST", path + "/claim", {"lease": "1m"})  # handed out once: whoever comes second gets a 409
    action = claim["actions"][0]
    print("refunding", json.dumps(action["args"]), "as", action["operation_id"])  # act here, with this id as the other side's idempotency key
    operation = call("POST", path + "/outcome", {"claim_token": claim["claim_token"], "call_id": action["call_id"], "status": "done"})
    print("reported:", operation["status"])


if __name__ == "__main__":
    main(sys.argv[1])
