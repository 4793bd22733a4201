package model

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"orchestrator/thread"
)

// usage counts the tokens of a request; the kinds are disjoint.
type usage struct{ input, read, write int }

func (u usage) total() int { return u.input + u.read + u.write }

func (u usage) wire(output int) map[string]any {
	return map[string]any{
		"input_tokens": u.input, "cache_read_input_tokens": u.read, "cache_creation_input_tokens": u.write, "output_tokens": output,
	}
}

// response is one answer.
type response struct {
	id, model string
	action    action
	usage     usage
}

func (r *response) stop() string {
	if r.action.call != nil {
		return "tool_use"
	}
	return "end_turn"
}

// blocks returns the content as it is sent.
func (r *response) blocks() []map[string]any {
	var list []map[string]any
	if r.action.text != "" || r.action.call == nil {
		list = append(list, map[string]any{"type": "text", "text": r.action.text})
	}
	if c := r.action.call; c != nil {
		list = append(list, map[string]any{"type": "tool_use", "id": "toolu_" + thread.NewID[string](), "name": c.tool, "input": c.input})
	}
	return list
}

// output counts the tokens of the answer.
func (r *response) output() int {
	n := len(r.action.text)
	if r.action.call != nil {
		b, err := json.Marshal(r.action.call.input)
		if err == nil {
			n += len(b)
		}
	}
	return max(1, tokens(n))
}

func (r *response) whole() map[string]any {
	return map[string]any{
		"id": r.id, "type": "message", "role": "assistant", "model": r.model, "content": r.blocks(),
		"stop_reason": r.stop(), "stop_sequence": nil, "usage": r.usage.wire(r.output()),
	}
}

// stream writes server-sent events.
type stream struct {
	w    http.ResponseWriter
	ctx  context.Context
	pace time.Duration
	cut  bool
}

// send writes one event; false when the client has gone.
func (s *stream) send(kind string, v map[string]any) bool {
	v["type"] = kind
	b, err := json.Marshal(v)
	if err != nil {
		return false
	}
	if _, err := fmt.Fprintf(s.w, "event: %s\ndata: %s\n\n", kind, b); err != nil {
		return false
	}
	return http.NewResponseController(s.w).Flush() == nil && s.ctx.Err() == nil
}

// pieces sends a text bit by bit.
func (s *stream) pieces(text string, index int, kind, key string) bool {
	runes := []rune(text)
	size := piece
	if s.pace == 0 {
		size = 1 << 10
	}
	for sent := 0; len(runes) > 0; sent += size {
		n := min(size, len(runes))
		if s.cut && sent >= len(text)/2 {
			panic(http.ErrAbortHandler) // ends the connection without an end of the body
		}
		if !s.send("content_block_delta", map[string]any{"index": index, "delta": map[string]any{"type": kind, key: string(runes[:n])}}) ||
			!sleep(s.ctx, s.pace) {
			return false
		}
		runes = runes[n:]
	}
	return true
}

// stream sends the answer.
func (r *response) stream(s *stream) {
	h := s.w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("Request-Id", "req_"+thread.NewID[string]())
	s.w.WriteHeader(http.StatusOK)
	ok := s.send("message_start", map[string]any{"message": map[string]any{
		"id": r.id, "type": "message", "role": "assistant", "model": r.model, "content": []any{},
		"stop_reason": nil, "stop_sequence": nil, "usage": r.usage.wire(1),
	}})
	for i, b := range r.blocks() {
		if !ok {
			return
		}
		ok = s.block(i, b)
	}
	if !ok {
		return
	}
	if s.send("message_delta", map[string]any{
		"delta": map[string]any{"stop_reason": r.stop(), "stop_sequence": nil}, "usage": r.usage.wire(r.output()),
	}) {
		s.send("message_stop", map[string]any{})
	}
}

// block sends one block of content.
func (s *stream) block(i int, b map[string]any) bool {
	open, kind, key, text := map[string]any{"type": "text", "text": ""}, "text_delta", "text", ""
	if b["type"] == "tool_use" {
		open = map[string]any{"type": "tool_use", "id": b["id"], "name": b["name"], "input": map[string]any{}}
		kind, key = "input_json_delta", "partial_json"
		raw, err := json.Marshal(b["input"])
		if err != nil {
			return false
		}
		text = string(raw)
	} else {
		text, _ = b["text"].(string)
	}
	return s.send("content_block_start", map[string]any{"index": i, "content_block": open}) &&
		s.pieces(text, i, kind, key) &&
		s.send("content_block_stop", map[string]any{"index": i})
}
