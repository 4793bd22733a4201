package scripted

import "encoding/json"

// readResponses reads the input of the Responses wire, a string or a list of items.
func (t *Turn) readResponses(raw json.RawMessage) {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		t.add(Message{Role: User, Text: text})
		return
	}
	var items []object
	if json.Unmarshal(raw, &items) != nil {
		return
	}
	for _, it := range items {
		id := str(it["call_id"])
		switch str(it["type"]) {
		case "additional_tools":
			t.readNamespace(it["tools"])
		case "function_call":
			t.add(Message{Role: Assistant, Text: str(it["arguments"]), Call: str(it["name"]), ID: id})
		case "custom_tool_call":
			t.add(Message{Role: Assistant, Text: str(it["input"]), Call: str(it["name"]), ID: id})
		case "function_call_output", "custom_tool_call_output":
			t.add(Message{Role: Result, Text: flat(it["output"]), ID: id})
		case "message", "":
			for _, b := range blocks(it["content"]) {
				t.add(Message{Role: roleOf(it), Text: str(b["text"])})
			}
		}
	}
}

// readNamespace reads the tools that Codex puts into the conversation: namespaces of tools, of which the free-form
// "exec" runs JavaScript that calls all others.
func (t *Turn) readNamespace(v any) {
	list, _ := v.([]any)
	for _, e := range list {
		tool, _ := e.(object)
		if str(tool["type"]) == "namespace" {
			t.readNamespace(tool["tools"])
			continue
		}
		t.Tools = append(t.Tools, Tool{Name: str(tool["name"]), Free: str(tool["type"]) == "custom"})
	}
}

// responses answers as OpenAI's Responses API does.
func (a answer) responses(s *stream) any {
	response := func(status string, output []any, usage any) object {
		return object{
			"id": a.id("resp", 0), "object": "response", "created_at": created, "status": status,
			"model": a.turn.Model, "output": output, "usage": usage,
		}
	}
	seq := 0
	put := func(kind string, v object) {
		v["type"], v["sequence_number"] = kind, seq
		seq++
		s.send(kind, v)
	}
	put("response.created", object{"response": response("in_progress", []any{}, nil)})
	output := []any{}
	if a.reply.Text != "" || len(a.reply.Calls) == 0 {
		output = append(output, a.message(s, put))
	}
	for i, c := range a.reply.Calls {
		item := object{
			"type": "function_call", "id": a.id("fc", i), "call_id": a.id("call", i),
			"name": c.Name, "arguments": string(encode(c.Args)), "status": "completed",
		}
		if c.Namespace != "" {
			item["namespace"] = c.Namespace
		}
		if input, free := c.Args[""].(string); free {
			item = object{
				"type": "custom_tool_call", "id": a.id("ctc", i), "call_id": a.id("call", i),
				"name": c.Name, "input": input, "status": "completed",
			}
		}
		put("response.output_item.added", object{"output_index": len(output), "item": item})
		if i == len(a.reply.Calls)-1 {
			s.halfway()
		}
		put("response.output_item.done", object{"output_index": len(output), "item": item})
		output = append(output, item)
	}
	u := a.reply.Usage
	whole := response("completed", output, object{
		"input_tokens":          u.input(),
		"input_tokens_details":  object{"cached_tokens": u.CacheRead, "cache_write_tokens": u.CacheWrite},
		"output_tokens":         u.Output,
		"output_tokens_details": object{"reasoning_tokens": 0},
		"total_tokens":          u.input() + u.Output,
	})
	put("response.completed", object{"response": whole})
	return whole
}

// message puts the message of a Responses answer, its first item, and returns it.
func (a answer) message(s *stream, put func(kind string, v object)) object {
	id := a.id("msg", 0)
	item := func(status string, content []any) object {
		return object{"type": "message", "id": id, "role": "assistant", "status": status, "content": content}
	}
	part := func(text string) object { return object{"type": "output_text", "text": text, "annotations": []any{}} }
	inPart := func(kind, key string, v any) {
		put(kind, object{"output_index": 0, "item_id": id, "content_index": 0, key: v})
	}
	put("response.output_item.added", object{"output_index": 0, "item": item("in_progress", []any{})})
	inPart("response.content_part.added", "part", part(""))
	texts, middle := a.reply.pieces(a.reply.Text), -1
	if len(a.reply.Calls) == 0 {
		middle = (len(texts) + 1) / 2
	}
	s.pieces(texts, middle, func(p string) { inPart("response.output_text.delta", "delta", p) })
	inPart("response.output_text.done", "text", a.reply.Text)
	whole := item("completed", []any{part(a.reply.Text)})
	put("response.output_item.done", object{"output_index": 0, "item": whole})
	return whole
}
