package anthropic

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"orchestrator/contextmgr/wire"
	"orchestrator/contextmgr/wire/span"
)

// usage is the provider's object. Pointers distinguish missing counts from zero: message_delta repeats only some of
// message_start's.
type usage struct {
	Input      *int64 `json:"input_tokens"`
	CacheRead  *int64 `json:"cache_read_input_tokens"`
	CacheWrite *int64 `json:"cache_creation_input_tokens"`
	Output     *int64 `json:"output_tokens"`
	Creation   *struct {
		Hour int64 `json:"ephemeral_1h_input_tokens"`
	} `json:"cache_creation"`
}

// into sets the counts that are present. Counts are cumulative, so the newest is used; a zero never overwrites an
// earlier count.
func (u *usage) into(w *wire.Usage) {
	if u == nil {
		return
	}
	set := func(to *int64, from *int64) {
		if from == nil {
			return
		}
		if w.Odd = w.Odd || *from < 0; *from > 0 {
			*to = *from
		}
	}
	set(&w.Input, u.Input)
	set(&w.CacheRead, u.CacheRead)
	set(&w.CacheWrite, u.CacheWrite)
	set(&w.Output, u.Output)
	if u.Creation != nil && u.Creation.Hour > 0 {
		w.CacheWriteHr = min(u.Creation.Hour, w.CacheWrite)
	}
}

// Answer implements wire.Codec.
func (Codec) Answer(status int, contentType string) wire.Answer {
	return wire.NewAnswer(status, contentType, newStream, func() wire.Answer { return &whole{} })
}

// newStream returns a reader for server-sent events.
func newStream() wire.Answer {
	s := &stream{}
	s.events = wire.NewEvents(s.event)
	return s
}

// endsTurn reports whether a stop reason leaves the agent waiting for the person.
func endsTurn(stop string, tools []string) bool {
	switch stop {
	case "", "tool_use", "pause_turn":
		return false
	default:
		return len(tools) == 0
	}
}

// whole reads an answer that is not streamed.
type whole struct{ wire.Whole }

// Result implements wire.Answer.
func (w *whole) Result() wire.Result {
	var m struct {
		Type    string          `json:"type"`
		Model   string          `json:"model"`
		Content json.RawMessage `json:"content"`
		Stop    string          `json:"stop_reason"`
		Usage   *usage          `json:"usage"`
	}
	if err := json.Unmarshal(w.Bytes(), &m); err != nil {
		return wire.Result{Err: "the answer is not valid JSON"}
	}
	if m.Type == "error" {
		return wire.Result{Err: wire.ErrorText(w.Bytes()), Complete: true}
	}
	r := wire.Result{Model: m.Model, Stop: m.Stop, Complete: true}
	m.Usage.into(&r.Usage)
	if len(m.Content) > 0 && m.Content[0] == '[' {
		r.Item = message(m.Content)
		var text []string
		for _, b := range blocks(m.Content) {
			switch b.Type {
			case "text":
				text = append(text, b.Text)
			case "tool_use":
				r.Tools = append(r.Tools, b.Name)
			}
		}
		r.Text = strings.Join(text, "\n")
		r.EndsTurn = endsTurn(r.Stop, r.Tools)
	}
	return r
}

// message returns the assistant's message with the given content.
func message(content json.RawMessage) json.RawMessage {
	return slices.Concat([]byte(`{"role":"assistant","content":`), content, []byte(`}`))
}

// list joins values into an array and keeps their bytes.
func list(values []json.RawMessage) json.RawMessage {
	out := []byte{'['}
	for i, v := range values {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, v...)
	}
	return append(out, ']')
}

// stream reads server-sent events.
type stream struct {
	wire.TextBuffer
	events *wire.Events
	r      wire.Result
	open   []*piece // by index
}

// piece is a content block that is being received.
type piece struct {
	start     json.RawMessage // content_block as it began
	kind      string
	name      string
	text      strings.Builder // text, thinking or partial JSON
	signature strings.Builder
	citations []json.RawMessage
}

// maxBlocks is the highest block index that is accepted from a stream.
const maxBlocks = 10_000

// Write implements wire.Answer.
func (s *stream) Write(b []byte) { s.events.Write(b) }

