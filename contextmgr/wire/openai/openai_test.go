package openai_test

import (
	"strings"
	"testing"

	"orchestrator/contextmgr/wire"
	"orchestrator/contextmgr/wire/openai"
	"orchestrator/contextmgr/wire/wiretest"
	"orchestrator/thread"
)

// ev is an event of the Responses format.
func ev(kind, rest string) string {
	return "event: " + kind + "\ndata: {\"type\":\"" + kind + "\"" + rest + "}\n\n"
}

const turnMetadata = `{"session_id":"01a1","thread_id":"01a1","agent_name":"/root","request_kind":"turn",` +
	`"thread_source":"user"}`

var responses = wiretest.Sample{
	Path:   "/v1/responses",
	Header: map[string]string{"Session-Id": "01a1", "X-Codex-Turn-Metadata": turnMetadata},
	Body: `{"model":"gpt-5.5","stream":true,"store":false,"prompt_cache_key":"01a1","text":{"verbosity":"low"},
 "tools":[{"type":"function","name":"exec_command"},{"type":"custom","name":"apply_patch"},{"type":"tool_search"}],
 "input":[
  {"type":"message","role":"developer","content":[{"type":"input_text","text":"You are Codex"}]},
  {"type":"message","role":"user","content":[{"type":"input_text",` +
		`"text":"<environment_context>\n  <cwd>/w</cwd>\n</environment_context>"}]},
  {"type":"message","role":"user","content":[{"type":"input_text","text":"first"}]},
  {"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"think"}],"encrypted_content":"gAAA"},
  {"type":"function_call","name":"exec_command","call_id":"call_1","arguments":"{\"cmd\":\"ls\"}"},
  {"type":"function_call_output","call_id":"call_1","output":"a.txt\n"},
  {"type":"message","role":"assistant","content":[{"type":"output_text","text":"one file"}]},
  {"role":"user","content":"second"}]}`,
	Stream: ev("response.created", `,"response":{"id":"resp_1","model":"gpt-5.5-2026-04-01","status":"in_progress"}`) +
		ev("response.output_item.added", `,"output_index":0,"item":{"type":"reasoning","summary":[]}`) +
		ev("response.output_item.done",
			`,"output_index":0,"item":{"type":"reasoning","id":"rs_2","summary":[],"encrypted_content":"gBBB"}`) +
		ev("response.output_text.delta", `,"output_index":1,"delta":"I patch "`) +
		ev("response.output_text.delta", `,"output_index":1,"delta":"é"`) +
		ev("response.output_item.done", `,"output_index":1,"item":{"type":"message","role":"assistant",`+
			`"phase":"commentary","content":[{"type":"output_text","text":"I patch é"}]}`) +
		ev("response.output_item.done", `,"output_index":2,"item":{"type":"custom_tool_call","name":"apply_patch",`+
			`"call_id":"call_2","input":"*** Begin Patch"}`) +
		ev("response.output_item.done", `,"output_index":3,"item":{"type":"function_call","namespace":"mcp__fk",`+
			`"name":"alpha","call_id":"call_3","arguments":"{}"}`) +
		ev("response.completed", `,"response":{"id":"resp_1","model":"gpt-5.5-2026-04-01","status":"completed","output":[],`+
			`"usage":{"input_tokens":1000,"input_tokens_details":{"cached_tokens":700,"cache_write_tokens":100},`+
			`"output_tokens":55,"output_tokens_details":{"reasoning_tokens":20}}}`),
	Whole: `{"object":"response","model":"gpt-5.5-2026-04-01","status":"completed","output":[{"type":"reasoning",` +
		`"id":"rs_2","summary":[]},{"type":"message","role":"assistant","content":[{"type":"output_text",` +
		`"text":"I patch é"}]},{"type":"custom_tool_call","name":"apply_patch","call_id":"call_2","input":"x"},` +
		`{"type":"function_call","namespace":"mcp__fk","name":"alpha","call_id":"call_3","arguments":"{}"}],` +
		`"usage":{"input_tokens":1000,"input_tokens_details":{"cached_tokens":700,"cache_write_tokens":100},` +
		`"output_tokens":55}}`,

	Prompt: "second", Session: "01a1", Items: 8,
	Result: wire.Result{
		Model: "gpt-5.5-2026-04-01", Text: "I patch é", Tools: []string{"apply_patch", "mcp__fk.alpha"}, Stop: "completed",
		Complete: true,
		Usage:    wire.Usage{Input: 200, CacheRead: 700, CacheWrite: 100, Output: 55},
	},
	Entries: []thread.Entry{
		{Kind: thread.EntryPrompt, Text: "first"},
		{Kind: thread.EntryThinking, Text: "think"},
		{Kind: thread.EntryCall, Tool: "exec_command", Call: "call_1", Text: `{"cmd":"ls"}`},
		{Kind: thread.EntryResult, Tool: "exec_command", Call: "call_1", Text: "a.txt\n"},
		{Kind: thread.EntryAnswer, Text: "one file"},
		{Kind: thread.EntryPrompt, Text: "second"},
		{Kind: thread.EntryAnswer, Text: "I patch é"},
		{Kind: thread.EntryCall, Tool: "apply_patch", Call: "call_2", Text: "*** Begin Patch"},
		{Kind: thread.EntryCall, Tool: "mcp__fk.alpha", Call: "call_3", Text: "{}"},
	},
	Turns: []int{2, 7},
}

