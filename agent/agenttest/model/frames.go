package model

import "fmt"

// piece is the number of runes in one streamed piece of text.
const piece = 24

// pieces cuts text for streaming; empty text has none. Long texts are cut into at most 64.
func pieces(text string) []string {
	runes := []rune(text)
	size := max(piece, len(runes)/64+1)
	var all []string
	for len(runes) > 0 {
		n := min(size, len(runes))
		all = append(all, string(runes[:n]))
		runes = runes[n:]
	}
	return all
}

// id makes an id that is the same for the same request number.
func id(kind string, n, i int) string { return fmt.Sprintf("%s_m%06d_%d", kind, n, i) }

func anthropicFrames(t Turn, r Reply, n int) stream {
	usage := object{
		"input_tokens": r.Usage.Input, "cache_read_input_tokens": r.Usage.CacheRead,
		"cache_creation_input_tokens": r.Usage.CacheWrite, "output_tokens": r.Usage.Output,
	}
	start := object{
		"input_tokens": r.Usage.Input, "cache_read_input_tokens": r.Usage.CacheRead,
		"cache_creation_input_tokens": r.Usage.CacheWrite, "output_tokens": 1,
	}
	stop := "end_turn"
	if len(r.Calls) > 0 {
		stop = "tool_use"
	}
	msg := func(content any, usage object, stop any) object {
		return object{
			"id": id("msg", n, 0), "type": "message", "role": "assistant", "model": t.Model,
			"content": content, "stop_reason": stop, "stop_sequence": nil, "usage": usage,
		}
	}
	var s stream
	content := []any{}
	put := func(name string, v object) {
		v["type"] = name
		s.events = append(s.events, event(name, v))
	}
	put("message_start", object{"message": msg([]any{}, start, nil)})
	block := func(begin object, deltas []object, whole object) {
		i := len(content)
		put("content_block_start", object{"index": i, "content_block": begin})
		s.middle = len(s.events) + len(deltas)/2
		for _, d := range deltas {
			put("content_block_delta", object{"index": i, "delta": d})
		}
		put("content_block_stop", object{"index": i})
		content = append(content, whole)
	}
	if r.Thinking != "" {
		block(object{"type": "thinking", "thinking": "", "signature": ""}, []object{
			{"type": "thinking_delta", "thinking": r.Thinking}, {"type": "signature_delta", "signature": "c2lnbmVk"},
		}, object{"type": "thinking", "thinking": r.Thinking, "signature": "c2lnbmVk"})
	}
	if r.Text != "" || len(r.Calls) == 0 {
		var deltas []object
		for _, p := range pieces(r.Text) {
			deltas = append(deltas, object{"type": "text_delta", "text": p})
		}
		block(object{"type": "text", "text": ""}, deltas, object{"type": "text", "text": r.Text})
	}
	verdicts := object{}
	for i, c := range r.Calls {
		call := id("toolu", n, i)
		outcome := "not_flagged"
		if r.Verdict == Flagged {
			outcome = "flagged"
		}
		verdicts[call] = object{"type": "evaluated", "outcome": outcome}
		block(object{"type": "tool_use", "id": call, "name": c.Name, "input": object{}},
			[]object{{"type": "input_json_delta", "partial_json": ""}, {"type": "input_json_delta", "partial_json": string(encode(c.Args))}},
			object{"type": "tool_use", "id": call, "name": c.Name, "input": c.Args})
	}
	delta, whole := object{"stop_reason": stop, "stop_sequence": nil}, msg(content, usage, stop)
	if t.Checked && r.Verdict != Unchecked {
		results := []any{object{"type": dangerous, "status": object{"type": "available", "tool_uses": verdicts}}}
		delta["safeguard_results"], whole["safeguard_results"] = results, results
	}
	put("message_delta", object{"delta": delta, "usage": usage})
	put("message_stop", object{})
	s.whole = whole
	return s
}

func responsesFrames(t Turn, r Reply, n int) stream {
	usage := object{
		"input_tokens":          r.Usage.Input + r.Usage.CacheRead + r.Usage.CacheWrite,
		"input_tokens_details":  object{"cached_tokens": r.Usage.CacheRead, "cache_write_tokens": r.Usage.CacheWrite},
		"output_tokens":         r.Usage.Output,
		"output_tokens_details": object{"reasoning_tokens": 0},
		"total_tokens":          r.Usage.Input + r.Usage.CacheRead + r.Usage.CacheWrite + r.Usage.Output,
	}
	resp := func(status string, output []any, usage any) object {
		return object{
			"id": id("resp", n, 0), "object": "response", "created_at": 1795256930, "status": status,
			"model": t.Model, "output": output, "usage": usage,
		}
	}
	var s stream
	seq := 0
	put := func(name string, v object) {
		v["type"], v["sequence_number"] = name, seq
		seq++
		s.events = append(s.events, event(name, v))
	}
	put("response.created", object{"response": resp("in_progress", []any{}, nil)})
	output := []any{}
	if r.Text != "" || len(r.Calls) == 0 {
		item := id("msg", n, 0)
		message := func(status string, content []any) object {
			return object{"type": "message", "id": item, "role": "assistant", "status": status, "content": content}
		}
		part := object{"type": "output_text", "text": r.Text, "annotations": []any{}}
		put("response.output_item.added", object{"output_index": 0, "item": message("in_progress", []any{})})
		put("response.content_part.added", object{
			"output_index": 0, "item_id": item, "content_index": 0,
			"part": object{"type": "output_text", "text": "", "annotations": []any{}},
		})
		texts := pieces(r.Text)
		s.middle = len(s.events) + (len(texts)+1)/2
		for _, p := range texts {
			put("response.output_text.delta", object{"output_index": 0, "item_id": item, "content_index": 0, "delta": p})
		}
		put("response.output_text.done", object{"output_index": 0, "item_id": item, "content_index": 0, "text": r.Text})
		put("response.output_item.done", object{"output_index": 0, "item": message("completed", []any{part})})
		output = append(output, message("completed", []any{part}))
	}
	for i, c := range r.Calls {
		item := object{
			"type": "function_call", "id": id("fc", n, i), "call_id": id("call", n, i),
			"name": c.Name, "arguments": string(encode(c.Args)), "status": "completed",
		}
		if input, free := c.Args[""].(string); free {
			item = object{
				"type": "custom_tool_call", "id": id("ctc", n, i), "call_id": id("call", n, i),
				"name": c.Name, "input": input, "status": "completed",
			}
		}
		index := len(output)
		put("response.output_item.added", object{"output_index": index, "item": item})
		s.middle = len(s.events)
		put("response.output_item.done", object{"output_index": index, "item": item})
		output = append(output, item)
	}
	whole := resp("completed", output, usage)
	put("response.completed", object{"response": whole})
	s.whole = whole
	return s
}

