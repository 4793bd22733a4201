package scripted

// readGemini reads one content of the Gemini wire.
func (t *Turn) readGemini(c object) {
	role := User
	if str(c["role"]) == "model" {
		role = Assistant
	}
	for _, p := range blocks(c["parts"]) {
		if thought, _ := p["thought"].(bool); thought {
			continue
		}
		if text, ok := p["text"].(string); ok {
			t.add(Message{Role: role, Text: text})
		}
		if call, ok := p["functionCall"].(object); ok {
			t.add(Message{Role: Assistant, Text: string(encode(call["args"])), Call: str(call["name"]), ID: str(call["id"])})
		}
		if res, ok := p["functionResponse"].(object); ok {
			inner, _ := res["response"].(object)
			text := str(inner["output"])
			if text == "" {
				text = string(encode(inner))
			}
			t.add(Message{Role: Result, Text: text, ID: str(res["id"])})
		}
	}
}

// gemini answers as Gemini's API does.
func (a answer) gemini(s *stream) any {
	chunk := func(parts []any, last bool) object {
		candidate := object{"index": 0, "content": object{"role": "model", "parts": parts}}
		o := object{"candidates": []any{candidate}, "modelVersion": a.turn.Model, "responseId": a.id("resp", 0)}
		if u := a.reply.Usage; last {
			candidate["finishReason"] = "STOP"
			o["usageMetadata"] = object{
				"promptTokenCount": u.input(), "candidatesTokenCount": u.Output,
				"cachedContentTokenCount": u.CacheRead, "totalTokenCount": u.input() + u.Output,
			}
		}
		return o
	}
	put := func(part object) { s.send("", chunk([]any{part}, false)) }
	var all []any
	if a.reply.Thinking != "" {
		thought := object{"text": a.reply.Thinking, "thought": true}
		all = append(all, thought)
		put(thought)
	}
	if a.reply.Text != "" {
		all = append(all, object{"text": a.reply.Text})
	}
	texts := a.reply.pieces(a.reply.Text)
	s.pieces(texts, (len(texts)+1)/2, func(p string) { put(object{"text": p}) })
	for i, c := range a.reply.Calls {
		call := object{"functionCall": object{"id": a.id("fc", i), "name": c.Name, "args": c.Args}}
		all = append(all, call)
		put(call)
	}
	s.send("", chunk([]any{object{"text": ""}}, true))
	return chunk(all, true)
}