func chunk(rest string) string {
	return `data: {"id":"c1","object":"chat.completion.chunk","model":"qwen3-coder-plus",` + rest + "}\n\n"
}

var chat = wiretest.Sample{
	Path:   "/v1/chat/completions",
	Header: map[string]string{"X-Session-Id": "ses_1", "User-Agent": "opencode/1.18.33"},
	Body: `{"model":"qwen3-coder-plus","stream":true,"stream_options":{"include_usage":true},
 "tools":[{"type":"function","function":{"name":"bash","parameters":{}}}],
 "messages":[
  {"role":"system","content":"You are opencode"},
  {"role":"user","content":[{"type":"text","text":"<system-reminder>\nx\n</system-reminder>"},` +
		`{"type":"text","text":"first"}]},
  {"role":"assistant","content":null,"reasoning_content":"hm","tool_calls":[{"id":"call_1",` +
		`"type":"function","function":{"name":"bash","arguments":"{\"command\":\"ls\"}"}}]},
  {"role":"tool","tool_call_id":"call_1","content":"a.txt"},
  {"role":"assistant","content":"one file"},
  {"role":"user","content":"<current_datetime>2026</current_datetime>\n\nsecond"}]}`,
	Stream: chunk(`"choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]`) +
		chunk(`"choices":[{"index":0,"delta":{"reasoning_content":"so"},"finish_reason":null}]`) +
		chunk(`"choices":[{"index":0,"delta":{"content":"I look "}}]`) +
		chunk(`"choices":[{"index":1,"delta":{"content":"another choice"}}]`) +
		chunk(`"choices":[{"index":0,"delta":{"content":"é"}}]`) +
		chunk(`"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_2","type":"function",`+
			`"function":{"name":"bash","arguments":""}}]}}]`) +
		chunk(`"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"command\":"}}]}}]`) +
		chunk(`"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"\"ls\"}"}}]}}]`) +
		chunk(`"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]`) +
		chunk(`"choices":[],"usage":{"prompt_tokens":1000,"completion_tokens":55,`+
			`"prompt_tokens_details":{"cached_tokens":700}}`) +
		"data: [DONE]\n\n",
	Whole: `{"object":"chat.completion","model":"qwen3-coder-plus","choices":[{"index":0,"finish_reason":"tool_calls",` +
		`"message":{"role":"assistant","content":"I look é","tool_calls":[{"id":"call_2","type":"function",` +
		`"function":{"name":"bash","arguments":"{}"}}]}}],"usage":{"prompt_tokens":1000,"completion_tokens":55,` +
		`"prompt_tokens_details":{"cached_tokens":700}}}`,

	Prompt: "second", Session: "ses_1", Items: 6,
	Result: wire.Result{
		Model: "qwen3-coder-plus", Text: "I look é", Tools: []string{"bash"}, Stop: "tool_calls", Complete: true,
		Usage: wire.Usage{Input: 300, CacheRead: 700, Output: 55},
	},
	Entries: []thread.Entry{
		{Kind: thread.EntryPrompt, Text: "first"},
		{Kind: thread.EntryThinking, Text: "hm"},
		{Kind: thread.EntryCall, Tool: "bash", Call: "call_1", Text: `{"command":"ls"}`},
		{Kind: thread.EntryResult, Tool: "bash", Call: "call_1", Text: "a.txt"},
		{Kind: thread.EntryAnswer, Text: "one file"},
		{Kind: thread.EntryPrompt, Text: "second"},
		{Kind: thread.EntryThinking, Text: "so"},
		{Kind: thread.EntryAnswer, Text: "I look é"},
		{Kind: thread.EntryCall, Tool: "bash", Call: "call_2", Text: `{"command":"ls"}`},
	},
	Turns: []int{1, 5},
}

