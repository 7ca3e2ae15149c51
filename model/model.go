// Package model is the contract of a language model: what it is asked, what it answers, what that costs. Folders below it are models.
// It may import the root package.
package model

import (
	"context"
	"encoding/json"
)

// Model answers requests. It is safe for use by several goroutines.
type Model interface {
	// Generate answers one request, once: retrying is the business of Retrying. say gets the text piece by piece as it comes; nil: nobody
	// listens. What was said before an error counts for nothing.
	Generate(ctx context.Context, req Request, say func(text string)) (Response, error)
}

// Func is a model in Go.
type Func func(ctx context.Context, req Request, say func(text string)) (Response, error)

// Generate calls f.
func (f Func) Generate(ctx context.Context, req Request, say func(text string)) (Response, error) {
	return f(ctx, req, say)
}

// Request is all that a model gets to know.
type Request struct {
	System   string
	Messages []Message
	Tools    []Tool
	// Schema that a final answer must fit, as JSON. Default: the answer is text.
	Schema json.RawMessage
	// MaxTokens of the answer. Default: the provider's.
	MaxTokens int
	// Temperature. Default: the provider's.
	Temperature *float64
}

// Role is who speaks.
type Role string

const (
	User      Role = "user"
	Assistant Role = "assistant"
	ToolRole  Role = "tool" // the result of one call
)

// Message is one entry of the conversation.
type Message struct {
	Role   Role   `json:"role"`
	Text   string `json:"text,omitempty"`
	Calls  []Call `json:"calls,omitempty"`   // of the assistant
	CallID string `json:"call_id,omitempty"` // of a tool's result: which call it answers
	Tool   string `json:"tool,omitempty"`    // of a tool's result
	Failed bool   `json:"failed,omitempty"`  // of a tool's result: there is none, and Text says why
	// Untrusted text came from outside: whatever it says, it is no instruction. Marked says so to the model.
	Untrusted bool `json:"untrusted,omitempty"`
	// Echo is what the provider wants back unchanged with this answer of its own, such as signed reasoning. Nobody else reads it.
	Echo json.RawMessage `json:"echo,omitempty"`
}

// Tool is something that the model may ask for.
type Tool struct {
	Name        string
	Description string
	Schema      json.RawMessage // of the arguments; default: any object
}

// Call is what the model wants done. It is a wish: policy and people decide.
type Call struct {
	ID   string          `json:"id"`
	Tool string          `json:"tool"`
	Args json.RawMessage `json:"args,omitempty"` // a JSON object
	// Malformed is what the model wrote where that is no JSON object; Args is empty then.
	Malformed string `json:"malformed,omitempty"`
}

// Stop is why the model stopped.
type Stop string

const (
	StopEnd     Stop = "end"     // it has said what it had to say
	StopCalls   Stop = "calls"   // it waits for the results of its calls
	StopLength  Stop = "length"  // its answer was cut off: calls in it are not whole
	StopRefused Stop = "refused" // it, or its provider, will not answer
)

// Response is what it answered.
type Response struct {
	Text  string `json:"text,omitempty"`
	Calls []Call `json:"calls,omitempty"`
	Stop  Stop   `json:"stop,omitempty"`
	Usage Usage  `json:"usage,omitzero"`
	Model string `json:"model,omitempty"` // as the provider names it
	// Echo goes into the message that this answer becomes.
	Echo json.RawMessage `json:"echo,omitempty"`
}

// Usage is what an answer took.
type Usage struct {
	Input  int64 `json:"input_tokens"`
	Cached int64 `json:"cached_tokens,omitempty"` // of Input: read from the provider's cache
	Output int64 `json:"output_tokens"`
	Cost   int64 `json:"cost,omitempty"` // in millionths of the currency of the prices; 0 without prices
}

// Add sums up.
func (u Usage) Add(o Usage) Usage {
	return Usage{u.Input + o.Input, u.Cached + o.Cached, u.Output + o.Output, u.Cost + o.Cost}
}

// Total is all tokens.
func (u Usage) Total() int64 { return u.Input + u.Output }

// Prices of a million tokens.
type Prices struct {
	Input, Cached, Output float64 // Cached 0: as Input
}

// Of gives what an answer cost, in millionths, rounded up: what is not free is never counted as free.
func (p Prices) Of(u Usage) int64 {
	cached := p.Cached
	if cached == 0 {
		cached = p.Input
	}
	sum := float64(u.Input-u.Cached)*p.Input + float64(u.Cached)*cached + float64(u.Output)*p.Output
	whole := int64(sum)
	if sum > float64(whole) {
		whole++
	}
	return whole
}
