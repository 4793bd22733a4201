package openai

import (
	"cmp"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"

	"orchestrator/contextmgr/wire"
	"orchestrator/contextmgr/wire/span"
	"orchestrator/thread"
)

// Responses implements wire.Codec for the Responses format.
type Responses struct{ *wire.Format }

// NewResponses returns the codec.
func NewResponses() Responses {
	return Responses{&wire.Format{
		Name: wire.Responses,
		Posts: func(path string) bool {
			return wire.PathEnds(path, "/responses") || wire.PathEnds(path, "/responses/compact") ||
				wire.PathEnds(path, "/responses/input_tokens")
		},
		Read: readResponses, Person: personText, Spoken: spoken,
		Says: [2]string{`{"type":"message","role":"user","content":[{"type":"input_text","text":`, `}]}`},
		Text: outputParts.Text,
	}}
}

// readResponses reads a body.
func readResponses(items *wire.ItemReader, r *wire.Request) (func(string, *span.Cursor) error, func(wire.Call) wire.Purpose) {
	b := &body{Request: r, items: items}
	return b.responsesMember, b.responsesPurpose
}

func (b *body) responsesMember(key string, c *span.Cursor) (err error) {
	switch key {
	case "model":
		b.Model, err = c.String()
	case "instructions":
		b.System, err = c.Raw()
	case "input":
		if c.Kind() != '"' {
			return b.items.Read(c, readItem)
		}
		var text wire.Value
		if err = text.Read(c); err == nil {
			b.items.Single(text, slices.Concat([]byte(`{"role":"user","content":`), text.Raw, []byte(`}`)), spoken)
		}
	case "tools":
		err = b.items.Tools(c, &b.Tools, b.tools)
	case "text":
		err = c.Object(func(key string, c *span.Cursor) error {
			if key != "format" {
				return nil
			}
			return b.format(c)
		})
	case "prompt_cache_key":
		b.cacheKey, err = c.String()
	case "client_metadata":
		err = c.Object(func(key string, c *span.Cursor) (err error) {
			if key == "session_id" {
				b.session, err = c.String()
			}
			return err
		})
	}
	return err
}

// responsesPurpose uses Codex's own headers first.
func (b *body) responsesPurpose(call wire.Call) wire.Purpose {
	b.Session = session(call.Header, b)
	switch {
	case wire.PathEnds(call.Path, "/responses/compact"):
		return wire.PurposeCompaction
	case wire.PathEnds(call.Path, "/responses/input_tokens"):
		return wire.PurposeCount
	}
	var turn turnMetadata
	told := json.Unmarshal([]byte(call.Header.Get("X-Codex-Turn-Metadata")), &turn) == nil
	switch sub := call.Header.Get("X-Openai-Subagent"); {
	case strings.Contains(sub, "compact"):
		return wire.PurposeCompaction
	case sub != "":
		b.Sub = turn.sub(call.Header, sub)
		return wire.PurposeSubagent
	case call.Header.Get("X-Parent-Session-Id") != "":
		b.Sub = wire.ChildSession(call.Header)
		return wire.PurposeSubagent
	}
	if told {
		source, _ := turn.Source.(string)
		switch {
		case strings.Contains(turn.Kind, "compact"):
			return wire.PurposeCompaction
		case strings.Contains(turn.Kind, "title"):
			return wire.PurposeTitle
		case turn.Kind != "" && turn.Kind != "turn":
			return wire.PurposeOther
		case turn.Agent != "" && turn.Agent != "/root", strings.Contains(source, "subagent"):
			b.Sub = turn.sub(call.Header, "")
			return wire.PurposeSubagent
		}
	}
	return classify(b)
}

// turnMetadata is what Codex tells of a request in a header.
type turnMetadata struct {
	Kind   string `json:"request_kind"`
	Agent  string `json:"agent_name"` // a path: "/root/one"
	Thread string `json:"thread_id"`
	Parent string `json:"parent_thread_id"`
	Source any    `json:"thread_source"`
}

// sub returns the sub-agent that a request is of. Kind is its own word for what it is for. It is called as its parent has
// named it; other kinds, such as reviews, have no name.
func (m turnMetadata) sub(h http.Header, kind string) thread.SubAgent {
	a := thread.SubAgent{Key: cmp.Or(m.Thread, h.Get("Thread-Id")), Parent: cmp.Or(m.Parent, h.Get("X-Codex-Parent-Thread-Id"))}
	if at := strings.LastIndexByte(m.Agent, '/'); at > 0 {
		a.Name = m.Agent[at+1:]
	}
	if a.Name == "" && kind != "collab_spawn" {
		a.Type = kind
	}
	return a
}

