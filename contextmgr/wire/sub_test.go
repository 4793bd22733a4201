package wire_test

import (
	"net/http"
	"strings"
	"testing"

	"orchestrator/contextmgr/wire"
	"orchestrator/contextmgr/wire/anthropic"
	"orchestrator/contextmgr/wire/gemini"
	"orchestrator/contextmgr/wire/openai"
	"orchestrator/thread"
)

// TestSub: each CLI's way to name the sub-agent that asks.
func TestSub(t *testing.T) {
	anthropicBody := `{"model":"m","tools":[{"name":"Read"}],"messages":[{"role":"user","content":"hello"}]}`
	chatBody := `{"model":"m","tools":[{"type":"function","function":{"name":"bash"}}],"messages":[{"role":"user","content":"hello"}]}`
	responsesBody := `{"model":"m","tools":[{"type":"function","name":"x"}],"input":[{"role":"user","content":"hello"}]}`
	for name, c := range map[string]struct {
		codec  wire.Codec
		path   string
		header map[string]string
		body   string
		want   thread.SubAgent
	}{
		"none": {anthropic.New(), "/v1/messages", nil, anthropicBody, thread.SubAgent{}},
		"by its id": {anthropic.New(), "/v1/messages", map[string]string{"X-Claude-Code-Agent-Id": "a1"}, anthropicBody,
			thread.SubAgent{Key: "a1"}},
		"of another": {anthropic.New(), "/v1/messages", map[string]string{
			"X-Claude-Code-Agent-Id": "a2", "X-Claude-Code-Parent-Agent-Id": "a1", "X-Claude-Code-Agent-Type": "Plan",
		}, anthropicBody, thread.SubAgent{Key: "a2", Parent: "a1", Type: "Plan"}},
		"a child session": {openai.NewChat(), "/v1/chat/completions", map[string]string{"X-Session-Id": "s2", "X-Parent-Session-Id": "s1"},
			chatBody, thread.SubAgent{Key: "s2", Parent: "s1"}},
		"by its name": {openai.NewResponses(), "/v1/responses", map[string]string{"X-Openai-Subagent": "collab_spawn",
			"X-Codex-Turn-Metadata": `{"request_kind":"turn","thread_id":"t2","parent_thread_id":"t1","agent_name":"/root/one"}`},
			responsesBody, thread.SubAgent{Key: "t2", Parent: "t1", Name: "one"}},
		"a review": {openai.NewResponses(), "/v1/responses", map[string]string{"X-Openai-Subagent": "review", "Thread-Id": "t3"},
			responsesBody, thread.SubAgent{Key: "t3", Type: "review"}},
		"its metadata are no JSON": {openai.NewResponses(), "/v1/responses", map[string]string{"X-Openai-Subagent": "collab_spawn",
			"X-Codex-Turn-Metadata": `{"thread_id`}, responsesBody, thread.SubAgent{}},
	} {
		call := wire.Call{Path: c.path, Header: http.Header{}, Body: []byte(c.body)}
		for k, v := range c.header {
			call.Header.Set(k, v)
		}
		if r, err := c.codec.Request(call); err != nil || r.Sub != c.want {
			t.Errorf("%s: %+v, %v", name, r.Sub, err)
		}
	}
}

// TestConversation: without an id, all requests of a conversation have one key, and only the first is the first.
func TestConversation(t *testing.T) {
	ask := func(first, rest string) thread.SubAgent {
		body := `{"systemInstruction":{"parts":[{"text":"You are"}]},"tools":[{"functionDeclarations":[{"name":"complete_task"}]}],` +
			`"contents":[{"role":"user","parts":[{"text":"` + first + `"}]}` + rest + `]}`
		r, err := gemini.New().Request(wire.Call{Path: "/v1beta/models/m:streamGenerateContent", Header: http.Header{}, Body: []byte(body)})
		if err != nil {
			t.Fatal(err)
		}
		return r.Sub
	}
	one, later := ask("look", ""), ask("look", `,{"role":"model","parts":[{"text":"I look"}]}`)
	other := ask("look there", "")
	if !one.Made || !one.First || later.First || one.Key != later.Key || one.Key == other.Key || !strings.HasPrefix(one.Key, "conversation:") {
		t.Errorf("%+v, %+v, %+v", one, later, other)
	}
}
