package verb

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/cmd/orchestrator/exitcode"
)

// piece is one piece of a made-up session, which each format writes in its way.
type piece struct {
	kind    string // prompt, think, say, call, result, compacted
	text    string // of a call, the file that its tool is called with
	id      string
	failed  bool
	request int   // of what the model wrote, from 1
	read    int64 // tokens of the request in the cache
	out     int64
}

const (
	toldIn, toldWrite = 3, 1_400
	toldStep          = 20 * time.Second // between requests
)

// toldStory is a session with prompts, parallel calls, an error and a compaction. In the order of Claude Code the result
// of a call comes before the next call of the same response.
func toldStory(interleaved bool) []piece {
	var s []piece
	tokens := int64(40_000)
	for n := 1; n <= 70; n++ {
		switch {
		case n == 50:
			s = append(s, piece{kind: "compacted"})
			tokens = 25_000
		case n%10 == 1:
			s = append(s, piece{kind: "prompt", text: strings.Repeat("do it ", n)})
		}
		add := func(t piece) {
			t.request, t.read, t.out = n, tokens, 30 // as much as was said, so that it is believed
			s = append(s, t)
		}
		add(piece{kind: "think", text: strings.Repeat("so ", 10)})
		add(piece{kind: "say", text: "on"})
		var results []piece
		for i := range 2 {
			id := fmt.Sprintf("call_%d_%d", n, i)
			add(piece{kind: "call", id: id, text: fmt.Sprintf("/f%d", (n+i)/3)})
			result := piece{kind: "result", id: id, text: strings.Repeat("a line\n", 150*(i+1)), failed: n == 20}
			if interleaved {
				s = append(s, result)
			} else {
				results = append(results, result)
			}
		}
		s = append(s, results...)
		tokens += 1_500
	}
	return s
}

// toolOf returns the tool of a call: every second one changes a file.
func toolOf(id string) string {
	if strings.HasSuffix(id, "1") {
		return "Edit"
	}
	return "Read"
}

func inputOf(t piece) string { return fmt.Sprintf(`{"file_path":%q}`, t.text) }

func toldAt(t piece) time.Time {
	return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC).Add(time.Duration(t.request) * toldStep)
}

type object = map[string]any

// jsonLines writes lines of JSON.
type jsonLines struct {
	strings.Builder
	t *testing.T
}

func (w *jsonLines) add(v any) {
	w.t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		w.t.Fatal(err)
	}
	w.Write(append(raw, '\n'))
}

// own writes the project's own format.
func own(t *testing.T, story []piece, model string) string {
	w := jsonLines{t: t}
	request := 0
	for _, s := range story {
		line := object{"role": "assistant", "content": s.text, "tool": toolOf(s.id), "id": s.id}
		if s.request > request {
			request = s.request
			line["t"], line["model"] = toldAt(s).Sub(toldAt(story[0])).Seconds(), model
			line["usage"] = object{"in": toldIn, "read": s.read, "write": toldWrite, "out": s.out}
		}
		switch s.kind {
		case "prompt":
			line["role"], line["type"] = "user", "text"
		case "think":
			line["type"] = "thinking"
		case "say":
			line["type"] = "text"
		case "call":
			line["type"], line["content"] = "tool_use", inputOf(s)
		case "result":
			line["role"], line["type"], line["is_error"] = "user", "tool_result", s.failed
		case "compacted":
			line["role"], line["type"] = "system", "boundary"
		}
		w.add(line)
	}
	return w.String()
}

