package torture

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/api"
)

// door is the public HTTP API as somebody outside meets it: whichever server is up, and nobody who says whether a call that broke was done.
type door struct {
	address func() string // of a server that is up, as far as anybody knows; "" while none is
	client  *http.Client
}

func newDoor(address func() string) door {
	return door{address: address, client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 128, DisableCompression: true}}}
}

// visit is one call, made again under the same key until somebody answers it.
type visit struct {
	method, path string
	secret       string
	key          string // Idempotency-Key
	body         any
	wait         time.Duration // the server may hold it so long
	final        bool          // a conflict is an answer, not a reason to try again
}

// reply is what a server answered.
type reply struct {
	status   int
	replayed bool
	raw      []byte
	problem  api.Problem
}

func (r reply) ok() bool { return r.status/100 == 2 }

// code is that of a refusal, "" of a success.
func (r reply) code() holdshort.Code { return r.problem.Code }

// read decodes the body of a success.
func read[T any](r reply) (out T, err error) {
	if err = json.Unmarshal(r.raw, &out); err != nil {
		err = &holdshort.Error{Code: holdshort.Internal, Op: "read an answer", Message: string(r.raw[:min(len(r.raw), 200)]), Err: err}
	}
	return out, err
}

const answerPatience = 3 * time.Second // whoever is frozen for longer is given up on

// once makes one attempt. An error means that nobody knows what became of it.
func (d door) once(ctx context.Context, v visit) (out reply, err error) {
	address := d.address()
	if address == "" {
		return out, errNobody
	}
	var body io.Reader
	if v.body != nil {
		raw, err := json.Marshal(v.body)
		if err != nil {
			return out, err
		}
		body = bytes.NewReader(raw)
	}
	ctx, cancel := context.WithTimeout(ctx, answerPatience+v.wait)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, v.method, address+v.path, body)
	if err != nil {
		return out, err
	}
	r.Header.Set("Authorization", "Bearer "+v.secret)
	if v.body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	if v.key != "" {
		r.Header.Set("Idempotency-Key", v.key)
	}
	answer, err := d.client.Do(r)
	if err != nil {
		return out, err
	}
	defer answer.Body.Close()
	if out.raw, err = io.ReadAll(answer.Body); err != nil {
		return out, err
	}
	out.status, out.replayed = answer.StatusCode, answer.Header.Get("Idempotent-Replayed") == "true"
	if out.ok() {
		return out, nil
	}
	if json.Unmarshal(out.raw, &out.problem) != nil || out.problem.Code == "" {
		out.problem = api.Problem{Status: out.status, Code: holdshort.Internal, Detail: string(out.raw[:min(len(out.raw), 200)])}
	}
	if out.status == http.StatusTooManyRequests {
		seconds, _ := strconv.Atoi(answer.Header.Get("Retry-After"))
		linger(ctx, time.Duration(min(seconds, 2))*time.Second)
	}
	return out, nil
}

// until makes a call again and again until somebody answers it. sent counts how often it may have been carried out.
func (d door) until(ctx context.Context, v visit) (out reply, sent int, err error) {
	for {
		out, err = d.once(ctx, v)
		if err != errNobody {
			sent++
		}
		if err == nil && !v.again(out) {
			return out, sent, nil
		}
		linger(ctx, time.Duration(5+rand.IntN(40))*time.Millisecond)
		if ctx.Err() != nil {
			return out, sent, ctx.Err()
		}
	}
}

// again reports whether an answer says nothing about the call.
func (v visit) again(r reply) bool {
	switch r.status {
	case http.StatusServiceUnavailable, http.StatusTooManyRequests, http.StatusBadGateway, http.StatusGatewayTimeout:
		return true
	}
	return !v.final && (r.code() == holdshort.Conflict || r.code() == holdshort.LeaseLost)
}
