package model

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"orchestrator/agent/scripted"
)

// object is any JSON object.
type object = map[string]any

// ask sends a body and returns the status and the answer.
func ask(t *testing.T, s *Server, path string, v any) (int, string) {
	t.Helper()
	resp, err := http.Post(s.URL()+path, "application/json", bytes.NewReader(encode(v)))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(raw)
}

// conversations are the same request in every wire format: a prompt, a call and its result.
func conversations(stream bool, prompt string) map[string]object {
	schema := object{"type": "object", "properties": object{"command": object{}, "description": object{}}}
	return map[string]object{
		"/t/x/v1/messages?beta=true": {
			"model": "m", "stream": stream,
			"tools": []any{object{"name": "Bash", "input_schema": schema}},
			"messages": []any{
				object{"role": "user", "content": []any{
					object{"type": "text", "text": "<system-reminder>x</system-reminder>"},
					object{"type": "text", "text": prompt},
				}},
				object{"role": "assistant", "content": []any{
					object{"type": "text", "text": "one moment"},
					object{"type": "tool_use", "id": "a", "name": "Bash", "input": object{"command": "ls"}},
				}},
				object{"role": "user", "content": []any{
					object{"type": "tool_result", "tool_use_id": "a", "content": "out"},
					object{"type": "text", "text": "<system-reminder>y</system-reminder>"},
				}},
			},
		},
		"/t/x/v1/chat/completions": {
			"model": "m", "stream": stream,
			"tools": []any{object{"type": "function", "function": object{"name": "bash", "parameters": schema}}},
			"messages": []any{
				object{"role": "system", "content": "be good"},
				object{"role": "user", "content": prompt},
				object{"role": "assistant", "content": "one moment", "tool_calls": []any{
					object{"id": "a", "function": object{"name": "bash", "arguments": `{"command":"ls"}`}},
				}},
				object{"role": "tool", "tool_call_id": "a", "content": "out"},
			},
		},
		"/t/x/v1/responses": {
			"model": "m", "stream": stream,
			"tools": []any{object{
				"type": "function", "name": "exec_command", "parameters": object{"properties": object{"cmd": object{}}},
			}},
			"input": []any{
				object{"type": "message", "role": "developer", "content": []any{
					object{"type": "input_text", "text": "be good"},
				}},
				object{"type": "message", "role": "user", "content": []any{object{"type": "input_text", "text": prompt}}},
				object{"type": "message", "role": "assistant", "content": []any{
					object{"type": "output_text", "text": "one moment"},
				}},
				object{"type": "function_call", "call_id": "a", "name": "exec_command", "arguments": `{"cmd":"ls"}`},
				object{"type": "function_call_output", "call_id": "a", "output": "out"},
			},
		},
		"/t/x/v1beta/models/m:" + map[bool]string{true: "streamGenerateContent?alt=sse", false: "generateContent"}[stream]: {
			"tools": []any{object{"functionDeclarations": []any{
				object{"name": "run_shell_command", "parametersJsonSchema": schema},
			}}},
			"contents": []any{
				object{"role": "user", "parts": []any{object{"text": "<session_context>"}, object{"text": prompt}}},
				object{"role": "model", "parts": []any{
					object{"text": "one moment"},
					object{"functionCall": object{"name": "run_shell_command", "args": object{"command": "ls"}}},
				}},
				object{"role": "user", "parts": []any{
					object{"functionResponse": object{"name": "run_shell_command", "response": object{"output": "out"}}},
				}},
			},
		},
	}
}

