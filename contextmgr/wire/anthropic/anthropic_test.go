package anthropic_test

import (
	"strings"
	"testing"

	"orchestrator/contextmgr/wire"
	"orchestrator/contextmgr/wire/anthropic"
	"orchestrator/contextmgr/wire/wiretest"
	"orchestrator/thread"
)

func event(kind, rest string) string {
	return "event: " + kind + "\ndata: {\"type\":\"" + kind + "\"" + rest + "}\n\n"
}

var sample = wiretest.Sample{
	Path:   "/v1/messages",
	Header: map[string]string{"Anthropic-Beta": "claude-code-20250219"},
	Body: `{"model":"claude-sonnet-4-6","max_tokens":32000,"stream":true,` +
		`"system":[{"type":"text","text":"You are Claude Code"}],
 "metadata":{"user_id":"{\"device_id\":\"d\",\"account_uuid\":\"\",` +
		`\"session_id\":\"11111111-1111-4111-8111-111111111111\"}"},
 "tools":[{"name":"Bash","input_schema":{}},{"name":"Read","input_schema":{}}],
 "messages":[
  {"content":[{"text":"<system-reminder>\n# Environment\n</system-reminder>","type":"text"},` +
		`{"text":"first \u2603 <thing>","type":"text"}],"role":"user"},
  {"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"c2ln"},` +
		`{"type":"tool_use","id":"toolu_1","name":"Bash","input":{"command": "ls  -la", "n":1.0}}]},
  {"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","is_error":true,` +
		`"content":"no\n\n<system-reminder>x</system-reminder>"}]},
  {"role":"system","content":"mid"},
  {"role":"assistant","content":"it failed"},
  {"role":"user","content":"second\u2028line"}]}`,
	Stream: event("message_start", `,"message":{"id":"msg_1","type":"message","role":"assistant",`+
		`"model":"claude-sonnet-4-6","content":[],"usage":{"input_tokens":4,"cache_creation_input_tokens":100,`+
		`"cache_read_input_tokens":900,"cache_creation":{"ephemeral_5m_input_tokens":60,"ephemeral_1h_input_tokens":40},`+
		`"output_tokens":1}}`) +
		event("ping", ``) +
		event("content_block_start", `,"index":0,"content_block":{"type":"thinking","thinking":"","signature":""}`) +
		event("content_block_delta", `,"index":0,"delta":{"type":"thinking_delta","thinking":"let me"}`) +
		event("content_block_delta", `,"index":0,"delta":{"type":"signature_delta","signature":"EqQB"}`) +
		event("content_block_stop", `,"index":0`) +
		event("content_block_start", `,"index":1,"content_block":{"type":"text","text":""}`) +
		event("content_block_delta", `,"index":1,"delta":{"type":"text_delta","text":"I look "}`) +
		event("content_block_delta", `,"index":1,"delta":{"type":"text_delta","text":"é <b>"}`) +
		event("content_block_stop", `,"index":1`) +
		event("content_block_start",
			`,"index":2,"content_block":{"type":"tool_use","id":"toolu_2","name":"Read","input":{}}`) +
		event("content_block_delta", `,"index":2,"delta":{"type":"input_json_delta","partial_json":""}`) +
		event("content_block_delta", `,"index":2,"delta":{"type":"input_json_delta","partial_json":"{\"path\": \"a<b\""}`) +
		event("content_block_delta", `,"index":2,"delta":{"type":"input_json_delta","partial_json":"}"}`) +
		event("content_block_stop", `,"index":2`) +
		event("message_delta",
			`,"delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":77,"input_tokens":0}`) +
		event("message_stop", ``),
	Whole: `{"id":"msg_1","type":"message","role":"assistant","model":"claude-sonnet-4-6","stop_reason":"tool_use",` +
		`"content":[{"type":"thinking","thinking":"let me","signature":"EqQB"},{"type":"text","text":"I look é <b>"},` +
		`{"type":"tool_use","id":"toolu_2","name":"Read","input":{"path":"a<b"}}],"usage":{"input_tokens":4,` +
		`"cache_creation_input_tokens":100,"cache_read_input_tokens":900,"cache_creation":{"ephemeral_1h_input_tokens":40},` +
		`"output_tokens":77}}`,

	Prompt: "second\u2028line", Session: "11111111-1111-4111-8111-111111111111", Items: 6,
	Result: wire.Result{
		Model: "claude-sonnet-4-6", Text: "I look é <b>", Tools: []string{"Read"}, Stop: "tool_use", Complete: true,
		Usage: wire.Usage{Input: 4, CacheRead: 900, CacheWrite: 100, CacheWriteHr: 40, Output: 77},
	},
	Entries: []thread.Entry{
		{Kind: thread.EntryPrompt, Text: "first ☃ <thing>"},
		{Kind: thread.EntryThinking, Text: "hm"},
		{Kind: thread.EntryCall, Tool: "Bash", Call: "toolu_1", Text: `{"command": "ls  -la", "n":1.0}`},
		{Kind: thread.EntryResult, Tool: "Bash", Call: "toolu_1", Text: "no\n\n<system-reminder>x</system-reminder>",
			Error: true},
		{Kind: thread.EntryAnswer, Text: "it failed"},
		{Kind: thread.EntryPrompt, Text: "second\u2028line"},
		{Kind: thread.EntryThinking, Text: "let me"},
		{Kind: thread.EntryAnswer, Text: "I look é <b>"},
		{Kind: thread.EntryCall, Tool: "Read", Call: "toolu_2", Text: `{"path":"a<b"}`},
	},
	Turns: []int{0, 5},
}

