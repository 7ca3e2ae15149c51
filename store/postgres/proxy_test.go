package postgres

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/url"
	"strings"
	"sync"
	"testing"
)

// fate is what happens to a commit on its way.
type fate int

const (
	arrives    fate = iota
	neverSent       // the connection breaks before anything of the commit reached the server
	halfSent        // it breaks between the note of the commit and COMMIT itself
	unanswered      // the server commits, and the connection breaks before the answer arrived
	halfTold        // the connection breaks in the middle of the answer
	stalls          // the server commits, and the answer waits until it is let go
)

// proxy stands between a node and the server. It understands just enough of the protocol to see COMMIT pass by.
type proxy struct {
	listener net.Listener
	server   string
	done     sync.WaitGroup

	mu      sync.Mutex
	fates   []fate // of the next commits
	refuse  int    // connections to refuse; -1: all
	open    map[net.Conn]bool
	stalled chan struct{} // something waits
	release chan struct{}
}

// newProxy gives a proxy and the URL through which a node reaches its database.
func newProxy(t testing.TB, target string) (*proxy, string) {
	t.Helper()
	u, err := url.Parse(target)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{listener: l, server: u.Host, open: map[net.Conn]bool{}, stalled: make(chan struct{}, 16), release: make(chan struct{})}
	p.done.Go(p.accept)
	t.Cleanup(p.end)
	u.Host = l.Addr().String()
	return p, u.String()
}

func (p *proxy) end() {
	p.listener.Close()
	p.mu.Lock()
	for c := range p.open {
		c.Close()
	}
	p.mu.Unlock()
	p.done.Wait()
}

// decide says what becomes of the next commits, in their order; those after them arrive.
func (p *proxy) decide(fates ...fate) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fates = fates
}

// deny refuses so many new connections, -1 for all.
func (p *proxy) deny(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.refuse = n
}

func (p *proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		p.mu.Lock()
		refused := p.refuse != 0
		if p.refuse > 0 {
			p.refuse--
		}
		p.mu.Unlock()
		if refused {
			client.Close()
			continue
		}
		server, err := net.Dial("tcp", p.server)
		if err != nil {
			client.Close()
			continue
		}
		p.mu.Lock()
		p.open[client], p.open[server] = true, true
		p.mu.Unlock()
		l := &link{proxy: p, client: client, server: server, texts: map[string]string{}}
		p.done.Go(l.forward)
		p.done.Go(l.backward)
	}
}

// link is one connection of the node.
type link struct {
	proxy          *proxy
	client, server net.Conn
	texts          map[string]string // prepared statements by name
	fate           fate              // of the commit that this link carries
	committing     bool
	mu             sync.Mutex
}

func (l *link) cut() {
	l.client.Close()
	l.server.Close()
	l.proxy.mu.Lock()
	delete(l.proxy.open, l.client)
	delete(l.proxy.open, l.server)
	l.proxy.mu.Unlock()
}

// forward carries what the node says.
func (l *link) forward() {
	defer l.cut()
	if first, err := readStartup(l.client); err != nil || write(l.server, first) != nil {
		return
	}
	for {
		message, err := readMessage(l.client)
		if err != nil {
			return
		}
		text := l.statement(message)
		l.mu.Lock()
		if strings.HasPrefix(text, "INSERT INTO commits") && strings.Contains(text, ", 0)") && !l.committing { // the note that goes before a commit
			l.fate, l.committing = l.proxy.next(), true
		}
		end := l.committing && (l.fate == neverSent || l.fate == halfSent && strings.EqualFold(text, "COMMIT"))
		l.mu.Unlock()
		if end || write(l.server, message) != nil {
			return
		}
	}
}

func (p *proxy) next() fate {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.fates) == 0 {
		return arrives
	}
	f := p.fates[0]
	p.fates = p.fates[1:]
	return f
}

// statement gives the text that a message binds or asks.
func (l *link) statement(message []byte) string {
	body := message[5:]
	switch message[0] {
	case 'Q':
		return strings.TrimRight(string(body), "\x00")
	case 'P':
		name, rest, _ := bytes.Cut(body, []byte{0})
		text, _, _ := bytes.Cut(rest, []byte{0})
		l.texts[string(name)] = string(text)
	case 'B':
		_, rest, _ := bytes.Cut(body, []byte{0})
		name, _, _ := bytes.Cut(rest, []byte{0})
		return l.texts[string(name)]
	}
	return ""
}

// backward carries what the server says.
func (l *link) backward() {
	defer l.cut()
	for {
		message, err := readMessage(l.server)
		if err != nil {
			return
		}
		l.mu.Lock()
		f, committing := l.fate, l.committing
		answered := committing && message[0] == 'C' && string(message[5:]) == "COMMIT\x00"
		if answered {
			l.committing = false
		}
		l.mu.Unlock()
		if committing && (f == unanswered || f == halfTold) {
			if answered {
				if f == halfTold {
					write(l.client, message[:7])
				}
				return
			}
			continue // what precedes it stays here too
		}
		if answered && f == stalls {
			l.proxy.stalled <- struct{}{}
			<-l.proxy.release
		}
		if write(l.client, message) != nil {
			return
		}
	}
}

func readStartup(c net.Conn) ([]byte, error) {
	head := make([]byte, 4)
	if _, err := io.ReadFull(c, head); err != nil {
		return nil, err
	}
	return readRest(c, head, 4)
}

func readMessage(c net.Conn) ([]byte, error) {
	head := make([]byte, 5)
	if _, err := io.ReadFull(c, head); err != nil {
		return nil, err
	}
	return readRest(c, head, 5)
}

func readRest(c net.Conn, head []byte, size int) ([]byte, error) {
	length := int(binary.BigEndian.Uint32(head[size-4:]))
	if length < 4 || length > 64<<20 {
		return nil, errors.New("not a message of this protocol")
	}
	message := append(head, make([]byte, length-4)...)
	_, err := io.ReadFull(c, message[size:])
	return message, err
}

func write(c net.Conn, message []byte) error {
	_, err := c.Write(message)
	return err
}