func TestResponses(t *testing.T) { wiretest.Run(t, openai.NewResponses(), responses) }
func TestChat(t *testing.T)      { wiretest.Run(t, openai.NewChat(), chat) }

func FuzzResponses(f *testing.F) { wiretest.Fuzz(f, openai.NewResponses(), responses) }
func FuzzChat(f *testing.F)      { wiretest.Fuzz(f, openai.NewChat(), chat) }

func BenchmarkResponses(b *testing.B) {
	wiretest.Bench(b, openai.NewResponses(), responses, func(text string) string {
		return strings.Replace(responses.Body, `a.txt\n`, text, 1)
	})
}

func BenchmarkChat(b *testing.B) {
	wiretest.Bench(b, openai.NewChat(), chat, func(text string) string {
		return strings.Replace(chat.Body, `a.txt`, text, 1)
	})
}

func TestResponsesPurpose(t *testing.T) {
	hello := `"input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"hello"}]}]`
	tools := `"tools":[{"type":"function","name":"exec_command"},{"type":"custom","name":"apply_patch"}],`
	meta := func(s string) map[string]string { return map[string]string{"X-Codex-Turn-Metadata": s} }
	wiretest.Purposes(t, openai.NewResponses(), map[string]struct {
		Path   string
		Header map[string]string
		Body   string
		Want   wire.Purpose
	}{
		"conversation": {"/v1/responses", meta(turnMetadata), `{"model":"gpt-5.5",` + tools + hello + `}`,
			wire.PurposeMain},
		"without a header":  {"/responses", nil, `{"model":"gpt-5.5",` + tools + hello + `}`, wire.PurposeMain},
		"input as a string": {"/responses", nil, `{"model":"gpt-5.5","input":"hello"}`, wire.PurposeMain},
		"exec with a schema": {"/responses", nil, `{"model":"gpt-5.5","text":{"format":{"type":"json_schema",` +
			`"name":"out"}},` + tools + hello + `}`, wire.PurposeMain},
		"prewarm": {"/v1/responses", meta(`{"request_kind":"prewarm"}`),
			`{"model":"gpt-5.5",` + tools + hello + `}`, wire.PurposeOther},
		"title, by header": {"/v1/responses", meta(`{"request_kind":"title"}`), `{"model":"gpt-5.5",` + hello + `}`,
			wire.PurposeTitle},
		"title, by shape": {"/v1/responses", nil, `{"model":"gpt-5.5","instructions":"Write a short title",` +
			`"tools":[{"type":"function","name":"x"}],"text":{"format":{"type":"json_schema","name":"codex_output_schema"}},` +
			hello + `}`, wire.PurposeTitle},
		"title, opencode": {"/v1/responses", nil, `{"model":"gpt-5-nano","input":[{"role":"developer",` +
			`"content":"You are a title generator. You output ONLY a thread title."},{"role":"user",` +
			`"content":[{"type":"input_text","text":"Generate a title for this conversation:\n"}]}]}`, wire.PurposeTitle},
		"compaction, path": {"/v1/responses/compact", nil, `{"model":"gpt-5.5",` + hello + `}`, wire.PurposeCompaction},
		"compaction, kind": {"/v1/responses", meta(`{"request_kind":"compact"}`),
			`{"model":"gpt-5.5",` + tools + hello + `}`, wire.PurposeCompaction},
		"compaction, sub": {"/v1/responses", map[string]string{"X-Openai-Subagent": "compact"},
			`{"model":"gpt-5.5",` + tools + hello + `}`, wire.PurposeCompaction},
		"compaction, asks": {"/v1/responses", nil, `{"model":"gpt-5.5",` + tools +
			`"input":[{"role":"user","content":"You are performing a CONTEXT CHECKPOINT COMPACTION. Create a handoff"}]}`,
			wire.PurposeCompaction},
		"sub-agent, name": {"/v1/responses", meta(`{"request_kind":"turn","agent_name":"/root/helper"}`),
			`{"model":"gpt-5.5",` + tools + hello + `}`, wire.PurposeSubagent},
		"sub-agent, source": {"/v1/responses", meta(`{"request_kind":"turn","thread_source":"subagent"}`),
			`{"model":"gpt-5.5",` + tools + hello + `}`, wire.PurposeSubagent},
		"review": {"/v1/responses", map[string]string{"X-Openai-Subagent": "review"},
			`{"model":"gpt-5.5",` + tools + hello + `}`, wire.PurposeSubagent},
		"count": {"/v1/responses/input_tokens", nil, `{"model":"gpt-5.5",` + hello + `}`, wire.PurposeCount},
		"classifier": {"/v1/responses", nil, `{"model":"gpt-5.5","text":{"format":{"type":"json_schema"}},` + hello + `}`,
			wire.PurposeClassifier},
	})
}