// asClaude writes what Claude Code does: a line for each block, the counts on all of them, and much else.
func asClaude(t *testing.T, story []piece) string {
	w := jsonLines{t: t}
	parent := any(nil)
	line := func(kind string, s piece, message any) object {
		id := fmt.Sprintf("uuid-%d", w.Len())
		l := object{"type": kind, "uuid": id, "parentUuid": parent, "sessionId": "s", "isSidechain": false, "timestamp": toldAt(s)}
		if message != nil {
			l["message"] = message
		}
		parent = id
		return l
	}
	w.add(object{"type": "queue-operation", "operation": "enqueue", "sessionId": "s", "content": "do it"})
	for _, s := range story {
		if s.request == 0 && s.kind == "prompt" {
			w.add(line("user", s, object{"role": "user", "content": s.text}))
			w.add(object{"type": "last-prompt", "lastPrompt": s.text, "sessionId": "s"})
			// Old versions wrote the requests of sub-agents between those of the session.
			w.add(object{"type": "user", "uuid": "sub", "isSidechain": true, "sessionId": "s", "message": object{"content": "sub"}})
			w.add(object{"type": "assistant", "uuid": "sub2", "isSidechain": true, "sessionId": "s", "message": object{
				"id": "sub", "model": "claude-x", "content": "yes", "usage": object{"input_tokens": 99_999}}})
			continue
		}
		block := object{}
		switch s.kind {
		case "think":
			block = object{"type": "thinking", "thinking": s.text, "signature": "abc"}
		case "say":
			block = object{"type": "text", "text": s.text}
		case "call":
			block = object{"type": "tool_use", "id": s.id, "name": toolOf(s.id), "input": json.RawMessage(inputOf(s))}
		case "result":
			content := any([]object{{"type": "text", "text": s.text}})
			if strings.HasSuffix(s.id, "1") {
				content = s.text
			}
			w.add(line("user", s, object{"content": []object{{"type": "tool_result", "tool_use_id": s.id, "content": content, "is_error": s.failed}}}))
			continue
		case "compacted":
			parent = nil
			l := line("system", s, nil)
			l["subtype"] = "compact_boundary"
			w.add(l)
			l = line("user", s, object{"content": "This session is continued"})
			l["isCompactSummary"] = true
			w.add(l)
			continue
		}
		out := s.out
		if s.kind != "call" {
			out = 1 // only the last line of a response has all
		}
		w.add(line("assistant", s, object{"id": fmt.Sprint("msg", s.request), "model": "claude-opus-4-6", "content": []object{block},
			"usage": object{"input_tokens": toldIn, "cache_read_input_tokens": s.read, "cache_creation_input_tokens": toldWrite, "output_tokens": out}}))
	}
	w.add(line("assistant", piece{}, object{"id": "x", "model": "<synthetic>", "content": "Prompt is too long", "usage": object{"input_tokens": 0}}))
	return w.String()
}

// asCodex writes what Codex does. The counts of a response come behind it as a record, only as an event, or before it.
func asCodex(counts string) func(t *testing.T, story []piece) string {
	return func(t *testing.T, story []piece) string {
		w := jsonLines{t: t}
		line := func(kind string, s piece, payload object) {
			w.add(object{"timestamp": toldAt(s), "type": kind, "payload": payload})
		}
		total := 0
		count := func(s piece) {
			total += int(s.out)
			u := object{"input_tokens": s.read + toldIn + toldWrite, "cached_input_tokens": s.read, "cache_write_input_tokens": toldWrite, "output_tokens": s.out}
			if counts == "record" {
				line("token_usage_record", s, object{"usage": u})
			}
			for range 2 { // it is repeated
				line("event_msg", s, object{"type": "token_count", "info": object{"last_token_usage": u, "total_token_usage": object{"output_tokens": total}}})
			}
		}
		line("session_meta", piece{}, object{"id": "s", "base_instructions": strings.Repeat("be good ", 3_000)})
		line("event_msg", piece{}, object{"type": "token_count", "info": nil})
		line("turn_context", piece{}, object{"model": "gpt-5.5"})
		request := 0
		for i, s := range story {
			if s.request > request && counts == "before" {
				count(s)
			}
			request = max(request, s.request)
			switch s.kind {
			case "prompt":
				line("response_item", s, object{"type": "message", "role": "user", "content": []object{{"type": "input_text", "text": s.text}}})
			case "think":
				line("response_item", s, object{"type": "reasoning", "summary": []object{{"type": "summary_text", "text": s.text}}, "content": nil, "encrypted_content": "xyz"})
				line("event_msg", s, object{"type": "agent_reasoning", "text": s.text})
			case "say":
				line("response_item", s, object{"type": "message", "role": "assistant", "content": []object{{"type": "output_text", "text": s.text}}})
			case "call":
				item := object{"type": "function_call", "name": toolOf(s.id), "arguments": inputOf(s), "call_id": s.id}
				if toolOf(s.id) == "Edit" {
					item = object{"type": "custom_tool_call", "name": toolOf(s.id), "input": inputOf(s), "call_id": s.id}
				}
				line("response_item", s, item)
			case "result":
				item := object{"type": "function_call_output", "call_id": s.id, "output": s.text}
				if toolOf(s.id) == "Edit" {
					item = object{"type": "custom_tool_call_output", "call_id": s.id, "output": []object{{"type": "input_text", "text": s.text}}}
				}
				line("response_item", s, item)
			case "compacted":
				line("compacted", s, object{"message": "so far", "replacement_history": []object{}})
				line("event_msg", s, object{"type": "context_compacted"})
			}
			if last := i+1 == len(story) || story[i+1].request != s.request; s.request > 0 && last && counts != "before" {
				count(s)
			}
		}
		return w.String()
	}
}

