package api

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
)

const ndjson = "application/x-ndjson"

// streamHistory writes one message a line, page by page: neither the whole of it in memory, nor a transaction open while a slow reader reads.
func (c *call) streamHistory(q engine.HistoryQuery) error {
	control := http.NewResponseController(c.w)
	defer control.SetWriteDeadline(time.Time{}) // the connection may be used again
	begun := false
	begin := func() {
		if !begun {
			begun = true
			h := c.w.Header()
			h.Set("Content-Type", ndjson)
			h.Set("Cache-Control", "no-store")
			c.w.WriteHeader(http.StatusOK)
		}
	}
	lines := json.NewEncoder(c.w)
	n := 0
	err := c.engine.EachMessage(c.ctx, c.who.Tenant, q, func(m holdshort.Message) error {
		begin()
		if n++; n%mostItems == 1 {
			control.SetWriteDeadline(time.Now().Add(writeWithin))
		}
		return lines.Encode(m)
	})
	if err != nil && !begun {
		return err
	}
	begin()
	if err != nil { // the status is sent long ago: the last line says that something is missing
		lines.Encode(struct {
			Error Problem `json:"error"`
		}{c.problem(err)})
	}
	control.Flush()
	return nil
}

// derived is an id made of an idempotency key: the same for the same call of the same caller, and nobody else's.
func (c *call) derived(key string, i int) string {
	sum := sha256.Sum256([]byte(c.who.Actor.ID + "\x00" + c.who.Actor.ForUser + "\x00" + c.r.URL.Path + "\x00" + key))
	return "key:" + hex.EncodeToString(sum[:16]) + "/" + strconv.Itoa(i)
}