func TestChatPurpose(t *testing.T) {
	hello := `{"role":"user","content":"hello"}`
	tools := `"tools":[{"type":"function","function":{"name":"bash"}}],`
	wiretest.Purposes(t, openai.NewChat(), map[string]struct {
		Path   string
		Header map[string]string
		Body   string
		Want   wire.Purpose
	}{
		"conversation": {"/v1/chat/completions", nil, `{"model":"m",` + tools + `"messages":[` + hello + `]}`,
			wire.PurposeMain},
		"without tools": {"/v1/chat/completions", nil, `{"model":"llama3","messages":[` + hello + `]}`, wire.PurposeMain},
		"copilot": {"/v1/chat/completions", map[string]string{"X-Initiator": "agent"},
			`{"model":"gpt-5.5",` + tools + `"messages":[{"role":"system","content":"You are the GitHub Copilot CLI"},` + hello +
				`]}`, wire.PurposeMain},
		"opencode title": {"/v1/chat/completions", nil,
			`{"model":"small","messages":[{"role":"system",` +
				`"content":"You are a title generator. You output ONLY a thread title."},{"role":"user",` +
				`"content":"Generate a title for this conversation:\n"},` + hello + `]}`, wire.PurposeTitle},
		"opencode compaction": {"/v1/chat/completions", nil,
			`{"model":"m","messages":[{"role":"system","content":"You are an anchored context summarization assistant"},` +
				hello + `]}`, wire.PurposeCompaction},
		"opencode sub-agent": {"/v1/chat/completions", map[string]string{"X-Parent-Session-Id": "ses_0"},
			`{"model":"m",` + tools + `"messages":[` + hello + `]}`, wire.PurposeSubagent},
		"qwen memory": {"/v1/chat/completions", nil,
			`{"model":"qwen3-coder-plus",` + tools + `"messages":[{"role":"system",` +
				`"content":"You are a managed memory extraction agent"},` + hello + `]}`, wire.PurposeOther},
		"qwen memory, task": {"/v1/chat/completions", nil,
			`{"model":"qwen3-coder-plus",` + tools + `"messages":[{"role":"system","content":"You are Qwen Code"},` + hello +
				`,{"role":"user","content":"Managed memory has TWO directories. Choose which one"}]}`, wire.PurposeOther},
		"qwen suggestion": {"/v1/chat/completions", nil,
			`{"model":"qwen3-coder-plus","messages":[{"role":"system","content":"You are Qwen Code"},{"role":"user",` +
				`"content":"Suggest what the user may type next"}]}`, wire.PurposeOther},
		"qwen classifier": {"/v1/chat/completions", nil,
			`{"model":"qwen3-coder-plus","response_format":{"type":"json_schema"},"messages":[` + hello + `]}`,
			wire.PurposeClassifier},
	})
}

