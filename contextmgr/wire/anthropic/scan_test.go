package anthropic_test

import (
	"fmt"
	"strings"
	"testing"

	"orchestrator/contextmgr/wire"
	"orchestrator/contextmgr/wire/anthropic"
	"orchestrator/contextmgr/wire/wiretest"
)

// talk makes requests as Claude Code does.
var talk = wiretest.Talk{
	Path: "/v1/messages",
	Body: func(items string) string {
		return `{"model":"claude-sonnet-4-6","system":[{"type":"text","text":"You are Claude Code"}],` +
			`"tools":[{"name":"Bash"},{"name":"Read"}],"messages":[` + items + `],"max_tokens":32000}`
	},
	Person: func(text string) string {
		return fmt.Sprintf(`{"content":[{"type":"text","text":%s}],"role":"user"}`, wire.Quote(text))
	},
	Call: func(id, tool, input string) string {
		return fmt.Sprintf(`{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"c2ln"},`+
			`{"type":"tool_use","id":"%s","name":"%s","input":%s}]}`, id, tool, input)
	},
	Result: func(id, tool, text string) string {
		return fmt.Sprintf(`{"role":"user","content":[{"tool_use_id":"%s","type":"tool_result","content":%s}]}`, id,
			wire.Quote(text))
	},
	Marked: func(item string) string {
		if head, ok := strings.CutSuffix(item, "}]}"); ok {
			return head + `,"cache_control":{"type":"ephemeral","ttl":"1h"}}]}`
		}
		return item
	},
	Form: wire.FormText, Inputs: true,
}

func TestScan(t *testing.T) { wiretest.Scan(t, anthropic.New(), talk) }

func FuzzScan(f *testing.F) {
	wiretest.FuzzScan(f, anthropic.New(), talk, sample.Body, talk.Body(result(`"content":[{"type":"text","text":"a"}]`)))
}

func BenchmarkScan(b *testing.B) { wiretest.BenchScan(b, anthropic.New(), talk) }

// result returns a message with a tool's result that has these members.
func result(members string) string {
	return `{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1",` + members + `}]}`
}

func TestContents(t *testing.T) {
	text := `{"type":"text","text":"a"}`
	call := `{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"Read","input":{}}]},`
	wiretest.Contents(t, anthropic.New(), talk, map[string]struct {
		Items string
		Want  []string
	}{
		"parts": {result(`"content":[` + text + `,{"text":"b","type":"text","citations":null}]`),
			[]string{`parts t1  "a\nb"`}},
		"an image": {result(`"content":[` + text + `,{"type":"image","source":{}}]`),
			[]string{`parts t1  1 "a\n[image]"`}},
		"references": {result(`"content":[{"type":"tool_reference","tool_name":"x"}]`),
			[]string{`parts t1  1 "[tool_reference]"`}},
		"no parts":         {result(`"content":[]`), []string{`parts t1  ""`}},
		"a mark inside":    {result(`"content":[{"type":"text","text":"a","cache_control":{"type":"ephemeral"}}]`), nil},
		"a mark outside":   {result(`"content":"a","cache_control":{"type":"ephemeral"}`), []string{`text t1  "a"`}},
		"an error":         {result(`"is_error":true,"content":"a"`), []string{`text t1  error "a"`}},
		"no error":         {result(`"is_error":false,"content":"a"`), []string{`text t1  "a"`}},
		"perhaps an error": {result(`"is_error":false,"is_error":true,"content":"a"`), nil},
		"nothing":          {result(`"is_error":false`), nil},
		"null":             {result(`"content":null`), nil},
		"a number":         {result(`"content":1`), nil},
		"an object":        {result(`"content":{}`), nil},
		"twice":            {result(`"content":"a","content":"b"`), nil},
		"twice, escaped":   {result(`"content":"a","c\u006fntent":"b"`), nil},
		"two ids":          {result(`"tool_use_id":"t2","content":"b"`), nil},
		"two types, the last fits": {`{"role":"user","content":[{"type":"text","type":"tool_result","tool_use_id":"t1",` +
			`"content":"a"}]}`, nil},
		"an empty id":           {`{"role":"user","content":[{"type":"tool_result","tool_use_id":"","content":"a"}]}`, nil},
		"two types":             {result(`"type":"text","content":"b"`), nil},
		"odd parts":             {result(`"content":["a",1]`), nil},
		"a part with two texts": {result(`"content":[{"type":"text","text":"a","text":"b"}]`), nil},
		"a part without a type": {result(`"content":[{"text":"a"}]`), nil},
		"a part without a text": {result(`"content":[{"type":"text"}]`), nil},
		"no id":                 {`{"role":"user","content":[{"type":"tool_result","content":"a"}]}`, nil},
		"of the assistant": {`{"role":"assistant","content":` +
			`[{"type":"tool_result","tool_use_id":"t","content":"a"}]}`, nil},
		"a call of the user": {`{"role":"user","content":[{"type":"tool_use","id":"t","name":"Bash","input":{}}]}`, nil},
		"two roles": {`{"role":"assistant","role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"a"}]}`,
			nil},
		"two contents": {`{"content":[],"role":"user","content":` +
			`[{"type":"tool_result","tool_use_id":"t","content":"a"}]}`, nil},
		"escaped words": {`{"role":"us\u0065r","content":` +
			`[{"type":"tool_r\u0065sult","tool_use_id":"t\u0031","content":"a"}]}`,
			[]string{`text t1  "a"`}},
		"of servers": {`{"role":"assistant","content":[{"type":"server_tool_use","id":"s","name":"web_search","input":{}},` +
			`{"type":"web_search_tool_result","tool_use_id":"s","content":[]},` +
			`{"type":"mcp_tool_use","id":"m","name":"x","server_name":"y","input":{}},` +
			`{"type":"mcp_tool_result","tool_use_id":"m","content":[]},{"type":"redacted_thinking","data":"x"}]}`, nil},
		"an input of another kind": {`{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"Bash","input":7},` +
			`{"type":"tool_use","id":"t2","name":"Bash","input":{}}]}`, []string{`input t2 Bash "{}"`}},
		"two inputs": {`{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{},"input":{}}]}`,
			nil},
		"several": {call + `{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"a"},` +
			`{"type":"tool_result","tool_use_id":"t2","content":"b"},{"type":"text","text":"reminder"},` +
			`{"type":"tool_result","tool_use_id":"t1","content":[]}]}`,
			[]string{`input t1 Read "{}"`, `text t1 Read "a"`, `text t2  "b"`, `parts t1 Read ""`}},
	})
}