// Error implements wire.Codec.
func (Responses) Error(status int, message string) []byte { return errorBody(status, message) }

// Answer implements wire.Codec.
func (Responses) Answer(status int, contentType string) wire.Answer {
	return wire.NewAnswer(status, contentType, newResponsesStream, func() wire.Answer { return &responsesWhole{} })
}

// newResponsesStream returns a reader for server-sent events.
func newResponsesStream() wire.Answer {
	s := &responsesStream{}
	s.events = wire.NewEvents(s.event)
	return s
}

// response is the provider's object at the end of an answer.
type response struct {
	Status     string            `json:"status"`
	Model      string            `json:"model"`
	Output     []json.RawMessage `json:"output"`
	Usage      *usage            `json:"usage"`
	Error      json.RawMessage   `json:"error"`
	Incomplete struct {
		Reason string `json:"reason"`
	} `json:"incomplete_details"`
}

// finish reads the object into a result; items are used if it has no output.
func (p response) finish(items []json.RawMessage) wire.Result {
	r := wire.Result{Model: p.Model, Stop: p.Status, Usage: p.Usage.count(), Complete: true}
	if p.Incomplete.Reason != "" {
		r.Stop = p.Incomplete.Reason
	}
	if len(items) == 0 {
		items = p.Output
	}
	describe(&r, items)
	switch p.Status {
	case "failed":
		r.Err = wire.ErrorText(slices.Concat([]byte(`{"error":`), orNull(p.Error), []byte(`}`)))
		if r.Err == "" {
			r.Err = "the provider reported a failure"
		}
	case "cancelled":
		r.Err = "the answer was cancelled"
	case "completed", "incomplete", "done":
		r.EndsTurn = len(r.Tools) == 0
	default:
		r.Complete = false // in progress, queued, or no answer
	}
	return r
}

func orNull(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return json.RawMessage("null")
	}
	return raw
}

// describe sets the item, text and tools of a result from output items.
func describe(r *wire.Result, items []json.RawMessage) {
	if len(items) == 0 {
		return
	}
	out := []byte{'['}
	var text []string
	for i, raw := range items {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, raw...)
		var it item
		if json.Unmarshal(raw, &it) != nil {
			continue
		}
		if it.Type == "message" {
			if s := plainText(it.Content); s != "" {
				text = append(text, s)
			}
		}
		if clientCall(it.Type) {
			r.Tools = append(r.Tools, toolName(it))
		}
	}
	r.Item, r.Text = append(out, ']'), strings.Join(text, "\n")
}

// responsesWhole reads an answer that is not streamed.
type responsesWhole struct{ wire.Whole }

// Result implements wire.Answer.
func (w *responsesWhole) Result() wire.Result {
	var p response
	if json.Unmarshal(w.Bytes(), &p) != nil {
		return wire.Result{Err: "the answer is not valid JSON"}
	}
	return p.finish(nil)
}

// responsesStream reads server-sent events.
type responsesStream struct {
	wire.TextBuffer
	events  *wire.Events
	items   []json.RawMessage // finished ones
	partial strings.Builder   // text of the message that is being received
	end     *response
	model   string
	err     string
}

// Write implements wire.Answer.
func (s *responsesStream) Write(b []byte) { s.events.Write(b) }

// isRead reports whether an event is read. Most are not: every piece of an argument, a summary or an annotation is
// repeated, complete, at the end of the item.
func isRead(data []byte) bool {
	kind := ""
	err := span.New(data).Object(func(key string, c *span.Cursor) (err error) {
		if key != "type" {
			return nil
		}
		if kind, err = c.String(); err != nil {
			return err
		}
		return span.ErrStop
	})
	if err != nil && !errors.Is(err, span.ErrStop) {
		return false
	}
	switch kind {
	case "response.output_text.delta", "response.refusal.delta":
		return true
	default:
		return !strings.HasSuffix(kind, ".delta") && !strings.HasSuffix(kind, ".added")
	}
}

func (s *responsesStream) event(_ string, data []byte) {
	if !isRead(data) {
		return
	}
	var e struct {
		Type     string          `json:"type"`
		Item     json.RawMessage `json:"item"`
		Delta    json.RawMessage `json:"delta"`
		Response json.RawMessage `json:"response"`
	}
	if json.Unmarshal(data, &e) != nil || s.end != nil {
		return
	}
	switch e.Type {
	case "response.created":
		var p response
		if json.Unmarshal(e.Response, &p) == nil {
			s.model = p.Model
		}
	case "response.output_text.delta", "response.refusal.delta":
		var text string
		if json.Unmarshal(e.Delta, &text) == nil {
			s.addPiece(text)
			s.partial.WriteString(text)
		}
	case "response.output_item.done":
		if len(e.Item) > 0 && len(s.items) < maxItems {
			s.items = append(s.items, e.Item)
			s.finishItem(e.Item)
			s.partial.Reset()
		}
	case "response.completed", "response.incomplete", "response.failed", "response.done":
		var p response
		_ = json.Unmarshal(e.Response, &p) // fields of another type stay empty: only the end matters
		if p.Status == "" {
			p.Status = strings.TrimPrefix(e.Type, "response.")
		}
		s.end = &p
	case "error":
		if s.err = wire.ErrorText(data); s.err == "" {
			s.err = "the provider reported an error inside the stream"
		}
	}
}

