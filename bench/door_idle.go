package bench

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"os/exec"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/holdshort/holdshort"
)

// idle holds many connections that have nothing to say, from a process of their own, and sees what they cost the server.
func (out *Door) idle(ctx context.Context, d *door, o Options) error {
	if o.IdleConnections == 0 || o.Self == "" {
		return nil
	}
	for _, kind := range []string{"events", "poll"} {
		o.Progress(fmt.Sprintf("%d idle connections: %s", o.IdleConnections, kind))
		before := settledMemory()
		ctx, cancel := context.WithCancel(ctx)
		cmd := exec.CommandContext(ctx, o.Self, "bench", "--hold", strconv.Itoa(o.IdleConnections), "--looks", "0", "--folder", ".")
		request, err := out.waiting(ctx, d)
		if err != nil {
			cancel()
			return err
		}
		path := "/v1/events"
		if kind == "poll" {
			path = "/v1/requests/" + string(request) + "?wait=60s"
		}
		cmd.Stdin = strings.NewReader(strings.TrimPrefix(d.url, "http://") + "\n" + path + "\n" + d.secret + "\n")
		said, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			cancel()
			return err
		}
		line, err := bufio.NewReader(said).ReadString('\n')
		if err != nil || strings.TrimSpace(line) != "held" {
			cancel()
			cmd.Wait()
			return fmt.Errorf("hold %d connections: %q: %w", o.IdleConnections, line, err)
		}
		each := float64(settledMemory()-before) / float64(o.IdleConnections)
		if kind == "poll" {
			out.PollBytes = each
		} else {
			out.EventBytes = each
		}
		cancel()
		cmd.Wait() // it was ended
	}
	return nil
}

// settledMemory is what the process keeps once it has been quiet for some minutes: every collection of garbage halves stacks that have become
// too large.
func settledMemory() int64 {
	for range 4 {
		debug.FreeOSMemory()
	}
	return residentMemory()
}

// waiting is a request that stays open.
func (out *Door) waiting(ctx context.Context, d *door) (holdshort.RequestID, error) {
	var run shownRun
	if err := d.call(ctx, "POST", "/v1/runs", map[string]any{"flow": cycleFlow.Name, "input": input}, &run); err != nil {
		return "", err
	}
	if len(run.OpenRequests) != 1 {
		return "", fmt.Errorf("run %s asks nothing", run.ID)
	}
	return holdshort.RequestID(run.OpenRequests[0]), nil
}

// Hold opens n connections to what in names (address, path, key, a line each), waits on all of them and says so.
func Hold(ctx context.Context, n int, in io.Reader, out io.Writer) error {
	lines := bufio.NewScanner(in)
	var said [3]string
	for i := range said {
		if !lines.Scan() {
			return io.ErrUnexpectedEOF
		}
		said[i] = lines.Text()
	}
	var mu sync.Mutex
	var conns []net.Conn
	var first error
	var wg sync.WaitGroup
	tokens := make(chan struct{}, 64)
	for range n {
		wg.Go(func() {
			tokens <- struct{}{}
			defer func() { <-tokens }()
			conn, err := net.DialTimeout("tcp", said[0], 30*time.Second)
			if err == nil {
				_, err = fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer %s\r\n\r\n", said[1], said[2])
			}
			if err == nil && strings.HasPrefix(said[1], "/v1/events") { // a stream says hello
				_, err = bufio.NewReaderSize(conn, 256).ReadString('\n')
			}
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				first = err
				return
			}
			conns = append(conns, conn)
		})
	}
	wg.Wait()
	if first != nil {
		return first
	}
	if err := pause(ctx, 2*time.Second); err != nil { // until the server has read them all
		return err
	}
	fmt.Fprintln(out, "held")
	<-ctx.Done()
	for _, conn := range conns {
		conn.Close()
	}
	return nil
}