func (s *stream) event(_ string, data []byte) {
	if bytes.HasPrefix(data, deltaPrefix) && s.delta(data) {
		return
	}
	var e struct {
		Type    string `json:"type"`
		Index   int    `json:"index"`
		Message struct {
			Model string `json:"model"`
			Usage *usage `json:"usage"`
		} `json:"message"`
		Block json.RawMessage `json:"content_block"`
		Delta struct {
			Text      string          `json:"text"`
			Thinking  string          `json:"thinking"`
			JSON      string          `json:"partial_json"`
			Signature string          `json:"signature"`
			Citation  json.RawMessage `json:"citation"`
			Stop      string          `json:"stop_reason"`
		} `json:"delta"`
		Usage *usage `json:"usage"`
	}
	if json.Unmarshal(data, &e) != nil || s.r.Complete {
		return
	}
	switch e.Type {
	case "message_start":
		s.r.Model = e.Message.Model
		e.Message.Usage.into(&s.r.Usage)
	case "content_block_start":
		s.begin(e.Index, e.Block)
	case "content_block_delta":
		p := s.piece(e.Index)
		if p == nil {
			return
		}
		p.text.WriteString(e.Delta.Text + e.Delta.Thinking + e.Delta.JSON)
		s.addPiece(p, e.Delta.Text+e.Delta.Thinking+e.Delta.JSON)
		p.signature.WriteString(e.Delta.Signature)
		if len(e.Delta.Citation) > 0 {
			p.citations = append(p.citations, slices.Clone(e.Delta.Citation))
		}
	case "message_delta":
		if e.Delta.Stop != "" {
			s.r.Stop = e.Delta.Stop
		}
		e.Usage.into(&s.r.Usage)
	case "message_stop":
		s.r.Complete = true
	case "error":
		s.r.Err = wire.ErrorText(data)
		if s.r.Err == "" {
			s.r.Err = "the provider reported an error inside the stream"
		}
	}
}

// deltaPrefix is the beginning of nearly all events of a stream.
var deltaPrefix = []byte(`{"type":"content_block_delta"`)

// delta reads a delta of text, thinking or input without reflection. It reports whether it could; if not, it has
// changed nothing.
func (s *stream) delta(data []byte) bool {
	if s.r.Complete {
		return true
	}
	var index int64
	var more, kind string
	c := span.New(data)
	err := c.Object(func(key string, c *span.Cursor) (err error) {
		switch key {
		case "index":
			index, err = c.Int()
		case "delta":
			err = c.Object(func(key string, c *span.Cursor) (err error) {
				switch key {
				case "type":
					kind, err = c.String()
				case "text", "thinking", "partial_json":
					more, err = c.String()
				}
				return err
			})
		}
		return err
	})
	if err != nil || c.End() != nil {
		return false
	}
	switch kind {
	case "text_delta", "thinking_delta", "input_json_delta":
		if p := s.piece(int(index)); p != nil {
			p.text.WriteString(more)
			s.addPiece(p, more)
		}
		return true
	default:
		return false
	}
}

func (s *stream) begin(index int, block json.RawMessage) {
	if index < 0 || index > maxBlocks || !json.Valid(block) {
		return
	}
	for len(s.open) <= index {
		s.open = append(s.open, nil)
	}
	b := blockOf(block)
	p := &piece{start: slices.Clone(block), kind: b.Type, name: b.Name}
	p.text.WriteString(b.Text + b.Thinking)
	p.signature.WriteString(b.Signature)
	s.open[index] = p
	if p.kind == "text" {
		s.BeginPart()
	}
	s.addPiece(p, b.Text+b.Thinking)
}

// addPiece adds a piece of a text block to the text that is passed on.
func (s *stream) addPiece(p *piece, more string) {
	if p.kind == "text" {
		s.AddText(more)
	}
}

func (s *stream) piece(index int) *piece {
	if index < 0 || index >= len(s.open) {
		return nil
	}
	return s.open[index]
}

// Result implements wire.Answer.
func (s *stream) Result() wire.Result {
	s.events.Close()
	var content []json.RawMessage
	var text []string
	for _, p := range s.open {
		if p == nil {
			continue
		}
		content = append(content, p.block())
		switch p.kind {
		case "text":
			text = append(text, p.text.String())
		case "tool_use":
			s.r.Tools = append(s.r.Tools, p.name)
		}
	}
	if len(content) > 0 {
		s.r.Item = message(list(content))
	}
	s.r.Text = strings.Join(text, "\n")
	s.r.EndsTurn = s.r.Complete && s.r.Err == "" && endsTurn(s.r.Stop, s.r.Tools)
	if s.r.Err == "" && !s.r.Complete {
		s.r.Err = "the answer ended before message_stop"
	}
	if s.r.Err == "" && s.events.Over() {
		s.r.Err = wire.TooLong()
	}
	return s.r
}

// block returns the content block in the form in which the client will send it back.
func (p *piece) block() json.RawMessage {
	set := map[string]any{}
	switch p.kind {
	case "text":
		set["text"] = p.text.String()
		if len(p.citations) > 0 {
			set["citations"] = p.citations
		}
	case "thinking":
		set["thinking"], set["signature"] = p.text.String(), p.signature.String()
	case "tool_use", "server_tool_use", "mcp_tool_use":
		if input := p.text.String(); json.Valid([]byte(input)) {
			set["input"] = json.RawMessage(input)
		}
	}
	if len(set) == 0 {
		return p.start
	}
	fields := map[string]json.RawMessage{}
	if json.Unmarshal(p.start, &fields) != nil {
		return p.start
	}
	for key, value := range set {
		raw, err := encode(value)
		if err != nil {
			return p.start
		}
		fields[key] = raw
	}
	out, err := encode(fields)
	if err != nil {
		return p.start
	}
	return out
}

// encode is json.Marshal without HTML escapes.
func encode(v any) (json.RawMessage, error) {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return json.RawMessage(strings.TrimSuffix(b.String(), "\n")), err
}
