package openai_test

import (
	"fmt"
	"testing"

	"orchestrator/contextmgr/wire"
	"orchestrator/contextmgr/wire/openai"
	"orchestrator/contextmgr/wire/wiretest"
)

// codexTalk makes requests as Codex does.
var codexTalk = wiretest.Talk{
	Path: "/v1/responses",
	Body: func(items string) string {
		return `{"model":"gpt-5.5","instructions":"You are Codex","input":[` + items +
			`],"tools":[{"type":"function","name":"exec_command"},{"type":"custom","name":"apply_patch"}],"stream":true}`
	},
	Person: func(text string) string {
		return fmt.Sprintf(`{"type":"message","role":"user","content":[{"type":"input_text","text":%s}]}`, wire.Quote(text))
	},
	Call: func(id, tool, input string) string {
		return fmt.Sprintf(`{"type":"function_call","name":"%s","arguments":%s,"call_id":"%s"}`, tool, wire.Quote(input), id)
	},
	Result: func(id, _, text string) string {
		return fmt.Sprintf(`{"type":"function_call_output","call_id":"%s","output":%s}`, id, wire.Quote(text))
	},
	Form: wire.FormText,
}

// chatTalk makes requests as OpenCode does.
var chatTalk = wiretest.Talk{
	Path: "/v1/chat/completions",
	Body: func(items string) string {
		return `{"model":"m","stream":true,"messages":[` + items +
			`],"tools":[{"type":"function","function":{"name":"bash"}}]}`
	},
	Person: func(text string) string { return fmt.Sprintf(`{"role":"user","content":%s}`, wire.Quote(text)) },
	Call: func(id, tool, input string) string {
		return fmt.Sprintf(`{"role":"assistant","content":"","tool_calls":[{"id":"%s","type":"function",`+
			`"function":{"name":"%s","arguments":%s}}]}`, id, tool, wire.Quote(input))
	},
	Result: func(id, _, text string) string {
		return fmt.Sprintf(`{"role":"tool","content":%s,"tool_call_id":"%s"}`, wire.Quote(text), id)
	},
	Marked: func(item string) string { return item[:len(item)-1] + `,"cache_control":{}}` },
	Form:   wire.FormText, Inputs: true,
}

func TestScanResponses(t *testing.T) { wiretest.Scan(t, openai.NewResponses(), codexTalk) }
func TestScanChat(t *testing.T)      { wiretest.Scan(t, openai.NewChat(), chatTalk) }

func FuzzScanResponses(f *testing.F) {
	wiretest.FuzzScan(f, openai.NewResponses(), codexTalk, responses.Body, `{"input":"hello"}`,
		codexTalk.Body(output("function_call_output", `[{"type":"input_text","text":"a"}]`)))
}

func FuzzScanChat(f *testing.F) {
	wiretest.FuzzScan(f, openai.NewChat(), chatTalk, chat.Body,
		chatTalk.Body(`{"role":"tool","content":[{"type":"text","text":"a"}],"tool_call_id":"c"}`))
}

func BenchmarkScanResponses(b *testing.B) { wiretest.BenchScan(b, openai.NewResponses(), codexTalk) }
func BenchmarkScanChat(b *testing.B)      { wiretest.BenchScan(b, openai.NewChat(), chatTalk) }

// TestScanOfTheOtherFormat: what a scan of one format knows is nothing to the other, though the items are the same.
func TestScanOfTheOtherFormat(t *testing.T) {
	items := output("function_call_output", `"a"`) + `,{"role":"tool","tool_call_id":"c1","content":"a"}`
	first, err := openai.NewResponses().Scan(wire.Call{Path: codexTalk.Path, Body: []byte(codexTalk.Body(items))}, nil)
	if err != nil {
		t.Fatal(err)
	}
	s, err := openai.NewChat().Scan(wire.Call{Path: chatTalk.Path, Body: []byte(chatTalk.Body(items))}, first)
	if err != nil || len(s.Contents) != 1 || s.Contents[0].Item != 1 {
		t.Errorf("%+v, %v", s, err)
	}
}

// output returns an item with a tool's output.
func output(kind, output string) string {
	return fmt.Sprintf(`{"type":"%s","call_id":"c1","output":%s}`, kind, output)
}

