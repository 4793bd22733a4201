package gemini_test

import (
	"fmt"
	"strings"
	"testing"

	"orchestrator/contextmgr/wire"
	"orchestrator/contextmgr/wire/gemini"
	"orchestrator/contextmgr/wire/span"
	"orchestrator/contextmgr/wire/wiretest"
)

// talk makes requests as Gemini CLI does.
var talk = wiretest.Talk{
	Path: streamPath,
	Body: func(items string) string {
		return `{"contents":[` + items + `],"systemInstruction":{"parts":[{"text":"You are an interactive CLI agent"}]},` +
			`"tools":[{"functionDeclarations":[{"name":"read_file"}]}]}`
	},
	Person: func(text string) string {
		return fmt.Sprintf(`{"parts":[{"text":%s}],"role":"user"}`, wire.Quote(text))
	},
	Call: func(id, tool, input string) string {
		return fmt.Sprintf(`{"role":"model","parts":[{"text":"hm","thought":true},{"functionCall":{"id":"%s","name":"%s",`+
			`"args":%s}}]}`, id, tool, input)
	},
	Result: func(id, tool, text string) string {
		return fmt.Sprintf(`{"role":"user","parts":[{"functionResponse":{"id":"%s","name":"%s","response":{"output":%s}}}]}`,
			id, tool, wire.Quote(text))
	},
	Form: wire.FormValue, Inputs: true,
}

func TestScan(t *testing.T) { wiretest.Scan(t, gemini.New(), talk) }

func TestScanInAnEnvelope(t *testing.T) {
	inside := talk
	inside.Path = "/v1internal:streamGenerateContent"
	inside.Body = func(items string) string { return `{"model":"m","request":` + talk.Body(items) + `}` }
	wiretest.Scan(t, gemini.New(), inside)
}

// TestScanDeeperInside: an item that is as deep as can be is too deep inside an envelope, also if it is known.
func TestScanDeeperInside(t *testing.T) {
	deep := strings.Repeat("[", span.MaxDepth-2) + strings.Repeat("]", span.MaxDepth-2)
	for _, body := range []string{
		`{"contents":[` + deep + `,` + deep + `],"tools":[]}`, `{"contents":[],"tools":[` + deep + `]}`,
	} {
		earlier, err := gemini.New().Scan(wire.Call{Path: streamPath, Body: []byte(body)}, nil)
		if err != nil {
			t.Fatal(err)
		}
		call := wire.Call{Path: streamPath, Body: []byte(`{"request":` + body + `}`)}
		if _, err := gemini.New().Scan(call, earlier); err == nil {
			t.Error("an item that is too deep is read")
		}
	}
}

func FuzzScan(f *testing.F) {
	wiretest.FuzzScan(f, gemini.New(), talk, sample.Body, `{"request":`+sample.Body+`}`,
		talk.Body(calls(`{"functionCall":{"name":"a","args":{}}}`)+`,`+
			results(`{"functionResponse":{"name":"a","response":{}}}`)))
}

func BenchmarkScan(b *testing.B) { wiretest.BenchScan(b, gemini.New(), talk) }

func calls(parts string) string   { return `{"role":"model","parts":[` + parts + `]}` }
func results(parts string) string { return `{"role":"user","parts":[` + parts + `]}` }