func chatFrames(t Turn, r Reply, n int) stream {
	input := r.Usage.Input + r.Usage.CacheRead + r.Usage.CacheWrite
	usage := object{
		"prompt_tokens": input, "completion_tokens": r.Usage.Output, "total_tokens": input + r.Usage.Output,
		"prompt_tokens_details": object{"cached_tokens": r.Usage.CacheRead},
	}
	stop := "stop"
	if len(r.Calls) > 0 {
		stop = "tool_calls"
	}
	var s stream
	put := func(delta object, finish, usage any) {
		choices := []any{object{"index": 0, "delta": delta, "finish_reason": finish}}
		if delta == nil {
			choices = []any{}
		}
		s.events = append(s.events, event("", object{
			"id": id("chatcmpl", n, 0), "object": "chat.completion.chunk", "created": 1795256930, "model": t.Model,
			"choices": choices, "usage": usage,
		}))
	}
	put(object{"role": "assistant", "content": ""}, nil, nil)
	texts := pieces(r.Text)
	s.middle = len(s.events) + (len(texts)+1)/2
	for _, p := range texts {
		put(object{"content": p}, nil, nil)
	}
	var calls []any
	for i, c := range r.Calls {
		args := string(encode(c.Args))
		fn := object{"name": c.Name, "arguments": args}
		call := object{"id": id("call", n, i), "type": "function", "function": fn}
		calls = append(calls, call)
		put(object{"tool_calls": []any{object{
			"index": i, "id": call["id"], "type": "function",
			"function": object{"name": c.Name, "arguments": ""},
		}}}, nil, nil)
		put(object{"tool_calls": []any{object{"index": i, "function": object{"arguments": args}}}}, nil, nil)
	}
	put(object{}, stop, nil)
	put(nil, nil, usage)
	s.events = append(s.events, []byte("data: [DONE]\n\n"))
	message := object{"role": "assistant", "content": r.Text}
	if len(calls) > 0 {
		message["tool_calls"] = calls
	}
	s.whole = object{
		"id": id("chatcmpl", n, 0), "object": "chat.completion", "created": 1795256930, "model": t.Model,
		"choices": []any{object{"index": 0, "message": message, "finish_reason": stop}}, "usage": usage,
	}
	return s
}

func geminiFrames(t Turn, r Reply, n int) stream {
	input := r.Usage.Input + r.Usage.CacheRead + r.Usage.CacheWrite
	usage := object{
		"promptTokenCount": input, "candidatesTokenCount": r.Usage.Output,
		"cachedContentTokenCount": r.Usage.CacheRead, "totalTokenCount": input + r.Usage.Output,
	}
	var s stream
	chunk := func(parts []any, last bool) object {
		candidate := object{"index": 0, "content": object{"role": "model", "parts": parts}}
		o := object{"candidates": []any{candidate}, "modelVersion": t.Model, "responseId": id("resp", n, 0)}
		if last {
			candidate["finishReason"] = "STOP"
			o["usageMetadata"] = usage
		}
		return o
	}
	var all []any
	if r.Thinking != "" {
		p := object{"text": r.Thinking, "thought": true}
		all = append(all, p)
		s.events = append(s.events, event("", chunk([]any{p}, false)))
	}
	texts := pieces(r.Text)
	s.middle = len(s.events) + (len(texts)+1)/2
	for _, p := range texts {
		s.events = append(s.events, event("", chunk([]any{object{"text": p}}, false)))
	}
	if r.Text != "" {
		all = append(all, object{"text": r.Text})
	}
	for i, c := range r.Calls {
		p := object{"functionCall": object{"id": id("fc", n, i), "name": c.Name, "args": c.Args}}
		all = append(all, p)
		s.events = append(s.events, event("", chunk([]any{p}, false)))
	}
	s.events = append(s.events, event("", chunk([]any{object{"text": ""}}, true)))
	s.whole = chunk(all, true)
	return s
}
