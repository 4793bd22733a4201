package gemini

import (
	"encoding/json"
	"slices"
	"strings"

	"orchestrator/contextmgr/wire"
	"orchestrator/thread"
)

// generated is an answer, or one chunk of it.
type generated struct {
	Candidates []struct {
		Index   int `json:"index"`
		Content struct {
			Parts []json.RawMessage `json:"parts"`
		} `json:"content"`
		Finish string `json:"finishReason"`
	} `json:"candidates"`
	Feedback struct {
		Block string `json:"blockReason"`
	} `json:"promptFeedback"`
	Usage    *usage          `json:"usageMetadata"`
	Model    string          `json:"modelVersion"`
	Error    json.RawMessage `json:"error"`
	Response json.RawMessage `json:"response"` // Code Assist wraps the answer in it
	Total    *int64          `json:"totalTokens"`
}

type usage struct {
	Prompt     int64 `json:"promptTokenCount"`
	ToolPrompt int64 `json:"toolUsePromptTokenCount"`
	Cached     int64 `json:"cachedContentTokenCount"`
	Candidates int64 `json:"candidatesTokenCount"`
	Thoughts   int64 `json:"thoughtsTokenCount"`
}

// count makes the kinds disjoint: cached tokens are part of the prompt, thoughts are output.
func (u usage) count() wire.Usage {
	in := max(u.Prompt, 0) + max(u.ToolPrompt, 0)
	read := min(max(u.Cached, 0), in)
	return wire.Usage{
		Input: in - read, CacheRead: read, Output: max(u.Candidates, 0) + max(u.Thoughts, 0),
		Odd: min(u.Prompt, u.ToolPrompt, u.Cached, u.Candidates, u.Thoughts) < 0,
	}
}

// Answer implements wire.Codec.
func (Codec) Answer(status int, contentType string) wire.Answer {
	return wire.NewAnswer(status, contentType, newStream, func() wire.Answer { return &whole{} })
}

// newStream returns a reader for server-sent events.
func newStream() wire.Answer {
	s := &stream{}
	s.events = wire.NewEvents(func(_ string, data []byte) { s.reading.chunk(data) })
	return s
}

// reading collects chunks.
type reading struct {
	wire.TextBuffer
	r     wire.Result
	parts []json.RawMessage
	text  strings.Builder
	// run is the current text, which may span chunks; thought is its kind.
	run     strings.Builder
	thought bool
}

// maxParts is the limit of parts in one answer.
const maxParts = 100_000

func (s *reading) chunk(data []byte) {
	var g generated
	if json.Unmarshal(data, &g) != nil {
		return
	}
	if len(g.Response) > 0 {
		data, g = g.Response, generated{}
		if json.Unmarshal(data, &g) != nil {
			return
		}
	}
	if len(g.Error) > 0 && string(g.Error) != "null" {
		if s.r.Err = wire.ErrorText(data); s.r.Err == "" {
			s.r.Err = "the provider reported an error inside the stream"
		}
	}
	if g.Model != "" {
		s.r.Model = g.Model
	}
	if g.Usage != nil {
		s.r.Usage = g.Usage.count() // cumulative: the newest is used
	}
	if g.Feedback.Block != "" {
		s.r.Stop, s.r.Complete = g.Feedback.Block, true
	}
	if g.Total != nil {
		s.r.Complete = true // countTokens
	}
	for _, c := range g.Candidates {
		if c.Index != 0 {
			continue
		}
		for _, raw := range c.Content.Parts {
			s.part(raw)
		}
		if c.Finish != "" {
			s.r.Stop, s.r.Complete = c.Finish, true
		}
	}
}

// part adds a part. Consecutive plain texts of one kind become one part; a part with other fields, above all a thought
// signature, is kept unchanged.
func (s *reading) part(raw json.RawMessage) {
	var p part
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &p) != nil || json.Unmarshal(raw, &fields) != nil || len(s.parts) > maxParts {
		return
	}
	if !p.Thought {
		s.text.WriteString(p.Text)
		s.AddText(p.Text)
	}
	if p.Call != nil {
		s.r.Tools = append(s.r.Tools, p.Call.Name)
	}
	_, isText := fields["text"]
	_, marked := fields["thought"]
	if isText && (len(fields) == 1 || len(fields) == 2 && marked) {
		if p.Thought != s.thought {
			s.flush()
		}
		s.thought = p.Thought
		s.run.WriteString(p.Text)
		return
	}
	s.flush()
	s.parts = append(s.parts, slices.Clone(raw))
}