func TestContents(t *testing.T) {
	call := `{"functionCall":{"id":"f1","name":"ls","args":{"a":1}}}`
	response := func(rest string) string { return results(`{"functionResponse":{"id":"f1","name":"ls"` + rest + `}}`) }
	wiretest.Contents(t, gemini.New(), talk, map[string]struct {
		Items string
		Want  []string
	}{
		"a pair": {calls(call) + `,` + response(`,"response":{"output":"a"}`),
			[]string{`input f1 ls "{\"a\":1}"`, `value f1 ls "a"`}},
		"more than the output": {response(`,"response":{"output":"a","code":0}`),
			[]string{`value f1  "{\"output\":\"a\",\"code\":0}"`}},
		"another output": {response(`,"response":{"output":[1]}`), []string{`value f1  "{\"output\":[1]}"`}},
		"an error":       {response(`,"response":{"error":"a"}`), []string{`value f1  error "{\"error\":\"a\"}"`}},
		"an image": {response(`,"response":{"output":"a"},"parts":[{"inlineData":{}}]`),
			[]string{`value f1  1 "a"`}},
		"null":      {response(`,"response":null`), nil},
		"a string":  {response(`,"response":"a"`), nil},
		"nothing":   {response(``), nil},
		"twice":     {response(`,"response":{},"response":{}`), nil},
		"two ids":   {response(`,"id":"f2","response":{}`), nil},
		"two names": {response(`,"name":"cat","response":{}`), nil},
		"signed": {calls(`{"functionCall":{"id":"f1","name":"ls","args":{}},"thoughtSignature":"c2ln"},`+call) + `,` +
			response(`,"response":{}`), []string{`input f1 ls "{\"a\":1}"`, `value f1 ls "{}"`}},
		"signed, before":     {calls(`{"thoughtSignature":"c2ln","functionCall":{"id":"f1","name":"ls","args":{}}}`), nil},
		"signed, other name": {calls(`{"functionCall":{"id":"f1","name":"ls","args":{}},"thought_signature":"c2ln"}`), nil},
		"a signed result": {results(`{"functionResponse":{"id":"f1","name":"ls","response":{}},` +
			`"thoughtSignature":"c"}`), nil},
		"both in a part": {calls(`{"functionCall":{"name":"ls","args":{}},` +
			`"functionResponse":{"name":"ls","response":{}}}`), nil},
		"twice in a part": {results(`{"functionResponse":{"name":"ls","response":{}},"functionResponse":{"name":"ls",` +
			`"response":{}}}`), nil},
		"twice in a part, once an object": {results(`{"functionResponse":7,` +
			`"functionResponse":{"name":"ls","response":{}}}`), nil},
		"by order, after doubtful results": {calls(`{"functionCall":{"name":"a"}},{"functionCall":{"name":"a"}},`+
			`{"functionCall":{"name":"b"}}`) + `,` + results(`{"functionResponse":{},"functionResponse":{}},`+
			`{"functionResponse":{"name":"b","response":{}}}`), []string{`value  b "{}"`}},
		"two lists":        {`{"role":"model","parts":[` + call + `],"parts":[]}`, nil},
		"two roles":        {`{"role":"user","role":"model","parts":[` + call + `]}`, nil},
		"a user's call":    {results(call), nil},
		"a model's result": {calls(`{"functionResponse":{"id":"f1","name":"ls","response":{}}}`), nil},
		"without a role": {`{"parts":[{"functionResponse":{"id":"f1","name":"ls","response":{}}}]}`,
			[]string{`value f1  "{}"`}},
		"by order": {calls(`{"text":"hm"},{"functionCall":{"name":"a","args":{"n":1}}},{"functionCall":{"name":"b"}},`+
			`{"functionCall":{"name":"a","args":{"n":2}}}`) + `,` +
			results(`{"functionResponse":{"name":"a","response":{"output":"1"}}},{"text":"x"},`+
				`{"functionResponse":{"name":"b","response":{"output":"2"}}},`+
				`{"functionResponse":{"name":"x","response":{"output":"3"}}},`+
				`{"functionResponse":{"name":"a","response":{"output":"4"}}}`) + `,` +
			results(`{"functionResponse":{"name":"a","response":{"output":"5"}}}`),
			[]string{`input  a "{\"n\":1}"`, `input  a "{\"n\":2}"`, `value  a "1"`, `value  b "2"`, `value   "3"`,
				`value   "4"`, `value   "5"`}},
		"by order, with a doubtful call": {calls(`{"functionCall":{"name":"a","name":"b","args":{}}},`+
			`{"functionCall":{"name":"b","args":{}}}`) + `,` + results(`{"functionResponse":{"name":"b","response":{}}},`+
			`{"functionResponse":{"name":"b","response":{}}}`), []string{`input  b "{}"`, `value   "{}"`, `value  b "{}"`}},
	})
}