// asGemini writes what Gemini CLI does: messages again when the results of their tools are there, all of them when a
// session is resumed; or, as older versions, one object.
func asGemini(lines bool) func(t *testing.T, story []piece) string {
	return func(t *testing.T, story []piece) string {
		head := object{"sessionId": "s", "projectHash": "h", "startTime": toldAt(piece{})}
		w := jsonLines{t: t}
		w.add(head)
		var messages []object
		add := func(m object) {
			m["id"] = fmt.Sprint("m", len(messages))
			messages = append(messages, m)
			w.add(m)
			w.add(object{"$set": object{"lastUpdated": toldAt(piece{})}})
		}
		for _, s := range story {
			var m object
			if len(messages) > 0 {
				m = messages[len(messages)-1]
			}
			switch s.kind {
			case "prompt":
				add(object{"type": "user", "content": []object{{"text": s.text}}})
			case "think":
				add(object{"type": "gemini", "timestamp": toldAt(s), "model": "gemini-2.5-pro", "content": "", "toolCalls": []object{},
					"thoughts": []object{{"subject": "", "description": s.text}},
					"tokens":   object{"input": s.read + toldIn + toldWrite, "cached": s.read, "output": s.out - 10, "thoughts": 10, "tool": 0}})
			case "say":
				m["content"] = s.text
				w.add(m)
			case "call":
				calls, _ := m["toolCalls"].([]object)
				m["toolCalls"] = append(calls, object{"id": s.id, "name": toolOf(s.id), "args": json.RawMessage(inputOf(s))})
				w.add(m)
			case "result":
				calls, _ := m["toolCalls"].([]object)
				for _, c := range calls {
					if c["id"] == s.id {
						c["status"], c["result"] = "success", []object{{"functionResponse": object{"id": s.id, "name": toolOf(s.id), "response": object{"output": s.text}}}}
						if s.failed {
							c["status"] = "error"
						}
					}
				}
				w.add(m)
			case "compacted":
				set := []object{{"id": "summary", "type": "user", "content": []object{{"text": "so far"}}}}
				if !lines {
					t.Fatal("an object has no compaction")
				}
				w.add(object{"$set": object{"messages": set}})
			}
			if s.kind == "result" && s.id == "call_30_1" { // resumed: what was known is said again, with less
				var all []object
				for _, m := range messages {
					all = append(all, object{"id": m["id"], "type": m["type"], "content": []object{{"text": "less"}}})
				}
				w.add(head)
				w.add(object{"$set": object{"messages": append(all, object{"id": "call_30_1_response", "type": "user",
					"content": []object{{"functionResponse": object{"id": s.id, "response": object{"output": s.text}}}}})}})
			}
		}
		if lines {
			return w.String()
		}
		head["messages"] = messages
		raw, err := json.MarshalIndent(head, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
}

// openCodeMessages returns the session as messages of opencode, which have one response each, or several steps.
func openCodeMessages(story []piece, steps int) []object {
	var messages []object
	var parts []object
	var info object
	request := 0
	end := func() {
		if info != nil {
			parts = append(parts, object{"type": "step-finish", "tokens": info["tokens"]})
			messages[len(messages)-1]["parts"] = parts
		}
		info = nil
	}
	for _, s := range story {
		switch {
		case s.kind == "prompt":
			end()
			messages = append(messages, object{"info": object{"role": "user", "time": object{"created": toldAt(s).UnixMilli()}},
				"parts": []object{{"type": "text", "text": s.text}}})
			continue
		case s.kind == "compacted":
			end()
			messages = append(messages, object{"info": object{"role": "assistant", "summary": true, "modelID": "m", "tokens": object{"input": 99_999}},
				"parts": []object{{"type": "text", "text": "so far"}}})
			continue
		case s.request > request && info != nil && s.request%steps != 1:
			parts = append(parts, object{"type": "step-finish", "tokens": info["tokens"]}, object{"type": "step-start"})
			info["tokens"] = tokensOf(s)
			request = s.request
		case s.request > request:
			end()
			request = s.request
			info = object{"role": "assistant", "modelID": "claude-opus-4-6", "tokens": tokensOf(s), "time": object{"created": toldAt(s).UnixMilli(), "completed": 9}}
			parts = []object{{"type": "step-start"}}
			messages = append(messages, object{"info": info})
		}
		switch s.kind {
		case "think":
			parts = append(parts, object{"type": "reasoning", "text": s.text})
		case "say":
			parts = append(parts, object{"type": "text", "text": s.text})
		case "call":
			parts = append(parts, object{"type": "tool", "tool": toolOf(s.id), "callID": s.id, "state": object{"input": json.RawMessage(inputOf(s))}})
		case "result":
			for _, p := range parts {
				if p["callID"] == s.id {
					state, _ := p["state"].(object)
					state["status"], state["output"] = "completed", s.text
					if s.failed {
						state["status"] = "error"
					}
				}
			}
		}
	}
	end()
	return messages
}

func tokensOf(s piece) object {
	return object{"input": toldIn, "output": s.out - 10, "reasoning": 10, "cache": object{"read": s.read, "write": toldWrite}}
}

// asExport writes what `opencode export` does.
func asExport(t *testing.T, story []piece) string {
	raw, err := json.MarshalIndent(object{"info": object{"id": "ses_abcdefgh", "version": "1"}, "messages": openCodeMessages(story, 1)}, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// asDatabase writes opencode's database, with an empty session before ours.
func asDatabase(t *testing.T, path string, story []piece) {
	db, err := sql.Open("sqlite3", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	tx, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := tx.Commit(); err != nil {
			t.Error(err)
		}
	}()
	do := func(query string, args ...any) {
		t.Helper()
		if _, err := tx.Exec(query, args...); err != nil {
			t.Fatal(err)
		}
	}
	do(`CREATE TABLE session (id TEXT, time_created INTEGER)`)
	do(`CREATE TABLE message (id TEXT, session_id TEXT, data TEXT)`)
	do(`CREATE TABLE part (id TEXT, message_id TEXT, session_id TEXT, data TEXT)`)
	do(`INSERT INTO session VALUES ('ses_b', 2), ('ses_a', 1)`)
	text := func(v any) string {
		w := jsonLines{t: t}
		w.add(v)
		return w.String()
	}
	for i, m := range openCodeMessages(story, 1) {
		id := fmt.Sprintf("msg_%05d", i)
		do(`INSERT INTO message VALUES (?, 'ses_b', ?)`, id, text(m["info"]))
		parts, _ := m["parts"].([]object)
		for j, p := range parts {
			do(`INSERT INTO part VALUES (?, ?, 'ses_b', ?)`, fmt.Sprintf("prt_%05d_%03d", i, j), id, text(p))
		}
	}
}

// asStorage writes what older versions of opencode did below a folder, and returns the session's file.
func asStorage(t *testing.T, dir string, story []piece) string {
	w := func(v any, path ...string) string {
		l := jsonLines{t: t}
		l.add(v)
		name := filepath.Join(append([]string{dir, "storage"}, path...)...)
		e2e.Put(t, name, l.String())
		return name
	}
	for i, m := range openCodeMessages(story, 1) {
		id := fmt.Sprintf("msg_%05d", i)
		info, _ := m["info"].(object)
		info["id"] = id
		w(info, "message", "ses_abcdefgh", id+".json")
		parts, _ := m["parts"].([]object)
		for j, p := range parts {
			w(p, "part", id, fmt.Sprintf("prt_%03d.json", j))
		}
	}
	e2e.Put(t, filepath.Join(dir, "storage", "message", "ses_abcdefgh", "msg_99999.json"), `{"half":`)
	e2e.Put(t, filepath.Join(dir, "storage", "part", "msg_00001", "prt_999.json"), `{"half":`)
	return w(object{"id": "ses_abcdefgh", "projectID": "global", "directory": "/w"}, "session", "global", "note.txt")
}

// replayedAs replays a file, and returns what --json says.
func replayedAs(t *testing.T, path string) replayed {
	t.Helper()
	code, out, problems := contextReplay(t, path, "--json")
	var r replayed
	if err := json.Unmarshal([]byte(out), &r); err != nil || code != exitcode.OK {
		t.Fatalf("%s: exit %d, %v: %s", filepath.Base(path), code, err, problems)
	}
	return r
}

// TestContextReplayNative: a session has the same figures in the format of its agent as in ours, whatever the file is
// called; and a broken line in the middle is skipped and counted.
func TestContextReplayNative(t *testing.T) {
	uncompacted := func(story []piece) []piece {
		return story[:len(story)*2/3]
	}
	for _, c := range []struct {
		name, agent, model string
		interleaved        bool
		write              func(t *testing.T, story []piece) string
		short, whole       bool // nothing is compacted; the file is one object, in which no line can be broken
	}{
		{name: "claude", agent: "claude", model: "claude-opus-4-6", interleaved: true, write: asClaude},
		{name: "codex", agent: "codex", model: "gpt-5.5", write: asCodex("record")},
		{name: "codex, events", agent: "codex", model: "gpt-5.5", write: asCodex("event")},
		{name: "codex, 2025", agent: "codex", model: "gpt-5.5", write: asCodex("before")},
		{name: "gemini", agent: "gemini", model: "gemini-2.5-pro", write: asGemini(true)},
		{name: "gemini, one object", agent: "gemini", model: "gemini-2.5-pro", write: asGemini(false), short: true, whole: true},
		{name: "opencode, exported", agent: "opencode", model: "claude-opus-4-6", write: asExport, whole: true},
		{name: "opencode, steps", agent: "opencode", model: "claude-opus-4-6", whole: true, write: func(t *testing.T, story []piece) string {
			w := jsonLines{t: t}
			w.add(object{"info": object{"id": "ses_abcdefgh"}, "messages": openCodeMessages(story, 5)})
			return w.String()
		}},
		{name: "opencode, database", agent: "opencode", model: "claude-opus-4-6", whole: true},
		{name: "opencode, files", agent: "opencode", model: "claude-opus-4-6", whole: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			story := toldStory(c.interleaved)
			if c.agent == "codex" { // which does not say what failed
				for i := range story {
					story[i].failed = false
				}
			}
			if c.short {
				story = uncompacted(story)
			}
			dir := t.TempDir()
			ours := filepath.Join(dir, "x__"+c.agent+"__ours.jsonl")
			e2e.Put(t, ours, own(t, story, c.model))
			want := replayedAs(t, ours)
			if len(want.Groups) == 0 || want.Groups[0].Segments < 2 != c.short || want.Groups[0].Results[6].Masks == 0 || want.Groups[0].Results[6].EditsRead == 0 {
				t.Fatalf("the story says nothing: %+v", want)
			}
			native, sessions := filepath.Join(dir, "note.txt"), 1
			switch {
			case c.name == "opencode, files":
				native = asStorage(t, dir, story)
			case c.write == nil:
				asDatabase(t, native, story)
				sessions = 2
			default:
				text := c.write(t, story)
				if !c.whole {
					at := strings.Index(text[len(text)/2:], "\n") + len(text)/2 + 1
					text = text[:at] + "{\"type\":\"assi\n" + text[at:] + `{"half":`
				}
				e2e.Put(t, native, text)
			}
			got := replayedAs(t, native)
			if !reflect.DeepEqual(got.Groups, want.Groups) {
				t.Errorf("in the native format:\n%+v\nin ours:\n%+v", got.Groups, want.Groups)
			}
			if broken := got.broken(); broken != map[bool]int{true: 0, false: 2}[c.whole] {
				t.Errorf("%d broken lines: %+v", broken, got.Problems)
			}
			if got.Files != 1 || got.Sessions != sessions {
				t.Errorf("%d files with %d sessions, want %d", got.Files, got.Sessions, sessions)
			}
		})
	}
}