func (s *reading) flush() {
	if s.run.Len() == 0 {
		return
	}
	text, err := json.Marshal(s.run.String())
	s.run.Reset()
	if err != nil {
		return
	}
	mark := ""
	if s.thought {
		mark = `,"thought":true`
	}
	s.parts = append(s.parts, slices.Concat([]byte(`{"text":`), text, []byte(mark+`}`)))
}

func (s *reading) result() wire.Result {
	s.flush()
	r := s.r
	r.Text = s.text.String()
	if len(s.parts) > 0 {
		item := []byte(`{"role":"model","parts":[`)
		for i, p := range s.parts {
			if i > 0 {
				item = append(item, ',')
			}
			item = append(item, p...)
		}
		r.Item = append(item, `]}`...)
	}
	r.EndsTurn = r.Complete && r.Err == "" && r.Stop != "" && len(r.Tools) == 0
	if r.Err == "" && !r.Complete {
		r.Err = "the answer ended before its finish reason"
	}
	return r
}

// whole reads an answer that is not streamed: an object, or an array of chunks.
type whole struct{ wire.Whole }

// Result implements wire.Answer.
func (w *whole) Result() wire.Result {
	if !json.Valid(w.Bytes()) {
		return wire.Result{Err: "the answer is not valid JSON"}
	}
	var s reading
	var chunks []json.RawMessage
	if json.Unmarshal(w.Bytes(), &chunks) != nil {
		chunks = []json.RawMessage{w.Bytes()}
	}
	for _, c := range chunks {
		s.chunk(c)
	}
	return s.result()
}

// stream reads server-sent events.
type stream struct {
	reading reading
	events  *wire.Events
}

// Write implements wire.Answer.
func (s *stream) Write(b []byte) { s.events.Write(b) }

// NewText implements wire.TextStreamer.
func (s *stream) NewText() string { return s.reading.NewText() }

// Result implements wire.Answer.
func (s *stream) Result() wire.Result {
	s.events.Close()
	r := s.reading.result()
	if r.Err == "" && s.events.Over() {
		r.Err = wire.TooLong()
	}
	return r
}

// Entries implements wire.Reader. Gemini CLI sends every function response twice after a resume; the second is left
// out.
func (Codec) Entries(items []thread.Item) []thread.Entry {
	var out []thread.Entry
	seen := map[string]bool{} // results already listed, by call and content
	for _, it := range items {
		ps := parts(it.Raw)
		if ps == nil {
			out = append(out, wire.Unreadable())
			continue
		}
		model := role(it.Raw) == "model"
		for _, p := range ps {
			if e, ok := p.entry(model); ok {
				key := e.Call + "\x00" + e.Text
				if e.Kind == thread.EntryResult && e.Call != "" && seen[key] {
					continue
				}
				seen[key] = e.Kind == thread.EntryResult
				out = append(out, e)
			}
		}
		if text := personText(it.Raw); !model && text != "" {
			out = append(out, thread.Entry{Kind: thread.EntryPrompt, Text: text})
		}
	}
	return out
}

// entry converts a part to an entry; text of the person is converted for the whole content instead.
func (p part) entry(model bool) (thread.Entry, bool) {
	switch {
	case p.Call != nil:
		return thread.Entry{Kind: thread.EntryCall, Tool: p.Call.Name, Call: p.Call.ID, Text: string(p.Call.Args)}, true
	case p.Response != nil:
		text, failed := output(p.Response.Response)
		return thread.Entry{
			Kind: thread.EntryResult, Tool: p.Response.Name, Call: p.Response.ID, Text: text, Error: failed,
		}, true
	case !model || strings.TrimSpace(p.Text) == "":
		return thread.Entry{}, false
	case p.Thought:
		return thread.Entry{Kind: thread.EntryThinking, Text: p.Text}, true
	default:
		return thread.Entry{Kind: thread.EntryAnswer, Text: p.Text}, true
	}
}

// output returns the text of a function response and whether it is an error.
func output(raw json.RawMessage) (text string, failed bool) {
	var r struct {
		Output *string `json:"output"`
		Error  *string `json:"error"`
	}
	if json.Unmarshal(raw, &r) == nil {
		switch {
		case r.Error != nil:
			return *r.Error, true
		case r.Output != nil:
			return *r.Output, false
		}
	}
	return string(raw), false
}
