package notes_test

import (
	"encoding/json"
	"io"
	"strings"
	"testing"

	"orchestrator/mcpctl/notes"
)

// TestServe talks with the server as an agent does.
func TestServe(t *testing.T) {
	in := []string{
		`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}`,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
	}
	wants := []string{"notes"}
	for _, c := range []struct{ method, params, want string }{
		{"ping", `{}`, `{}`},
		{"tools/list", `{}`, `"name":"many"`},
		{"prompts/list", `{}`, `prompts/list is not supported`},
		{"tools/call", `{"name":"list"}`, `no notes yet`},
		{"tools/call", `{"name":"add","arguments":{"text":" buy milk "}}`, `kept as note 1`},
		{"tools/call", `{"name":"add","arguments":{"text":" "}}`, `"isError":true`},
		{"tools/call", `{"name":"add","arguments":{"text":"` + strings.Repeat("x", 20_000) + `"}}`, `at most 10000`},
		{"tools/call", `{"name":"list"}`, `1. buy milk\n"`},
		{"tools/call", `{"name":"many","arguments":{"count":2}}`, `record 2`},
		{"tools/call", `{"name":"many","arguments":{"count":-1}}`, `from 0 to 100000`},
		{"tools/call", `{"name":"many","arguments":{"count":"x"}}`, `tools/call`},
		{"tools/call", `{"name":"nope"}`, `there is no tool`},
	} {
		in = append(in, `{"jsonrpc":"2.0","id":`+string(rune('0'+len(wants)%10))+`,"method":"`+c.method+`","params":`+c.params+`}`)
		wants = append(wants, c.want)
	}
	askIn, ask := io.Pipe()
	tell, tellOut := io.Pipe()
	done := make(chan error, 1)
	go func() { done <- notes.Serve(askIn, tellOut, askIn) }()
	answers := json.NewDecoder(tell)
	n := 0
	for _, line := range in {
		if _, err := io.WriteString(ask, line+"\n"); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(line, `"id"`) {
			continue
		}
		var answer json.RawMessage
		if err := answers.Decode(&answer); err != nil || !strings.Contains(string(answer), wants[n]) {
			t.Errorf("%.80s: %s, want %s (%v)", line, answer, wants[n], err)
		}
		n++
	}
	if err := ask.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Logf("it ended with its input: %v", err)
	}
}
