package sdkcheck

import (
	"errors"
	"testing"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"github.com/holdshort/holdshort/model"
	"github.com/holdshort/holdshort/model/anthropic"
)

// anthropicDiffers is where we read more than their SDK, or less.
var anthropicDiffers = map[string]string{
	"far_index":           "we take any number for a block, they want them in order",
	"block_left_open":     "to us a call whose block never ended is cut off, to them it is a call without arguments",
	"arguments_not_json":  "we keep what was written, they make it a call without arguments",
	"piece_after_the_end": "to us a block that has ended does not grow",
	"twice_the_same_id":   "we make up ids that are missing or taken",
	"absurd_usage":        "we keep counts within what can be",
}

func anthropicClient(url string) sdk.Client {
	return sdk.NewClient(option.WithBaseURL(url), option.WithAPIKey("none"), option.WithMaxRetries(0))
}

func anthropicParams() sdk.MessageNewParams {
	return sdk.MessageNewParams{Model: "sample", MaxTokens: 100, Messages: []sdk.MessageParam{sdk.NewUserMessage(sdk.NewTextBlock("Hello"))}}
}

func TestAnthropicStreams(t *testing.T) {
	for name, file := range files(t, "../../model/anthropic/testdata/stream/*.sse") {
		t.Run(name, func(t *testing.T) {
			url := serve(t, "text/event-stream", file)
			m, err := anthropic.New(anthropic.Config{BaseURL: url, Model: "sample"})
			if err != nil {
				t.Fatal(err)
			}
			mine, mineErr := ours(t, m, true)

			client := anthropicClient(url)
			stream := client.Messages.NewStreaming(t.Context(), anthropicParams())
			var all sdk.Message
			var theirsErr error
			ended := false
			for stream.Next() && theirsErr == nil {
				theirsErr = all.Accumulate(stream.Current())
				ended = ended || stream.Current().Type == "message_stop"
			}
			theirsErr = errors.Join(theirsErr, stream.Err())
			if !ended {
				theirsErr = errors.Join(theirsErr, errUnfinished)
			}
			theirs, err := anthropicReading(all)
			compare(t, name, anthropicDiffers, mine, mineErr, theirs, errors.Join(theirsErr, err))
		})
	}
}

func TestAnthropicDocuments(t *testing.T) {
	for name, file := range files(t, "../../model/anthropic/testdata/whole/*.json") {
		t.Run(name, func(t *testing.T) {
			url := serve(t, "application/json", file)
			m, err := anthropic.New(anthropic.Config{BaseURL: url, Model: "sample"})
			if err != nil {
				t.Fatal(err)
			}
			mine, mineErr := ours(t, m, false)

			client := anthropicClient(url)
			theirs := reading{}
			answer, theirsErr := client.Messages.New(t.Context(), anthropicParams())
			if theirsErr == nil {
				theirs, theirsErr = anthropicReading(*answer)
			}
			compare(t, "whole/"+name, anthropicDiffers, mine, mineErr, theirs, theirsErr)
		})
	}
}

// anthropicReading puts their words into ours.
func anthropicReading(m sdk.Message) (reading, error) {
	if m.StopReason == "" {
		return reading{}, errUnfinished
	}
	u := m.Usage
	out := reading{Usage: model.Usage{Input: u.InputTokens + u.CacheCreationInputTokens + u.CacheReadInputTokens, Cached: u.CacheReadInputTokens, Output: u.OutputTokens}}
	for _, b := range m.Content {
		switch b.Type {
		case "text":
			out.Text += b.Text
		case "tool_use":
			out.Calls = append(out.Calls, call{b.ID, b.Name, compact(string(b.Input))})
		case "thinking", "redacted_thinking":
			out.Thinking = append(out.Thinking, b.Thinking+"|"+b.Signature+"|"+b.Data)
		}
	}
	switch m.StopReason {
	case "end_turn", "stop_sequence", "pause_turn":
		out.Stop = model.StopEnd
	case "tool_use":
		out.Stop = model.StopCalls
	case "max_tokens", "model_context_window_exceeded":
		out.Stop, out.Calls = model.StopLength, nil // we pass on no calls that may have been cut off
	case "refusal":
		out.Stop, out.Calls = model.StopRefused, nil
	}
	return out, nil
}

func TestAnthropicRequests(t *testing.T) {
	for name, req := range requests() {
		t.Run(name, func(t *testing.T) {
			for _, say := range []func(string){nil, func(string) {}} {
				body := sent(t, func(url string) (model.Model, error) {
					return anthropic.New(anthropic.Config{BaseURL: url, Model: "sample"})
				}, req, say)
				fits(t, body, new(sdk.MessageNewParams))
			}
		})
	}
}
