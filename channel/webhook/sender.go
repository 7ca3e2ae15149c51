package webhook

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
)

// Options of a sender. The zero value sends to public addresses over https only.
type Options struct {
	// AllowHTTP sends without TLS where an address says so.
	AllowHTTP bool
	// AllowPrivate sends to loopback, link-local and private addresses too. Whoever can register a webhook can then reach them.
	AllowPrivate bool
	// AllowNetworks are private networks that may be sent to.
	AllowNetworks []netip.Prefix
	// Timeout of one attempt. Default: 15 seconds.
	Timeout time.Duration
	// Resolver looks names up. Default: the system's.
	Resolver *net.Resolver
	// Now is the clock that signs. Default: time.Now.
	Now func() time.Time
}

const (
	mostBody     = 1 << 20  // of what is sent
	mostAnswer   = 64 << 10 // of what is read back, and thrown away
	mostHeader   = 64 << 10
	longestAfter = 24 * time.Hour
)

// Sender carries notices to URLs.
type Sender struct {
	options Options
	guard   guard
	client  *http.Client
	kernel  kernel
}

// kernel is what it asks of the engine.
type kernel interface {
	TargetOf(ctx context.Context, tenant holdshort.TenantID, d holdshort.Delivery) (engine.Target, error)
	WebhookGone(ctx context.Context, tenant holdshort.TenantID, id holdshort.WebhookID) error
}

var (
	_ engine.Sender         = (*Sender)(nil)
	_ engine.Attached       = (*Sender)(nil)
	_ engine.Scheduled      = (*Sender)(nil)
	_ engine.Patient        = (*Sender)(nil)
	_ engine.AddressChecker = (*Sender)(nil)
)

// New makes a sender for engine.Config.Senders[engine.WebhookChannel]. It belongs to one engine.
func New(o Options) *Sender {
	if o.Timeout <= 0 {
		o.Timeout = 15 * time.Second
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	s := &Sender{options: o, guard: guard{private: o.AllowPrivate, allowed: o.AllowNetworks, plain: o.AllowHTTP}}
	dialer := &net.Dialer{Timeout: o.Timeout, Resolver: o.Resolver, Control: s.guard.control}
	s.client = &http.Client{
		Timeout: o.Timeout,
		// A redirect would take a signed body elsewhere.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			Proxy:                  nil, // one of the environment would look names up behind the guard's back
			DialContext:            dialer.DialContext,
			TLSHandshakeTimeout:    o.Timeout,
			ResponseHeaderTimeout:  o.Timeout,
			MaxResponseHeaderBytes: mostHeader,
			DisableCompression:     true,
			ForceAttemptHTTP2:      true,
			MaxIdleConns:           200,
			MaxIdleConnsPerHost:    4,
			IdleConnTimeout:        30 * time.Second,
		},
	}
	return s
}

// Attach is called by engine.New.
func (s *Sender) Attach(e *engine.Engine) { s.kernel = e }

// Timeout is a little longer than the client's, whose error says more.
func (s *Sender) Timeout() time.Duration { return s.options.Timeout + 2*time.Second }

// CheckAddress refuses what will not be sent to, as far as that is known without looking its name up.
func (s *Sender) CheckAddress(address string) error {
	_, err := s.guard.check(address)
	return err
}

// schedule is the specification's: the pauses after the first attempt, the second, and so on.
var schedule = []time.Duration{5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour, 10 * time.Hour, 14 * time.Hour, 20 * time.Hour, 24 * time.Hour}

// Pause is up to a fifth longer than the schedule says, so that receivers that come back are not met by everybody at once.
func (s *Sender) Pause(attempts int) (time.Duration, bool) {
	if attempts > len(schedule) {
		return 0, false
	}
	pause := schedule[max(attempts, 1)-1]
	return pause + time.Duration(rand.Int64N(int64(pause)/5)), true
}

// answer is a receiver's that was not 2xx.
type answer struct{ status int }

