package engine

import (
	"encoding/json"

	"github.com/holdshort/holdshort"
)

// unsay marks the message of a delivery that is kept back for good: neither the user nor the model is to find it in the history as said.
func (c *change) unsay(d holdshort.Delivery) error {
	var body Outbound
	if json.Unmarshal(d.Body, &body) != nil || body.Message == "" {
		return nil // erased, or not of a chat
	}
	m, err := c.Message(body.Message)
	if holdshort.CodeOf(err) == holdshort.NotFound || err == nil && m.Type == holdshort.TypeSuppressed {
		return nil
	}
	if err != nil {
		return err
	}
	m.Type, m.ModelVisible = holdshort.TypeSuppressed, false
	return c.PutMessage(m)
}
