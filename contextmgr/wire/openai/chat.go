package openai

import (
	"encoding/json"
	"slices"
	"strings"

	"orchestrator/contextmgr/wire"
	"orchestrator/contextmgr/wire/span"
	"orchestrator/thread"
)

// Chat implements wire.Codec for the Chat Completions format.
type Chat struct{ *wire.Format }

// NewChat returns the codec.
func NewChat() Chat {
	return Chat{&wire.Format{
		Name: wire.Chat, Posts: func(path string) bool { return wire.PathEnds(path, "/chat/completions") },
		Read: readChat, Person: personText, Spoken: spoken,
		Says: [2]string{`{"role":"user","content":`, `}`}, Text: messageParts.Text,
	}}
}

// readChat reads a body.
func readChat(items *wire.ItemReader, r *wire.Request) (func(string, *span.Cursor) error, func(wire.Call) wire.Purpose) {
	b := &body{Request: r, items: items}
	return b.chatMember, func(call wire.Call) wire.Purpose {
		b.Session = session(call.Header, b)
		if call.Header.Get("X-Parent-Session-Id") != "" {
			b.Sub = wire.ChildSession(call.Header)
			return wire.PurposeSubagent
		}
		return classify(b)
	}
}

func (b *body) chatMember(key string, c *span.Cursor) (err error) {
	switch key {
	case "model":
		b.Model, err = c.String()
	case "messages":
		err = b.items.Read(c, readMessage)
	case "tools":
		err = b.items.Tools(c, &b.Tools, b.tools)
	case "response_format":
		err = b.format(c)
	case "prompt_cache_key":
		b.cacheKey, err = c.String()
	}
	return err
}

// Error implements wire.Codec.
func (Chat) Error(status int, message string) []byte { return errorBody(status, message) }

// Answer implements wire.Codec.
func (Chat) Answer(status int, contentType string) wire.Answer {
	return wire.NewAnswer(status, contentType, newChatStream, func() wire.Answer { return &chatWhole{} })
}

// newChatStream returns a reader for server-sent events.
func newChatStream() wire.Answer {
	s := &chatStream{}
	s.events = wire.NewEvents(s.event)
	return s
}