func (a answer) Error() string {
	return fmt.Sprintf("the receiver answered %d %s", a.status, http.StatusText(a.status))
}
func (a answer) Status() int   { return a.status }
func (a answer) Unwrap() error { return codeAnswered }

// Codes of what became of an attempt.
const (
	codeAnswered    holdshort.Code = "receiver_refused"
	codeUnreachable holdshort.Code = "receiver_unreachable"
)

// Send posts a notice, once. Any answer but 2xx is a failure; 410 turns the webhook off.
func (s *Sender) Send(ctx context.Context, tenant holdshort.TenantID, d holdshort.Delivery) error {
	if s.kernel == nil {
		return &holdshort.Error{Code: holdshort.Internal, Op: "send webhook", Message: "the sender belongs to no engine", Hint: "hand it to engine.Config.Senders"}
	}
	target, err := s.kernel.TargetOf(ctx, tenant, d)
	switch holdshort.CodeOf(err) {
	case "":
	case holdshort.NotFound, holdshort.WrongState:
		return engine.Refused(err)
	default:
		return err
	}
	r, err := s.request(ctx, target, d)
	if err != nil {
		return engine.Refused(err)
	}
	response, err := s.client.Do(r)
	if err != nil {
		return s.lost(err)
	}
	defer response.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(response.Body, mostAnswer)) // so that the connection can be used again
	if response.StatusCode/100 == 2 {
		return nil
	}
	return s.refused(ctx, tenant, target, response)
}

func (s *Sender) request(ctx context.Context, target engine.Target, d holdshort.Delivery) (*http.Request, error) {
	if len(d.Body) > mostBody {
		return nil, &holdshort.Error{Code: holdshort.TooLarge, Op: "send webhook", Message: fmt.Sprintf("it has %d bytes, the limit is %d", len(d.Body), mostBody)}
	}
	u, err := s.guard.check(target.URL)
	if err != nil {
		return nil, err
	}
	at := s.options.Now()
	signature, err := Sign(target.Secrets, d.Key, at, d.Body)
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, u.String(), bytes.NewReader(d.Body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", "holdshort-webhook/1")
	// As the specification writes them: HTTP does not care, a receiver that looks at raw names may.
	r.Header[IDHeader] = []string{d.Key}
	r.Header[TimestampHeader] = []string{strconv.FormatInt(at.Unix(), 10)}
	r.Header[SignatureHeader] = []string{signature}
	return r, nil
}

// lost is a request without an answer. One that the guard stopped is never tried again.
func (s *Sender) lost(err error) error {
	var refusal *holdshort.Error
	if errors.As(err, &refusal) {
		return engine.Refused(refusal)
	}
	var timeout net.Error
	if errors.As(err, &timeout) && timeout.Timeout() {
		return &holdshort.Error{Code: holdshort.TimedOut, Op: "send webhook", Message: fmt.Sprintf("no answer within %v", s.options.Timeout)}
	}
	return &holdshort.Error{Code: codeUnreachable, Op: "send webhook", Message: "the receiver cannot be reached", Err: err}
}

func (s *Sender) refused(ctx context.Context, tenant holdshort.TenantID, target engine.Target, response *http.Response) error {
	fault := error(answer{response.StatusCode})
	switch response.StatusCode {
	case http.StatusGone:
		if target.Webhook != "" {
			if err := s.kernel.WebhookGone(ctx, tenant, target.Webhook); err != nil {
				return errors.Join(fault, err) // it will say so again
			}
		}
		return engine.Refused(fault)
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		if pause, ok := retryAfter(response.Header.Get("Retry-After"), s.options.Now()); ok {
			return engine.RetryAfter(fault, pause)
		}
	}
	return fault
}

// retryAfter reads seconds, or a date.
func retryAfter(text string, now time.Time) (time.Duration, bool) {
	if seconds, err := strconv.ParseUint(text, 10, 31); err == nil {
		return min(time.Duration(seconds)*time.Second, longestAfter), true
	}
	at, err := http.ParseTime(text)
	if err != nil {
		return 0, false
	}
	return min(max(at.Sub(now), 0), longestAfter), true
}
