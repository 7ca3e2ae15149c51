package api

import (
	"encoding/json"
	"io"
	"math"
	"net/http"
	"strconv"
	"time"
)

// answer writes what an endpoint gives.
func (c *call) answer(out any) error {
	status := c.status
	if status == 0 {
		status = c.about.status
	}
	if status == 0 {
		status = http.StatusOK
	}
	h := c.w.Header()
	h.Set("Cache-Control", "no-store")
	if _, empty := out.(none); empty {
		if c.status == 0 {
			status = http.StatusNoContent
		}
		c.w.WriteHeader(status)
		return nil
	}
	body, err := json.Marshal(out)
	if err != nil {
		return err
	}
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(body)+1))
	control := http.NewResponseController(c.w)
	control.SetWriteDeadline(time.Now().Add(c.options.Timeout)) // who does not read is let go
	defer control.SetWriteDeadline(time.Time{})                 // the connection may be used again
	c.w.WriteHeader(status)
	c.w.Write(append(body, '\n')) // whoever does not listen any more cannot be told
	return nil
}

func write(w io.Writer, v any) { json.NewEncoder(w).Encode(v) }

// Page is one page of a list.
type Page[T any] struct {
	Items []T     `json:"items"`
	Next  *string `json:"next_cursor"`
}

func page[T, U any](items []T, next string, show func(T) U) Page[U] {
	out := Page[U]{Items: make([]U, 0, len(items))}
	for _, item := range items {
		out.Items = append(out.Items, show(item))
	}
	if next != "" {
		out.Next = &next
	}
	return out
}

// Paging is how a list is asked for.
type Paging struct {
	Limit  int
	Cursor string
}

const (
	mostItems    = 200
	defaultItems = 50
)

func (c *call) paging(limit int, cursor string) (Paging, error) {
	switch {
	case limit > mostItems:
		return Paging{}, bad("limit", "it is over 200", "read page by page")
	case limit == 0:
		limit = defaultItems
	case len(cursor) > 1024:
		return Paging{}, bad("cursor", "it is not one that this server gave", "take next_cursor of the page before, or none")
	}
	return Paging{limit, cursor}, nil
}

const longestWait = time.Minute

// waiting checks how long a caller wants to wait.
func waiting(d time.Duration) error {
	if d > longestWait {
		return bad("wait", "it is over 60s", "wait up to 60s and ask again")
	}
	return nil
}

func seconds(d time.Duration) string { return strconv.Itoa(int(math.Ceil(d.Seconds()))) }
