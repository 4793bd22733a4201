package scripted

import (
	"maps"
	"strings"
)

// dangerous is the type of the safeguard that checks tool calls.
const dangerous = "dangerous_tool_use"

// signature is the signature of thinking blocks.
const signature = "c2lnbmVk"

// roleOf returns the role in a message of the Anthropic, Chat or Responses wire.
func roleOf(m object) Role {
	role := Role(str(m["role"]))
	if role != User && role != Assistant {
		return System
	}
	return role
}

// blocks returns a content, a text or a list of blocks, as a list.
func blocks(content any) []object {
	var all []object
	switch c := content.(type) {
	case string:
		if c != "" {
			all = append(all, object{"type": "text", "text": c})
		}
	case []any:
		for _, v := range c {
			b, _ := v.(object)
			all = append(all, b)
		}
	}
	return all
}

// flat joins the texts of a content.
func flat(content any) string {
	var parts []string
	for _, b := range blocks(content) {
		parts = append(parts, str(b["text"]))
	}
	return strings.Join(parts, "\n")
}

// readAnthropic reads a message of the Anthropic wire.
func (t *Turn) readAnthropic(m object) {
	role := roleOf(m)
	for _, b := range blocks(m["content"]) {
		switch str(b["type"]) {
		case "text":
			t.add(Message{Role: role, Text: str(b["text"])})
		case "tool_use":
			t.add(Message{Role: Assistant, Text: string(encode(b["input"])), Call: str(b["name"]), ID: str(b["id"])})
		case "tool_result":
			failed, _ := b["is_error"].(bool)
			t.add(Message{Role: Result, Text: flat(b["content"]), ID: str(b["tool_use_id"]), Failed: failed})
		}
	}
}

// anthropic answers as the Messages API does.
func (a answer) anthropic(s *stream) any {
	put := func(kind string, v object) {
		v["type"] = kind
		s.send(kind, v)
	}
	usage := func(output int64) object {
		u := a.reply.Usage
		return object{
			"input_tokens": u.Input, "cache_read_input_tokens": u.CacheRead,
			"cache_creation_input_tokens": u.CacheWrite, "output_tokens": output,
		}
	}
	message := func(content []object, stop any, output int64) object {
		return object{
			"id": a.id("msg", 0), "type": "message", "role": "assistant", "model": a.turn.Model,
			"content": content, "stop_reason": stop, "stop_sequence": nil, "usage": usage(output),
		}
	}
	put("message_start", object{"message": message([]object{}, nil, 1)})
	content := a.blocks()
	for i, b := range content {
		begun, delta, key, text := maps.Clone(b), "text_delta", "text", a.reply.Text
		switch b["type"] {
		case "thinking":
			begun["thinking"], begun["signature"] = "", ""
			delta, key, text = "thinking_delta", "thinking", a.reply.Thinking
		case "tool_use":
			begun["input"] = object{}
			delta, key, text = "input_json_delta", "partial_json", string(encode(b["input"]))
		default:
			begun["text"] = ""
		}
		put("content_block_start", object{"index": i, "content_block": begun})
		pieces, middle := a.reply.pieces(text), -1
		if i == len(content)-1 {
			middle = len(pieces) / 2
		}
		s.pieces(pieces, middle, func(p string) {
			put("content_block_delta", object{"index": i, "delta": object{"type": delta, key: p}})
		})
		if b["type"] == "thinking" {
			signed := object{"type": "signature_delta", "signature": signature}
			put("content_block_delta", object{"index": i, "delta": signed})
		}
		put("content_block_stop", object{"index": i})
	}
	stop := "end_turn"
	if len(a.reply.Calls) > 0 {
		stop = "tool_use"
	}
	end, whole := object{"stop_reason": stop, "stop_sequence": nil}, message(content, stop, a.reply.Usage.Output)
	if a.turn.Checked && a.reply.Verdict != Unchecked {
		results := a.verdicts(content)
		end["safeguard_results"], whole["safeguard_results"] = results, results
	}
	put("message_delta", object{"delta": end, "usage": usage(a.reply.Usage.Output)})
	put("message_stop", object{})
	return whole
}

// blocks returns the content of a Messages answer.
func (a answer) blocks() []object {
	var all []object
	if a.reply.Thinking != "" {
		all = append(all, object{"type": "thinking", "thinking": a.reply.Thinking, "signature": signature})
	}
	if a.reply.Text != "" || len(a.reply.Calls) == 0 {
		all = append(all, object{"type": "text", "text": a.reply.Text})
	}
	for i, c := range a.reply.Calls {
		all = append(all, object{"type": "tool_use", "id": a.id("toolu", i), "name": c.Name, "input": c.Args})
	}
	return all
}

// verdicts returns the results of the safety check for the calls.
func (a answer) verdicts(content []object) []any {
	outcome := "not_flagged"
	if a.reply.Verdict == Flagged {
		outcome = "flagged"
	}
	all := object{}
	for _, b := range content {
		if b["type"] == "tool_use" {
			all[str(b["id"])] = object{"type": "evaluated", "outcome": outcome}
		}
	}
	return []any{object{"type": dangerous, "status": object{"type": "available", "tool_uses": all}}}
}