// addPiece adds a piece of the message that is being received.
func (s *responsesStream) addPiece(text string) {
	if text != "" && s.partial.Len() == 0 {
		s.BeginPart()
	}
	s.AddText(text)
}

// finishItem adds the text of a finished item that did not arrive in pieces.
func (s *responsesStream) finishItem(raw json.RawMessage) {
	var it item
	if json.Unmarshal(raw, &it) != nil || it.Type != "message" {
		return
	}
	if rest, ok := strings.CutPrefix(plainText(it.Content), s.partial.String()); ok {
		s.addPiece(rest)
	}
}

// maxItems is the limit of output items in one answer.
const maxItems = 10_000

// Result implements wire.Answer.
func (s *responsesStream) Result() wire.Result {
	s.events.Close()
	var r wire.Result
	switch {
	case s.end != nil:
		r = s.end.finish(s.items)
	default:
		r.Err = "the answer ended before response.completed"
		if text := s.partial.String(); text != "" {
			if raw, err := json.Marshal(map[string]any{
				"type": "message", "role": "assistant", "status": "incomplete",
				"content": []any{map[string]string{"type": "output_text", "text": text}},
			}); err == nil {
				s.items = append(s.items, raw)
			}
		}
		describe(&r, s.items)
	}
	if s.err != "" {
		r.Err, r.EndsTurn = s.err, false
	}
	if r.Model == "" {
		r.Model = s.model
	}
	if r.Err == "" && s.events.Over() {
		r.Err = wire.TooLong()
	}
	return r
}

// Entries implements wire.Reader.
func (Responses) Entries(items []thread.Item) []thread.Entry {
	var out []thread.Entry
	names := map[string]string{} // call id → tool
	for _, it := range items {
		raws := []json.RawMessage{it.Raw}
		if len(it.Raw) > 0 && it.Raw[0] == '[' {
			raws = nil
			if json.Unmarshal(it.Raw, &raws) != nil {
				raws = []json.RawMessage{it.Raw}
			}
		}
		for _, raw := range raws {
			var p item
			if json.Unmarshal(raw, &p) != nil {
				out = append(out, wire.Unreadable())
				continue
			}
			out = append(out, responsesEntries(p, raw, names)...)
		}
	}
	return out
}

func responsesEntries(p item, raw json.RawMessage, names map[string]string) []thread.Entry {
	one := func(e thread.Entry) []thread.Entry { return []thread.Entry{e} }
	switch {
	case p.Type == "message" || p.Type == "" && p.Role != "":
		switch p.Role {
		case "user":
			if text := personText(raw); text != "" {
				return one(thread.Entry{Kind: thread.EntryPrompt, Text: text})
			}
		case "assistant":
			if text := plainText(p.Content); strings.TrimSpace(text) != "" {
				return one(thread.Entry{Kind: thread.EntryAnswer, Text: text})
			}
		}
	case p.Type == "reasoning":
		text := plainText(p.Summary)
		if text == "" {
			text = plainText(p.Content)
		}
		if text != "" {
			return one(thread.Entry{Kind: thread.EntryThinking, Text: text})
		}
	case strings.HasSuffix(p.Type, "_call"):
		name := toolName(p)
		names[p.CallID] = name
		return one(thread.Entry{
			Kind: thread.EntryCall, Tool: name, Call: p.CallID, Text: asText(first(p.Arguments, p.Input, p.Action)),
		})
	case strings.HasSuffix(p.Type, "_output"):
		return one(thread.Entry{Kind: thread.EntryResult, Tool: names[p.CallID], Call: p.CallID, Text: asText(p.Output)})
	}
	return nil
}

func first(raws ...json.RawMessage) json.RawMessage {
	for _, r := range raws {
		if len(r) > 0 {
			return r
		}
	}
	return nil
}

// asText returns a string's text, a content's texts, or the JSON itself.
func asText(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	if text := plainText(raw); text != "" {
		return text
	}
	return string(raw)
}

var _ wire.Scanner = Responses{}