func TestCodec(t *testing.T) { wiretest.Run(t, anthropic.New(), sample) }

func FuzzCodec(f *testing.F) { wiretest.Fuzz(f, anthropic.New(), sample) }

func BenchmarkRequest(b *testing.B) {
	wiretest.Bench(b, anthropic.New(), sample, func(text string) string {
		return strings.Replace(sample.Body, `"content":"no`, `"content":"`+text, 1)
	})
}

func TestAnswerItemKeepsWhatMustNotChange(t *testing.T) {
	got := string(wiretest.Read(anthropic.New(), wiretest.StreamType, sample.Stream).Item)
	for _, want := range []string{
		`{"signature":"EqQB","thinking":"let me","type":"thinking"}`, `"text":"I look é <b>"`, `"id":"toolu_2"`,
		`"input":{"path":"a<b"}`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%s lacks %s", got, want)
		}
	}
}

func TestStreamOddities(t *testing.T) {
	start := event("message_start", `,"message":{"model":"m","usage":{"input_tokens":0,"output_tokens":1}}`)
	text := event("content_block_start", `,"index":0,"content_block":{"type":"text","text":"a"}`)
	stop := event("message_stop", ``)
	for name, tc := range map[string]struct {
		in   string
		want func(wire.Result) bool
	}{
		"nothing": {"", func(r wire.Result) bool { return r.Item == nil && !r.Complete && r.Err != "" }},
		"only pings": {strings.Repeat(event("ping", ""), 100),
			func(r wire.Result) bool { return !r.Complete && r.Err != "" }},
		"no stop": {start + text + event("message_delta", `,"delta":{"stop_reason":"end_turn"}`),
			func(r wire.Result) bool { return !r.Complete && !r.EndsTurn && r.Text == "a" }},
		"two stops": {start + text + stop + stop + text,
			func(r wire.Result) bool { return r.Complete && r.Text == "a" && r.Err == "" }},
		"garbage": {"\x00\xff\n\n{}\n\ndata: {]\n\n" + start + text + stop,
			func(r wire.Result) bool { return r.Complete && r.Text == "a" }},
		"wild index": {start + event("content_block_start", `,"index":99999999,"content_block":{"type":"text"}`) +
			event("content_block_delta", `,"index":-3,"delta":{"text":"x"}`) + text + stop,
			func(r wire.Result) bool { return r.Text == "a" }},
		"late counts": {start + text + event("message_delta",
			`,"delta":{"stop_reason":"end_turn"},"usage":{"input_tokens":7,"cache_read_input_tokens":8,"output_tokens":9}`) +
			stop, func(r wire.Result) bool {
			return r.Usage == wire.Usage{Input: 7, CacheRead: 8, Output: 9} && r.EndsTurn
		}},
		"error": {start + text + event("error", `,"error":{"type":"overloaded_error","message":"Overloaded"}`),
			func(r wire.Result) bool {
				return r.Err == "overloaded_error: Overloaded" && !r.EndsTurn && r.Text == "a"
			}},
		"broken input": {start + event("content_block_start",
			`,"index":0,"content_block":{"type":"tool_use","id":"t","name":"Bash","input":{}}`) +
			event("content_block_delta", `,"index":0,"delta":{"type":"input_json_delta","partial_json":"{\"a"}`),
			func(r wire.Result) bool {
				return strings.Contains(string(r.Item), `"input":{}`) && len(r.Tools) == 1
			}},
		"refusal": {start + event("message_delta", `,"delta":{"stop_reason":"refusal"}`) + stop,
			func(r wire.Result) bool { return r.EndsTurn && r.Stop == "refusal" }},
		"pause": {start + event("message_delta", `,"delta":{"stop_reason":"pause_turn"}`) + stop,
			func(r wire.Result) bool { return !r.EndsTurn }},
		"max tokens": {start + text + event("message_delta", `,"delta":{"stop_reason":"max_tokens"}`) + stop,
			func(r wire.Result) bool { return r.EndsTurn }},
	} {
		t.Run(name, func(t *testing.T) {
			if r := wiretest.Read(anthropic.New(), wiretest.StreamType, tc.in); !tc.want(r) {
				t.Errorf("read %+v, item %s", r, r.Item)
			}
		})
	}
}