// choiceMessage is a message, whole or as a delta.
type choiceMessage struct {
	Content    *string `json:"content"`
	Refusal    *string `json:"refusal"`
	Reasoning  *string `json:"reasoning_content"`
	Reasoning2 *string `json:"reasoning"`
	ToolCalls  []struct {
		Index    *int   `json:"index"`
		ID       string `json:"id"`
		Function struct {
			Name      string `json:"name"`
			Arguments string `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
}

// completion is an answer, or one chunk of it.
type completion struct {
	Model   string `json:"model"`
	Choices []struct {
		Index   int             `json:"index"`
		Message json.RawMessage `json:"message"`
		Delta   choiceMessage   `json:"delta"`
		Finish  string          `json:"finish_reason"`
		Usage   *usage          `json:"usage"`
	} `json:"choices"`
	Usage *usage          `json:"usage"`
	Error json.RawMessage `json:"error"`
}

// chatEnds reports whether a finish reason leaves the agent waiting for the person.
func chatEnds(finish string, tools []string) bool {
	switch finish {
	case "", "tool_calls", "function_call":
		return false
	default:
		return len(tools) == 0
	}
}

// chatWhole reads an answer that is not streamed.
type chatWhole struct{ wire.Whole }

// Result implements wire.Answer.
func (w *chatWhole) Result() wire.Result {
	var c completion
	if json.Unmarshal(w.Bytes(), &c) != nil {
		return wire.Result{Err: "the answer is not valid JSON"}
	}
	r := wire.Result{Model: c.Model, Usage: c.Usage.count(), Complete: true}
	if len(c.Choices) == 0 {
		r.Err = wire.ErrorText(w.Bytes())
		return r
	}
	var m item
	if json.Unmarshal(c.Choices[0].Message, &m) == nil {
		r.Item, r.Text = c.Choices[0].Message, plainText(m.Content)+m.Refusal
		for _, call := range m.ToolCalls {
			r.Tools = append(r.Tools, call.Function.Name+call.Custom.Name)
		}
	}
	r.Stop = c.Choices[0].Finish
	r.EndsTurn = chatEnds(r.Stop, r.Tools)
	return r
}

// chatStream reads server-sent events.
type chatStream struct {
	wire.TextBuffer
	events    *wire.Events
	r         wire.Result
	text      strings.Builder
	refusal   strings.Builder
	reasoning strings.Builder
	calls     []*pendingCall
	any       bool
}

type pendingCall struct {
	id, name string
	args     strings.Builder
}

// Write implements wire.Answer.
func (s *chatStream) Write(b []byte) { s.events.Write(b) }

func (s *chatStream) event(_ string, data []byte) {
	if strings.TrimSpace(string(data[:min(len(data), 16)])) == "[DONE]" {
		s.r.Complete = true
		return
	}
	var c completion
	if json.Unmarshal(data, &c) != nil {
		return
	}
	if c.Model != "" {
		s.r.Model = c.Model
	}
	if len(c.Error) > 0 && string(c.Error) != "null" {
		if s.r.Err = wire.ErrorText(data); s.r.Err == "" {
			s.r.Err = "the provider reported an error inside the stream"
		}
	}
	if c.Usage != nil {
		s.r.Usage = c.Usage.count() // cumulative: the newest is used
	}
	for _, choice := range c.Choices {
		if choice.Index != 0 {
			continue
		}
		if choice.Usage != nil && c.Usage == nil {
			s.r.Usage = choice.Usage.count()
		}
		s.delta(choice.Delta)
		if choice.Finish != "" {
			s.r.Stop, s.r.Complete = choice.Finish, true
		}
	}
}

func (s *chatStream) delta(d choiceMessage) {
	s.any = true
	add := func(to *strings.Builder, text *string) {
		if text != nil {
			to.WriteString(*text)
		}
	}
	add(&s.text, d.Content)
	add(&s.refusal, d.Refusal)
	for _, text := range []*string{d.Content, d.Refusal} {
		if text != nil {
			s.AddText(*text)
		}
	}
	add(&s.reasoning, d.Reasoning)
	if d.Reasoning == nil {
		add(&s.reasoning, d.Reasoning2)
	}
	for i, call := range d.ToolCalls {
		at := i
		if call.Index != nil {
			at = *call.Index
		}
		if at < 0 || at > maxItems {
			continue
		}
		for len(s.calls) <= at {
			s.calls = append(s.calls, &pendingCall{})
		}
		p := s.calls[at]
		if call.ID != "" {
			p.id = call.ID
		}
		if call.Function.Name != "" {
			p.name = call.Function.Name
		}
		p.args.WriteString(call.Function.Arguments)
	}
}

// Result implements wire.Answer.
func (s *chatStream) Result() wire.Result {
	s.events.Close()
	r := s.r
	r.Text = s.text.String() + s.refusal.String()
	for _, call := range s.calls {
		r.Tools = append(r.Tools, call.name)
	}
	if s.any {
		r.Item = s.message()
	}
	r.EndsTurn = r.Complete && r.Err == "" && (chatEnds(r.Stop, r.Tools) || r.Stop == "" && len(r.Tools) == 0)
	if r.Err == "" && !r.Complete {
		r.Err = "the answer ended before its finish reason"
	}
	if r.Err == "" && s.events.Over() {
		r.Err = wire.TooLong()
	}
	return r
}

// message returns the assistant's message in the form in which a client would send it back.
func (s *chatStream) message() json.RawMessage {
	m := struct {
		Role      string           `json:"role"`
		Content   *string          `json:"content"`
		Reasoning string           `json:"reasoning_content,omitempty"`
		Refusal   string           `json:"refusal,omitempty"`
		Calls     []map[string]any `json:"tool_calls,omitempty"`
	}{Role: "assistant", Reasoning: s.reasoning.String(), Refusal: s.refusal.String()}
	if text := s.text.String(); text != "" || len(s.calls) == 0 {
		m.Content = &text
	}
	for _, call := range s.calls {
		m.Calls = append(m.Calls, map[string]any{
			"id": call.id, "type": "function",
			"function": map[string]string{"name": call.name, "arguments": call.args.String()},
		})
	}
	raw, err := json.Marshal(m)
	if err != nil {
		return nil
	}
	return raw
}

// Entries implements wire.Reader.
func (Chat) Entries(items []thread.Item) []thread.Entry {
	var out []thread.Entry
	names := map[string]string{} // call id → tool
	for _, it := range items {
		var m item
		if json.Unmarshal(it.Raw, &m) != nil {
			out = append(out, wire.Unreadable())
			continue
		}
		switch m.Role {
		case "user":
			if text := personText(it.Raw); text != "" {
				out = append(out, thread.Entry{Kind: thread.EntryPrompt, Text: text})
			}
		case "assistant":
			out = slices.Concat(out, answerEntries(m, names))
		case "tool":
			out = append(out, thread.Entry{
				Kind: thread.EntryResult, Tool: names[m.ToolCallID], Call: m.ToolCallID, Text: plainText(m.Content),
			})
		}
	}
	return out
}

func answerEntries(m item, names map[string]string) (out []thread.Entry) {
	if text := m.Reasoning; text != "" || m.Reasoning2 != "" {
		if text == "" {
			text = m.Reasoning2
		}
		out = append(out, thread.Entry{Kind: thread.EntryThinking, Text: text})
	}
	if text := plainText(m.Content) + m.Refusal; strings.TrimSpace(text) != "" {
		out = append(out, thread.Entry{Kind: thread.EntryAnswer, Text: text})
	}
	for _, call := range m.ToolCalls {
		name := call.Function.Name + call.Custom.Name
		names[call.ID] = name
		out = append(out, thread.Entry{
			Kind: thread.EntryCall, Tool: name, Call: call.ID, Text: call.Function.Arguments + call.Custom.Input,
		})
	}
	return out
}

var _ wire.Scanner = Chat{}
