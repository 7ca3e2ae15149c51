// Ask a person before acting, with nothing but what Node has: raise, wait, claim once, act, report the outcome.

// call is one call of the API. The key makes a repeated POST the same call.
async function call(method, path, body, key) {
  const headers = { Authorization: `Bearer ${process.env.HOLDSHORT_TOKEN}`, "Content-Type": "application/json" };
  if (key) headers["Idempotency-Key"] = key;
  const answer = await fetch(process.env.HOLDSHORT_URL + path, { method, headers, body: body && JSON.stringify(body) });
  const out = await answer.json();
  if (!answer.ok) throw new Error(`${answer.status} ${out.code}: ${out.detail}`); // a real agent tries 503 again, with the same key
  return out;
}

const order = process.argv[2];
let req = await call("POST", "/v1/requests", {
  kind: "approval",
  question: `Refund 120 EUR for order ${order}?`,
  actions: [{ tool: "payments.refund", args: { order, amount: 120 } }],
}, `refund-${order}`);
const path = `/v1/requests/${req.id}`;
while (req.status === "open") req = await call("GET", `${path}?wait=30s`);

if (!["approved", "edited"].includes(req.outcome)) {
  console.log("not refunded:", req.status, req.outcome);
} else {
  const claim = await call("POST", `${path}/claim`, { lease: "1m" }); // handed out once: whoever comes second gets a 409
  const [action] = claim.actions;
  console.log("refunding", JSON.stringify(action.args), "as", action.operation_id); // act here, with this id as the other side's idempotency key
  const operation = await call("POST", `${path}/outcome`, { claim_token: claim.claim_token, call_id: action.call_id, status: "done" });
  console.log("reported:", operation.status);
}
