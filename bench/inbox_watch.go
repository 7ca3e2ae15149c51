package bench

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"strconv"
	"sync"
	"time"
)

// WatchInbox has n live pages open at the server that in names (its address, then a key for each page, a line each) and reads all that they are
// told. It says when they are open, and then of one page in fifty the requests that it is told of and when, in nanoseconds.
func WatchInbox(ctx context.Context, n int, in io.Reader, out io.Writer) error {
	lines := bufio.NewScanner(in)
	if !lines.Scan() {
		return io.ErrUnexpectedEOF
	}
	address := lines.Text()
	var (
		mu     sync.Mutex // of out, and of first
		first  error
		opened sync.WaitGroup
		ended  sync.WaitGroup
	)
	door := make(chan struct{}, 64)
	for i := range n {
		if !lines.Scan() {
			return io.ErrUnexpectedEOF
		}
		key := lines.Text()
		opened.Add(1)
		ended.Go(func() {
			door <- struct{}{}
			said := sync.OnceFunc(func() {
				<-door
				opened.Done()
			})
			defer said()
			err := watchInbox(ctx, address, key, said, func(id []byte, at time.Time) {
				if i%50 == 0 {
					mu.Lock()
					defer mu.Unlock()
					fmt.Fprintln(out, string(id), strconv.FormatInt(at.UnixNano(), 10))
				}
			})
			if err != nil && ctx.Err() == nil {
				mu.Lock()
				defer mu.Unlock()
				first = err
				fmt.Fprintln(out, "ended", err)
			}
		})
	}
	opened.Wait()
	mu.Lock()
	if first == nil {
		fmt.Fprintln(out, "open")
	}
	mu.Unlock()
	ended.Wait()
	return first
}

var inboxRowMark = []byte(`{"id":"`)

// watchInbox is one page: it reads what it is told until the connection ends.
func watchInbox(ctx context.Context, address, key string, hello func(), row func(id []byte, at time.Time)) error {
	conn, err := net.DialTimeout("tcp", address, 30*time.Second)
	if err != nil {
		return err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	if _, err := fmt.Fprintf(conn, "GET /live?view= HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer %s\r\n\r\n", key); err != nil {
		return err
	}
	from := bufio.NewReaderSize(conn, 16<<10)
	greeted := false
	for {
		line, err := from.ReadSlice('\n')
		if err == bufio.ErrBufferFull { // rows of a busy moment: what is cut is only counted late
			err = nil
		}
		if err != nil {
			return err
		}
		if !greeted {
			if bytes.HasPrefix(line, []byte("HTTP/1.1 ")) && !bytes.HasPrefix(line[9:], []byte("200")) {
				return fmt.Errorf("open a live page: %s", bytes.TrimSpace(line))
			}
			if greeted = bytes.Equal(bytes.TrimSpace(line), []byte("event: hello")); greeted {
				hello()
			}
			continue
		}
		now := time.Now()
		for rest := line; ; {
			_, after, ok := bytes.Cut(rest, inboxRowMark)
			id, more, closed := bytes.Cut(after, []byte(`"`))
			if !ok || !closed {
				break
			}
			row(id, now)
			rest = more
		}
	}
}