func TestEveryWireTellsTheSameConversation(t *testing.T) {
	for _, stream := range []bool{false, true} {
		for path, req := range conversations(stream, "do it #bash:ls #say:all done now") {
			t.Run(path, func(t *testing.T) {
				s := New(nil)
				defer s.Close()
				status, answer := ask(t, s, path, req)
				if status != http.StatusOK || !strings.Contains(answer, "all done now") {
					t.Fatalf("status %d, answer %s", status, answer)
				}
				got := s.Main()
				if len(got) != 1 {
					t.Fatalf("%d main requests", len(got))
				}
				turn := got[0].Turn
				if d := cmp.Diff([]string{"do it #bash:ls #say:all done now"}, turn.Prompts()); d != "" {
					t.Error(d)
				}
				if d := cmp.Diff([]string{"one moment"}, turn.Answers()); d != "" {
					t.Error(d)
				}
				if d := cmp.Diff([]string{"out"}, turn.Results()); d != "" {
					t.Error(d)
				}
				if turn.Round != 1 || turn.Model != "m" || turn.Stream != stream || turn.Side {
					t.Errorf("round %d, model %q, stream %v, side %v", turn.Round, turn.Model, turn.Stream, turn.Side)
				}
			})
		}
	}
}

func TestStepsFollowTheRounds(t *testing.T) {
	for path, req := range conversations(true, "x #bash:ls #usage:1,2,3,4 #bash:echo two") {
		t.Run(path, func(t *testing.T) {
			s := New(nil)
			defer s.Close()
			_, answer := ask(t, s, path, req)
			if !strings.Contains(answer, "echo two") {
				t.Errorf("no second call in %s", answer)
			}
			want := scripted.Usage{Input: 1, CacheRead: 2, CacheWrite: 3, Output: 4}
			if d := cmp.Diff(want, s.Requests()[0].Reply.Usage); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestMarkers(t *testing.T) {
	tools := []scripted.Tool{{Name: "Bash", Params: json.RawMessage(`{"properties":{"command":{}}}`)}, {Name: "Write"}}
	call := func(name string, args map[string]any) scripted.Reply {
		return scripted.Reply{Calls: []scripted.Call{{Name: name, Args: args}}}
	}
	tests := []struct {
		prompt string
		round  int
		want   scripted.Reply
	}{
		{"hello", 0, scripted.Reply{Text: "answer to: hello"}},
		{"#say:hi there", 0, scripted.Reply{Text: "hi there"}},
		{"#say:hi\nmore", 0, scripted.Reply{Text: "hi"}},
		{"#bash:ls -la | wc #say:ok", 0, call("Bash", map[string]any{"command": "ls -la | wc"})},
		{"#bash:ls #say:ok", 1, scripted.Reply{Text: "ok"}},
		{"#bash:ls", 1, scripted.Reply{Text: "done"}},
		{"#write:a.txt=x=1 #say:ok", 0, call("Write", map[string]any{"file_path": "/w/a.txt", "content": "x=1"})},
		{"#think:hm #say:ok", 0, scripted.Reply{Thinking: "hm", Text: "ok"}},
		{"#hold:a #say:ok", 0, scripted.Reply{Hold: "a", Text: "ok"}},
		{"#cut #say:ok", 0, scripted.Reply{Cut: true, Text: "ok"}},
		{"#page #say:ok", 0, scripted.Reply{Page: true, Text: "ok"}},
		{"#flagged #say:ok", 0, scripted.Reply{Verdict: scripted.Flagged, Text: "ok"}},
		{"#unchecked #say:ok", 0, scripted.Reply{Verdict: scripted.Unchecked, Text: "ok"}},
		{"#status:529x2 #say:ok", 0, scripted.Reply{Status: 529, Fails: 2, Text: "ok"}},
		{"#big:5", 0, scripted.Reply{Text: "lorem"}},
		{"a #hold:x", 0, scripted.Reply{Hold: "x", Text: "answer to: a #hold:x"}},
	}
	for _, tt := range tests {
		got := Markers(Turn{Turn: scripted.Turn{Prompt: tt.prompt, Round: tt.round, Tools: tools}, Dir: "/w"})
		if d := cmp.Diff(tt.want, got); d != "" {
			t.Errorf("%q: %s", tt.prompt, d)
		}
	}
}

func TestFailuresEnd(t *testing.T) {
	s := New(nil)
	defer s.Close()
	req := conversations(false, "#bash:ls #status:529x2 #say:ok")["/t/x/v1/messages?beta=true"]
	for i, want := range []int{529, 529, 200} {
		if got, answer := ask(t, s, "/v1/messages", req); got != want {
			t.Errorf("attempt %d: status %d, want %d: %s", i, got, want, answer)
		}
	}
}

func TestHoldAndCut(t *testing.T) {
	s := New(nil)
	defer s.Close()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	held := conversations(true, "#bash:ls #hold:h #say:ok")["/t/x/v1/messages?beta=true"]
	done := make(chan string)
	go func() {
		resp, err := http.Post(s.URL()+"/v1/messages", "application/json", bytes.NewReader(encode(held)))
		if err != nil {
			done <- err.Error()
			return
		}
		defer resp.Body.Close()
		raw, err := io.ReadAll(resp.Body)
		done <- string(raw) + errText(err)
	}()
	if _, err := s.Wait(ctx, func(r Request) bool { return r.Turn.Round == 1 }); err != nil {
		t.Fatal(err)
	}
	select {
	case got := <-done:
		t.Fatalf("not held: %s", got)
	default:
	}
	s.Release("h")
	s.Release("h")
	if got := <-done; !strings.Contains(got, "message_stop") {
		t.Errorf("after the release: %s", got)
	}

	cut := conversations(true, "#bash:ls #cut #say:ok")["/t/x/v1/chat/completions"]
	resp, err := http.Post(s.URL()+"/v1/chat/completions", "application/json", bytes.NewReader(encode(cut)))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if _, err := io.ReadAll(resp.Body); err == nil {
		t.Error("the connection was not broken")
	}
}

func errText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestSideRequestsAndTheRest(t *testing.T) {
	s := New(nil)
	defer s.Close()
	_, answer := ask(t, s, "/v1/messages", object{
		"model": "m", "messages": []any{object{"role": "user", "content": "title? #bash:ls"}},
	})
	if !strings.Contains(answer, "Scripted title") {
		t.Errorf("title: %s", answer)
	}
	status, answer := ask(t, s, "/v1/messages/count_tokens", object{})
	if status != 200 || !strings.Contains(answer, "input_tokens") {
		t.Errorf("count: %d %s", status, answer)
	}
	if status, _ := ask(t, s, "/nowhere", object{}); status != 404 {
		t.Errorf("unknown path: %d", status)
	}
	if status, _ := ask(t, s, "/v1/messages", "no object"); status != 400 {
		t.Errorf("bad body: %d", status)
	}
	if n := len(s.Main()); n != 0 {
		t.Errorf("%d main requests", n)
	}
	if n := len(s.Requests()); n != 4 {
		t.Errorf("%d requests", n)
	}
}

// TestVerdicts asks for a safety check as Claude Code's auto mode does: the end of the answer has the verdicts, where
// the script gives any.
func TestVerdicts(t *testing.T) {
	s := New(nil)
	defer s.Close()
	for _, c := range []struct {
		name, prompt string
		checked      bool
		want         string
	}{
		{"not asked for", "#bash:ls", false, ""},
		{"safe", "#bash:ls", true, `"outcome":"not_flagged"`},
		{"dangerous", "#flagged #bash:ls", true, `"outcome":"flagged"`},
		{"unknown", "#unchecked #bash:ls", true, ""},
	} {
		for _, stream := range []bool{false, true} {
			body := object{
				"model": "m", "stream": stream, "tools": []any{object{"name": "Bash"}},
				"messages": []any{object{"role": "user", "content": c.prompt}},
			}
			if c.checked {
				body["safeguards"] = []any{object{"type": "dangerous_tool_use"}}
			}
			_, got := ask(t, s, "/v1/messages", body)
			unasked := c.want == "" && strings.Contains(got, "safeguard_results")
			if unasked || !strings.Contains(got, c.want) || !strings.Contains(got, "tool_use") {
				t.Errorf("%s, streamed %v: %s", c.name, stream, got)
			}
		}
	}
}