func TestStreamOddities(t *testing.T) {
	for name, tc := range map[string]struct {
		codec wire.Codec
		in    string
		want  func(wire.Result) bool
	}{
		"responses, cut in a message": {openai.NewResponses(), ev("response.output_text.delta", `,"delta":"half"`),
			func(r wire.Result) bool {
				return r.Text == "half" && !r.Complete && strings.Contains(string(r.Item), `"half"`)
			}},
		"responses, failed": {openai.NewResponses(), ev("response.failed",
			`,"response":{"status":"failed","error":{"code":"rate_limit_exceeded","message":"slow down"}}`),
			func(r wire.Result) bool {
				return r.Err == "rate_limit_exceeded: slow down" && !r.EndsTurn
			}},
		"responses, incomplete": {openai.NewResponses(),
			ev("response.incomplete", `,"response":{"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"},`+
				`"usage":{"input_tokens":3,"output_tokens":4}}`), func(r wire.Result) bool {
				return r.Stop == "max_output_tokens" && r.EndsTurn && r.Complete && r.Usage.Input == 3
			}},
		"responses, error event": {openai.NewResponses(), ev("error", `,"code":"x","message":"bad"`),
			func(r wire.Result) bool { return r.Err != "" && !r.EndsTurn }},
		"responses, output at the end only": {openai.NewResponses(),
			ev("response.completed", `,"response":{"status":"completed","output":[{"type":"message","role":"assistant",`+
				`"content":[{"type":"output_text","text":"hi"}]}]}`), func(r wire.Result) bool {
				return r.Text == "hi" && r.EndsTurn
			}},
		"responses, silly usage": {openai.NewResponses(),
			ev("response.completed", `,"response":{"usage":{"input_tokens":5,"input_tokens_details":{"cached_tokens":9,`+
				`"cache_write_tokens":9},"output_tokens":-1}}`), func(r wire.Result) bool {
				return r.Usage == wire.Usage{CacheRead: 5, Odd: true}
			}},
		"chat, no finish": {openai.NewChat(), chunk(`"choices":[{"index":0,"delta":{"content":"half"}}]`),
			func(r wire.Result) bool { return r.Text == "half" && !r.Complete && !r.EndsTurn }},
		"chat, done only": {openai.NewChat(), chunk(`"choices":[{"index":0,"delta":{"content":"hi"}}]`) +
			"data: [DONE]\n\n", func(r wire.Result) bool { return r.Complete && r.EndsTurn }},
		"chat, length": {openai.NewChat(), chunk(`"choices":[{"index":0,"delta":{"content":"hi"},` +
			`"finish_reason":"length"}]`), func(r wire.Result) bool { return r.Stop == "length" && r.EndsTurn }},
		"chat, error": {openai.NewChat(), `data: {"error":{"message":"overloaded","type":"server_error"}}` + "\n\n",
			func(r wire.Result) bool { return r.Err == "server_error: overloaded" && !r.EndsTurn }},
		"chat, wild tool index": {openai.NewChat(), chunk(`"choices":[{"index":0,"delta":{"tool_calls":[{"index":-1},` +
			`{"index":99999999},{"id":"a","function":{"name":"f"}}]}}]`),
			func(r wire.Result) bool { return len(r.Tools) == 3 && r.Tools[2] == "f" }},
		"chat, deepseek cache": {openai.NewChat(), chunk(`"choices":[],"usage":{"prompt_tokens":10,` +
			`"prompt_cache_hit_tokens":4}`), func(r wire.Result) bool { return r.Usage == wire.Usage{Input: 6, CacheRead: 4} }},
	} {
		t.Run(name, func(t *testing.T) {
			if r := wiretest.Read(tc.codec, wiretest.StreamType, tc.in); !tc.want(r) {
				t.Errorf("read %+v, item %s", r, r.Item)
			}
		})
	}
}
