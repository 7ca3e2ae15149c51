package inbox

import (
	"bufio"
	"context"
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/policy"
)

// exportPage is how many events are read at a time.
const exportPage = 200

// exportedEvent is an event with its own hash, so that another program can check the chain.
type exportedEvent struct {
	holdshort.Event
	Prev string `json:"prev"`
	Hash string `json:"hash"`
}

// exportAudit streams what a search finds, the newest first, page by page: however much it is, one page of it is in memory. A file that ends
// early is broken off, never closed as if it were whole.
func (v *visit) exportAudit() error {
	if err := v.must(policy.ViewAudit); err != nil {
		return err
	}
	s := auditSearchOf(v.r.URL.Query())
	q, err := s.query(v.now)
	if err != nil {
		return err
	}
	q.Limit = exportPage
	format := v.r.URL.Query().Get("format")
	out := bufio.NewWriterSize(v.w, 64<<10)
	var write func(holdshort.Event) error
	var flush func() error
	switch format {
	case "csv":
		write, flush = csvOf(out, v.tenant())
	case "ndjson":
		write, flush = ndjsonOf(out, v.tenant())
	default:
		return &holdshort.Error{Code: holdshort.Invalid, Field: "format", Message: "there is no such format", Hint: "use csv or ndjson"}
	}
	ctx, cancel := context.WithCancel(v.r.Context()) // it may take longer than a page may
	defer cancel()
	defer context.AfterFunc(v.ending, cancel)()
	first, err := v.engine.AuditLog(ctx, v.tenant(), q, v.actor())
	if err != nil {
		return err
	}
	if v.beginExport(format); v.r.Method == http.MethodHead {
		return nil
	}
	return v.stream(ctx, q, first, out, write, flush)
}

func (v *visit) beginExport(format string) {
	h := v.w.Header()
	h.Set("Content-Type", map[string]string{"csv": "text/csv; charset=utf-8", "ndjson": "application/x-ndjson"}[format])
	h.Set("Content-Disposition", `attachment; filename="audit-`+v.now.UTC().Format("20060102-150405")+"."+format+`"`)
	h.Set("Content-Security-Policy", "default-src 'none'; sandbox")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no")
	v.w.WriteHeader(http.StatusOK)
}

func (v *visit) stream(ctx context.Context, q engine.AuditQuery, page engine.AuditPage, out *bufio.Writer, write func(holdshort.Event) error, flush func() error) error {
	control := http.NewResponseController(v.w)
	broken := func(err error) {
		if ctx.Err() == nil {
			v.log.Error("an export broke off", "error", err)
		}
		panic(http.ErrAbortHandler) // the status is sent: only a torn connection tells that this is not all
	}
	for {
		control.SetWriteDeadline(time.Now().Add(v.options.Timeout)) // of each page, not of the whole
		for _, e := range page.Items {
			if err := write(e); err != nil {
				broken(err)
			}
		}
		if err := flush(); err != nil {
			broken(err)
		}
		if page.Next == 0 {
			break
		}
		if err := control.Flush(); err != nil {
			broken(err)
		}
		q.Before = page.Next
		var err error
		if page, err = v.engine.AuditLog(ctx, v.tenant(), q, v.actor()); err != nil {
			broken(err)
		}
	}
	return nil
}

func ndjsonOf(out *bufio.Writer, tenant holdshort.TenantID) (write func(holdshort.Event) error, flush func() error) {
	lines := json.NewEncoder(out)
	return func(e holdshort.Event) error {
		hash := e.Hash(tenant)
		return lines.Encode(exportedEvent{e, hex.EncodeToString(e.Prev), hex.EncodeToString(hash[:])})
	}, out.Flush
}

// csvColumns name the columns of an exported table.
var csvColumns = []string{"position", "at", "type", "actor", "code", "request_id", "run_id", "session_id", "trace_id", "flow", "channel", "data", "stream", "seq", "prev", "hash", "id"}

func csvOf(out io.Writer, tenant holdshort.TenantID) (write func(holdshort.Event) error, flush func() error) {
	table := csv.NewWriter(out)
	table.UseCRLF = true
	head := false
	begin := func() error {
		if head {
			return nil
		}
		head = true
		return table.Write(csvColumns)
	}
	return func(e holdshort.Event) error {
			if err := begin(); err != nil {
				return err
			}
			hash := e.Hash(tenant)
			cells := []string{strconv.FormatInt(e.Position, 10), e.At.UTC().Format(time.RFC3339Nano), e.Type, e.Actor, e.Code, string(e.Request), string(e.Run), string(e.Session), e.Trace, e.Flow, e.Channel, string(e.Data),
				e.Stream, strconv.FormatInt(e.Seq, 10), hex.EncodeToString(e.Prev), hex.EncodeToString(hash[:]), string(e.ID)}
			for i := range cells {
				cells[i] = plainCell(cells[i])
			}
			return table.Write(cells)
		}, func() error {
			if err := begin(); err != nil {
				return err
			}
			table.Flush()
			if err := table.Error(); err != nil {
				return err
			}
			if b, ok := out.(*bufio.Writer); ok {
				return b.Flush()
			}
			return nil
		}
}

// plainCell keeps a spreadsheet from running what somebody wrote: a cell that begins like a formula gets an apostrophe before it.
func plainCell(text string) string {
	if text != "" && strings.ContainsRune("=+-@\t\r\n|%＝＋－＠", []rune(text)[0]) {
		return "'" + text
	}
	return text
}
