package scripted

// created is the creation time in answers of OpenAI's wires.
const created = 1795256930

// readChat reads a message of the Chat wire.
func (t *Turn) readChat(m object) {
	if str(m["role"]) == "tool" {
		t.add(Message{Role: Result, Text: flat(m["content"]), ID: str(m["tool_call_id"])})
		return
	}
	role := roleOf(m)
	for _, b := range blocks(m["content"]) {
		if str(b["type"]) == "text" {
			t.add(Message{Role: role, Text: str(b["text"])})
		}
	}
	calls, _ := m["tool_calls"].([]any)
	for _, v := range calls {
		call, _ := v.(object)
		fn, _ := call["function"].(object)
		t.add(Message{Role: Assistant, Text: str(fn["arguments"]), Call: str(fn["name"]), ID: str(call["id"])})
	}
}

// chat answers as OpenAI's Chat Completions do.
func (a answer) chat(s *stream) any {
	completion := func(kind string, choices []any, usage any) object {
		return object{
			"id": a.id("chatcmpl", 0), "object": kind, "created": created, "model": a.turn.Model,
			"choices": choices, "usage": usage,
		}
	}
	put := func(delta object, finish any) {
		choice := object{"index": 0, "delta": delta, "finish_reason": finish}
		s.send("", completion("chat.completion.chunk", []any{choice}, nil))
	}
	put(object{"role": "assistant", "content": ""}, nil)
	texts := a.reply.pieces(a.reply.Text)
	s.pieces(texts, (len(texts)+1)/2, func(p string) { put(object{"content": p}, nil) })
	message, stop := object{"role": "assistant", "content": a.reply.Text}, "stop"
	var calls []any
	for i, c := range a.reply.Calls {
		id, args := a.id("call", i), string(encode(c.Args))
		begun := object{"name": c.Name, "arguments": ""}
		put(object{"tool_calls": []any{object{"index": i, "id": id, "type": "function", "function": begun}}}, nil)
		put(object{"tool_calls": []any{object{"index": i, "function": object{"arguments": args}}}}, nil)
		fn := object{"name": c.Name, "arguments": args}
		calls = append(calls, object{"id": id, "type": "function", "function": fn})
		message["tool_calls"], stop = calls, "tool_calls"
	}
	put(object{}, stop)
	u := a.reply.Usage
	usage := object{
		"prompt_tokens": u.input(), "completion_tokens": u.Output, "total_tokens": u.input() + u.Output,
		"prompt_tokens_details": object{"cached_tokens": u.CacheRead},
	}
	s.send("", completion("chat.completion.chunk", []any{}, usage))
	s.write([]byte("data: [DONE]\n\n"))
	choice := object{"index": 0, "message": message, "finish_reason": stop}
	return completion("chat.completion", []any{choice}, usage)
}
