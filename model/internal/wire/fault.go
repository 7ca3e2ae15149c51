package wire

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"strings"
	"syscall"

	"github.com/holdshort/holdshort/model"
)

// fault sorts an error of Do. a is nil while there is no answer.
func (e *Endpoint) fault(ctx, within context.Context, err error, a *Answer) error {
	if ended := ctx.Err(); ended != nil {
		return ended
	}
	var known *model.Error
	switch cause := context.Cause(within); {
	case errors.Is(err, errTooLarge):
		known = &model.Error{Kind: model.TooLarge, Message: errTooLarge.Error()}
	case errors.Is(cause, errSilent):
		known = &model.Error{Kind: model.Timeout, Message: "the provider said nothing for " + e.timeout.String()}
	case errors.Is(cause, errSlow):
		known = &model.Error{Kind: model.Timeout, Message: "the answer did not end within " + e.whole.String()}
	case errors.As(err, &known):
	case a == nil:
		known = unreachable(err)
	default:
		known = &model.Error{Kind: model.Truncated, Message: "the connection broke in the middle of the answer", Err: telling(a.broken)}
	}
	if a != nil && known.Status == 0 {
		known.Status = a.res.StatusCode
	}
	known.Message = e.scrub(known.Message)
	return known
}

func unreachable(err error) *model.Error {
	var slow interface{ Timeout() bool }
	if errors.As(err, &slow) && slow.Timeout() {
		return &model.Error{Kind: model.Timeout, Message: "the provider cannot be reached in time", Err: telling(err)}
	}
	known := &model.Error{Kind: model.Unreachable, Message: "the provider cannot be reached", Err: telling(err)}
	if known.Err != nil {
		known.Message += ": " + known.Err.Error()
	}
	return known
}

// telling gives the part of a connection's error that says what happened and cannot have an address, a header or a body in it; nil: none does.
func telling(err error) error {
	var op *net.OpError
	var dns *net.DNSError
	var certificate *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	var number syscall.Errno
	switch {
	case errors.As(err, &dns):
		return dns
	case errors.As(err, &number) && errors.As(err, &op):
		return op
	case errors.As(err, &certificate):
		return certificate
	case errors.As(err, &record):
		return errors.New("the other side does not speak TLS")
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return io.ErrUnexpectedEOF
	}
	return nil
}

// scrub is the last net: what a provider sent back must not carry a key into a log.
func (e *Endpoint) scrub(text string) string {
	for _, secret := range e.secrets {
		if len(secret) >= 6 {
			text = strings.ReplaceAll(text, secret, "[key]")
		}
	}
	return text
}