func TestContentsOfResponses(t *testing.T) {
	call := func(kind, rest string) string {
		return fmt.Sprintf(`{"type":"%s","call_id":"c1"%s},`, kind, rest)
	}
	wiretest.Contents(t, openai.NewResponses(), codexTalk, map[string]struct {
		Items string
		Want  []string
	}{
		"parts": {output("function_call_output", `[{"type":"input_text","text":"a"},{"type":"input_text","text":"b"}]`),
			[]string{`parts c1  "a\nb"`}},
		"an image": {output("function_call_output",
			`[{"type":"input_text","text":"a"},{"type":"input_image","image_url":"data:"}]`),
			[]string{`parts c1  1 "a\n[image]"`}},
		"an encrypted part": {output("function_call_output", `[{"type":"encrypted_content","encrypted_content":"gA"}]`), nil},
		"an opaque item":    {`{"type":"function_call_output","call_id":"c","output":"a","encrypted_content":"gA"}`, nil},
		"a patch": {call("custom_tool_call", `,"name":"apply_patch","input":"*** Begin Patch"`) +
			output("custom_tool_call_output", `"Done"`), []string{`text c1 apply_patch "Done"`}},
		"a shell": {call("local_shell_call", `,"action":{"type":"exec","command":["ls"]}`) +
			output("local_shell_call_output", `"a.txt"`), []string{`text c1 local_shell "a.txt"`}},
		"a shell's own id": {`{"type":"local_shell_call","id":"l1","action":{}},` +
			`{"type":"local_shell_call_output","id":"l1","output":"a"}`, []string{`text l1 local_shell "a"`}},
		"a server's tool": {call("function_call", `,"namespace":"mcp__x","name":"y","arguments":"{}"`) +
			output("function_call_output", `"a"`), []string{`text c1 mcp__x.y "a"`}},
		"output as an object":      {output("computer_call_output", `{"type":"computer_screenshot"}`), nil},
		"another kind":             {output("mcp_call", `"a"`), nil},
		"shell results":            {output("shell_call_output", `[{"stdout":"a","stderr":""}]`), nil},
		"null":                     {output("function_call_output", `null`), nil},
		"twice":                    {`{"type":"function_call_output","call_id":"c","output":"a","output":"b"}`, nil},
		"two ids":                  {`{"type":"function_call_output","call_id":"c","call_id":"d","output":"a"}`, nil},
		"two types, the last fits": {`{"type":"message","type":"function_call_output","call_id":"d","output":"a"}`, nil},
		"two types":                {`{"type":"function_call_output","type":"message","call_id":"d","output":"a"}`, nil},
		"no id":                    {`{"type":"function_call_output","output":"a"}`, nil},
		"no type":                  {`{"call_id":"d","output":"a"}`, nil},
	})
}

func TestInputsOfResponses(t *testing.T) {
	call := wire.Call{Path: codexTalk.Path, Body: []byte(codexTalk.Body(
		`{"type":"custom_tool_call","call_id":"c1","name":"apply_patch","input":"*** Begin Patch\n*** Add File: a"},` +
			output("custom_tool_call_output", `"Done"`) +
			`,{"type":"function_call","call_id":"c1","name":"x","arguments":"{"},` +
			output("function_call_output", `"Done"`)))}
	s, err := openai.NewResponses().Scan(call, nil)
	if err != nil || len(s.Contents) != 2 {
		t.Fatalf("%+v, %v", s, err)
	}
	for i, want := range []string{`{"input":"*** Begin Patch\n*** Add File: a"}`, `{"input":"{"}`} {
		if got := string(s.Contents[i].Input); got != want {
			t.Errorf("input %s, want %s", got, want)
		}
	}
}

func TestContentsOfChat(t *testing.T) {
	tool := func(rest string) string { return `{"role":"tool","tool_call_id":"c1",` + rest + `}` }
	calls := func(calls string) string { return `{"role":"assistant","content":null,"tool_calls":[` + calls + `]}` }
	wiretest.Contents(t, openai.NewChat(), chatTalk, map[string]struct {
		Items string
		Want  []string
	}{
		"parts":  {tool(`"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]`), []string{`parts c1  "a\nb"`}},
		"a mark": {tool(`"content":[{"type":"text","text":"a","cache_control":{"type":"ephemeral"}}]`), nil},
		"an image": {tool(`"content":[{"type":"image_url","image_url":{"url":"data:"}}]`),
			[]string{`parts c1  1 "[image_url]"`}},
		"null":   {tool(`"content":null`), nil},
		"twice":  {tool(`"content":"a","content":"b"`), nil},
		"no id":  {`{"role":"tool","content":"a"}`, nil},
		"others": {`{"role":"user","tool_call_id":"c","content":"a"},{"role":"function","name":"x","content":"a"}`, nil},
		"two calls": {calls(`{"id":"c1","type":"function","function":{"name":"bash","arguments":"{}"}},`+
			`{"id":"c2","type":"custom","custom":{"name":"patch","input":"{}"}}`) + `,` + tool(`"content":"a"`) +
			`,{"role":"tool","tool_call_id":"c2","content":"b"}`,
			[]string{`input c1 bash "{}"`, `text c1 bash "a"`, `text c2 patch "b"`}},
		"no arguments": {calls(`{"id":"c1","function":{"name":"x","arguments":""}},{"id":"c2","function":{"name":"y"}}`) +
			`,` + tool(`"content":"a"`), []string{`text c1 x "a"`}},
		"arguments as an object": {calls(`{"id":"c1","function":{"name":"x","arguments":{"a":1}}}`), nil},
		"arguments that are no object": {calls(`{"id":"c1","function":{"name":"x","arguments":"[1]"}},` +
			`{"id":"c2","function":{"name":"x","arguments":"{\"a\":"}},` +
			`{"id":"c3","function":{"name":"x","arguments":"{} {}"}},` +
			`{"id":"c4","function":{"name":"x","arguments":"{\"a\":\"\ud800\"}"}}`), nil},
		"a signature": {calls(`{"id":"c1","type":"function","function":{"name":"x","arguments":"{}"},` +
			`"extra_content":{"google":{"thought_signature":"c2ln"}}}`), nil},
		"two bodies": {calls(`{"id":"c1","function":{"name":"x","arguments":"{}"},"function":{}}`), nil},
		"two lists": {`{"role":"assistant","tool_calls":[{"id":"c1","function":{"name":"x","arguments":"{}"}}],` +
			`"tool_calls":[]},` + tool(`"content":"a"`), []string{`text c1  "a"`}},
		"a call of the user": {`{"role":"user","tool_calls":[{"id":"c1","function":{"name":"x","arguments":"{}"}}]}`, nil},
	})
}
