package sdkcheck

import (
	"errors"
	"testing"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/holdshort/holdshort/model"
	"github.com/holdshort/holdshort/model/openai"
)

var errUnfinished = errors.New("no choice that ended")

// openaiDiffers is where we read more than their SDK, for endpoints that speak the protocol a little differently, or less.
var openaiDiffers = map[string]string{
	"far_index":       "we take any number for a call, they only near ones",
	"unnumbered":      "we tell calls without numbers apart by their ids, they glue them together",
	"without_ids":     "we make up ids that are missing",
	"usage_each_time": "we take a repeated count as the new one, they add it up",
	"absurd_usage":    "we keep counts within what can be",
	"whole/parts":     "we read a list of parts as text",
}

func openaiClient(url string) sdk.Client {
	return sdk.NewClient(option.WithBaseURL(url), option.WithAPIKey("none"), option.WithMaxRetries(0))
}

func openaiParams() sdk.ChatCompletionNewParams {
	return sdk.ChatCompletionNewParams{Model: "sample", Messages: []sdk.ChatCompletionMessageParamUnion{sdk.UserMessage("Hello")}}
}

func TestOpenAIStreams(t *testing.T) {
	for name, file := range files(t, "../../model/openai/testdata/stream/*.sse") {
		t.Run(name, func(t *testing.T) {
			url := serve(t, "text/event-stream", file)
			m, err := openai.New(openai.Config{BaseURL: url, Model: "sample"})
			if err != nil {
				t.Fatal(err)
			}
			mine, mineErr := ours(t, m, true)

			client := openaiClient(url)
			stream := client.Chat.Completions.NewStreaming(t.Context(), openaiParams())
			var all sdk.ChatCompletionAccumulator
			theirsErr := error(nil)
			for stream.Next() {
				if !all.AddChunk(stream.Current()) {
					theirsErr = errors.New("a chunk that their accumulator does not take")
				}
			}
			if err := stream.Err(); err != nil {
				theirsErr = err
			}
			theirs, err := openaiReading(all.ChatCompletion)
			compare(t, name, openaiDiffers, mine, mineErr, theirs, errors.Join(theirsErr, err))
		})
	}
}

func TestOpenAIDocuments(t *testing.T) {
	for name, file := range files(t, "../../model/openai/testdata/whole/*.json") {
		t.Run(name, func(t *testing.T) {
			url := serve(t, "application/json", file)
			m, err := openai.New(openai.Config{BaseURL: url, Model: "sample"})
			if err != nil {
				t.Fatal(err)
			}
			mine, mineErr := ours(t, m, false)

			client := openaiClient(url)
			theirs := reading{}
			answer, theirsErr := client.Chat.Completions.New(t.Context(), openaiParams())
			if theirsErr == nil {
				theirs, theirsErr = openaiReading(*answer)
			}
			compare(t, "whole/"+name, openaiDiffers, mine, mineErr, theirs, theirsErr)
		})
	}
}

// openaiReading puts their words into ours.
func openaiReading(c sdk.ChatCompletion) (reading, error) {
	if len(c.Choices) == 0 || c.Choices[0].FinishReason == "" {
		return reading{}, errUnfinished
	}
	choice := c.Choices[0]
	out := reading{Text: choice.Message.Content + choice.Message.Refusal, Usage: model.Usage{
		Input: c.Usage.PromptTokens, Cached: c.Usage.PromptTokensDetails.CachedTokens, Output: c.Usage.CompletionTokens,
	}}
	switch choice.FinishReason {
	case "length":
		out.Stop = model.StopLength
		return out, nil // we pass on no calls that may have been cut off
	case "content_filter":
		out.Stop = model.StopRefused
		return out, nil
	case "tool_calls":
		out.Stop = model.StopCalls
	case "stop":
		out.Stop = model.StopEnd
	}
	if choice.Message.Refusal != "" {
		out.Stop = model.StopRefused
	}
	for _, c := range choice.Message.ToolCalls {
		out.Calls = append(out.Calls, call{c.ID, c.Function.Name, compact(c.Function.Arguments)})
	}
	return out, nil
}

func TestOpenAIRequests(t *testing.T) {
	for name, req := range requests() {
		t.Run(name, func(t *testing.T) {
			for _, say := range []func(string){nil, func(string) {}} {
				body := sent(t, func(url string) (model.Model, error) {
					return openai.New(openai.Config{BaseURL: url, Model: "sample", Strict: true})
				}, req, say)
				fits(t, body, new(sdk.ChatCompletionNewParams))
			}
		})
	}
}