func TestPurpose(t *testing.T) {
	tools := `"tools":[{"name":"Bash"}],`
	hello := `"messages":[{"role":"user","content":"hello"}]`
	wiretest.Purposes(t, anthropic.New(), map[string]struct {
		Path   string
		Header map[string]string
		Body   string
		Want   wire.Purpose
	}{
		"conversation": {"/v1/messages", nil, `{"model":"claude-opus-5-5","max_tokens":32000,` + tools + hello + `}`,
			wire.PurposeMain},
		"on a small model": {"/v1/messages", nil, `{"model":"claude-haiku-4-5","max_tokens":32000,` + tools + hello + `}`,
			wire.PurposeMain},
		"without tools": {"/v1/messages", nil, `{"model":"claude-opus-5-5","max_tokens":32000,` + hello + `}`,
			wire.PurposeMain},
		"vertex": {"/v1/projects/p/locations/l/publishers/anthropic/models/claude-opus-5-5:streamRawPredict", nil,
			`{` + tools + hello + `}`, wire.PurposeMain},
		"count": {"/v1/messages/count_tokens", nil, `{"model":"claude-opus-5-5",` + tools + hello + `}`, wire.PurposeCount},
		"sub-agent, header": {"/v1/messages", map[string]string{"X-Claude-Code-Agent-Id": "a1"},
			`{"model":"claude-opus-5-5",` + tools + hello + `}`, wire.PurposeSubagent},
		"sub-agent, billing": {"/v1/messages", nil, `{"model":"m","system":[{"type":"text",` +
			`"text":"x-anthropic-billing-header: v; cc_is_subagent=true;"}],` + tools + hello + `}`, wire.PurposeSubagent},
		"sub-agent, parent": {"/v1/messages", map[string]string{"X-Parent-Session-Id": "s"},
			`{"model":"m",` + tools + hello + `}`, wire.PurposeSubagent},
		"title, schema": {"/v1/messages", nil,
			`{"model":"claude-haiku-4-5","system":[{"type":"text","text":"Generate a concise, sentence-case title"}],
			"output_config":{"format":{"type":"json_schema","schema":{}}},` + hello + `}`, wire.PurposeTitle},
		"title, opencode": {"/v1/messages", nil, `{"model":"m","system":"You are a title generator. You output ONLY a ` +
			`thread title.",` + hello + `}`, wire.PurposeTitle},
		"classifier": {"/v1/messages", nil,
			`{"model":"m","output_format":{"type":"json_schema","schema":{}},` + hello + `}`, wire.PurposeClassifier},
		"quota check": {"/v1/messages", nil,
			`{"model":"claude-haiku-4-5","max_tokens":1,"messages":[{"role":"user","content":"quota"}]}`, wire.PurposeOther},
		"effort, no side": {"/v1/messages", nil, `{"model":"m","output_config":{"effort":"high"},` + tools + hello + `}`,
			wire.PurposeMain},
		"suggestion": {"/v1/messages", nil, `{"model":"m",` + tools +
			`"messages":[{"role":"user","content":[{"type":"text",` +
			`"text":"[SUGGESTION MODE: Suggest what the user might naturally type next]"}]}]}`, wire.PurposeOther},
		"side question": {"/v1/messages", nil, `{"model":"m",` + tools +
			`"messages":[{"role":"user","content":"<system-reminder>This is a side question from the user. ` +
			`Answer</system-reminder>\n\nwhy?"}]}`, wire.PurposeOther},
		"compaction, asks": {"/v1/messages", nil, `{"model":"m",` + tools +
			`"messages":[{"role":"user","content":"a"},{"role":"user","content":[{"type":"text",` +
			`"text":"Your task is to create a detailed summary of the conversation so far, paying"}]}]}`,
			wire.PurposeCompaction},
		"compaction, says": {"/v1/messages", nil, `{"model":"m","system":[{"type":"text",` +
			`"text":"You are a helpful AI assistant tasked with summarizing conversations."}],` + hello + `}`,
			wire.PurposeCompaction},
	})
}

func TestLongWindow(t *testing.T) {
	c := anthropic.New()
	for beta, want := range map[string]bool{
		"claude-code-20250219,context-1m-2025-08-07": true, "claude-code-20250219": false,
	} {
		s := wiretest.Sample{Path: "/v1/messages", Header: map[string]string{"Anthropic-Beta": beta}}
		if r, err := c.Request(s.Call(sample.Body)); err != nil || r.LongWindow != want {
			t.Errorf("%s: %v, %v", beta, r.LongWindow, err)
		}
	}
}
