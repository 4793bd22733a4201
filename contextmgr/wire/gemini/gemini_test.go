package gemini_test

import (
	"strings"
	"testing"

	"orchestrator/contextmgr/wire"
	"orchestrator/contextmgr/wire/gemini"
	"orchestrator/contextmgr/wire/wiretest"
	"orchestrator/thread"
)

const streamPath = "/v1beta/models/gemini-3.8-flash:streamGenerateContent"

func chunk(body string) string { return "data: " + body + "\r\n\r\n" }

const counts = `"usageMetadata":{"promptTokenCount":1000,"cachedContentTokenCount":700,"candidatesTokenCount":30,` +
	`"thoughtsTokenCount":25,"totalTokenCount":1055},"modelVersion":"gemini-3.8-flash"`

var sample = wiretest.Sample{
	Path: streamPath,
	Body: `{"systemInstruction":{"role":"user","parts":[{"text":"You are an interactive CLI agent"}]},
 "generationConfig":{"temperature":1,"thinkingConfig":{"includeThoughts":true}},
 "tools":[{"functionDeclarations":[{"name":"run_shell_command"},{"name":"read_file"}]}],
 "contents":[
  {"role":"user","parts":[{"text":"<session_context>\nThis is the Gemini CLI.\n</session_context>"},{"text":"first"}]},
  {"role":"model","parts":[{"text":"hm","thought":true},` +
		`{"functionCall":{"id":"fc_1","name":"run_shell_command","args":{"command": "ls"}},"thoughtSignature":"c2ln"}]},
  {"role":"user","parts":[` +
		`{"functionResponse":{"id":"fc_1","name":"run_shell_command","response":{"output":"a.txt"}}},` +
		`{"functionResponse":{"id":"fc_1","name":"run_shell_command","response":{"output":"a.txt"}}}]},
  {"role":"model","parts":[{"text":"one file"}]},
  {"parts":[{"text":"second"}]}]}`,
	Stream: chunk(`{"candidates":[{"content":{"parts":[{"text":"let me","thought":true}],"role":"model"}}],`+
		`"usageMetadata":{"promptTokenCount":1000}}`) +
		chunk(`{"candidates":[{"content":{"parts":[{"text":"I look "}],"role":"model"}}]}`) +
		chunk(`{"candidates":[{"content":{"parts":[{"text":"é"}],"role":"model"}},{"index":1,`+
			`"content":{"parts":[{"text":"other"}]}}]}`) +
		chunk(`{"candidates":[{"content":{"parts":[{"functionCall":{"id":"fc_2","name":"read_file","args":{"path":"a"}},`+
			`"thoughtSignature":"c2lnMg=="}],"role":"model"}}]}`) +
		chunk(`{"candidates":[{"content":{"parts":[{"text":""}],"role":"model"},"finishReason":"STOP"}],`+counts+`}`),
	Whole: `[{"candidates":[{"content":{"parts":[{"text":"I look é"},{"functionCall":{"id":"fc_2","name":"read_file",` +
		`"args":{}}}],"role":"model"},"finishReason":"STOP"}],` + counts + `}]`,

	Prompt: "second", Items: 5,
	Result: wire.Result{
		Model: "gemini-3.8-flash", Text: "I look é", Tools: []string{"read_file"}, Stop: "STOP", Complete: true,
		Usage: wire.Usage{Input: 300, CacheRead: 700, Output: 55},
	},
	Entries: []thread.Entry{
		{Kind: thread.EntryPrompt, Text: "first"},
		{Kind: thread.EntryThinking, Text: "hm"},
		{Kind: thread.EntryCall, Tool: "run_shell_command", Call: "fc_1", Text: `{"command": "ls"}`},
		{Kind: thread.EntryResult, Tool: "run_shell_command", Call: "fc_1", Text: "a.txt"},
		{Kind: thread.EntryAnswer, Text: "one file"},
		{Kind: thread.EntryPrompt, Text: "second"},
		{Kind: thread.EntryThinking, Text: "let me"},
		{Kind: thread.EntryAnswer, Text: "I look é"},
		{Kind: thread.EntryCall, Tool: "read_file", Call: "fc_2", Text: `{"path":"a"}`},
	},
	Turns: []int{0, 4},
}

func TestCodec(t *testing.T) { wiretest.Run(t, gemini.New(), sample) }

func FuzzCodec(f *testing.F) { wiretest.Fuzz(f, gemini.New(), sample) }

func BenchmarkRequest(b *testing.B) {
	wiretest.Bench(b, gemini.New(), sample, func(text string) string {
		return strings.Replace(sample.Body, `"a.txt"`, `"`+text+`"`, 1)
	})
}

func TestCodeAssistEnvelope(t *testing.T) {
	inner := sample.Body[1:]
	s := sample
	s.Path = "/v1internal:streamGenerateContent"
	s.Body = `{"model":"gemini-3.8-flash","project":"p","request":{"session_id":"s1",` + inner + `}`
	s.Session = "s1"
	s.Stream = ""
	for line := range strings.SplitSeq(strings.TrimSpace(sample.Stream), "\r\n\r\n") {
		s.Stream += chunk(`{"response":` + strings.TrimPrefix(line, "data: ") + `}`)
	}
	s.Whole = ""
	wiretest.Run(t, gemini.New(), s)
}

func TestAnswerItemKeepsSignatures(t *testing.T) {
	got := string(wiretest.Read(gemini.New(), wiretest.StreamType, sample.Stream).Item)
	want := `{"role":"model","parts":[{"text":"let me","thought":true},{"text":"I look é"},{"functionCall":{"id":"fc_2",` +
		`"name":"read_file","args":{"path":"a"}},"thoughtSignature":"c2lnMg=="}]}`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestStreamOddities(t *testing.T) {
	for name, tc := range map[string]struct {
		in   string
		want func(wire.Result) bool
	}{
		"blocked": {chunk(`{"promptFeedback":{"blockReason":"SAFETY"}}`),
			func(r wire.Result) bool { return r.Stop == "SAFETY" && r.Complete && r.EndsTurn }},
		"error": {chunk(`{"error":{"code":429,"message":"quota","status":"RESOURCE_EXHAUSTED"}}`),
			func(r wire.Result) bool { return r.Err == "RESOURCE_EXHAUSTED: quota" && !r.EndsTurn }},
		"no finish": {chunk(`{"candidates":[{"content":{"parts":[{"text":"half"}]}}]}`),
			func(r wire.Result) bool { return r.Text == "half" && !r.Complete && r.Err != "" }},
		"final": {chunk(`{"candidates":[{"content":{"parts":[{"text":"done"}]},"finishReason":"STOP"}]}`),
			func(r wire.Result) bool { return r.EndsTurn }},
		"wrapped deep": {chunk(strings.Repeat(`{"response":`, 300) + `{}` + strings.Repeat(`}`, 300)),
			func(r wire.Result) bool { return !r.Complete }},
	} {
		t.Run(name, func(t *testing.T) {
			if r := wiretest.Read(gemini.New(), wiretest.StreamType, tc.in); !tc.want(r) {
				t.Errorf("read %+v, item %s", r, r.Item)
			}
		})
	}
}

func TestPurpose(t *testing.T) {
	hello := `"contents":[{"role":"user","parts":[{"text":"hello"}]}]`
	tools := `"tools":[{"functionDeclarations":[{"name":"read_file"}]}],`
	whole := "/v1beta/models/gemini-3.5-flash-lite:generateContent"
	wiretest.Purposes(t, gemini.New(), map[string]struct {
		Path   string
		Header map[string]string
		Body   string
		Want   wire.Purpose
	}{
		"conversation":  {streamPath, nil, `{` + tools + hello + `}`, wire.PurposeMain},
		"without tools": {streamPath, nil, `{` + hello + `}`, wire.PurposeMain},
		"whole, tools":  {"/v1beta/models/gemini-2.5-pro:generateContent", nil, `{` + tools + hello + `}`, wire.PurposeMain},
		"built-in tool": {streamPath, nil, `{"tools":[{"googleSearch":{}}],` + hello + `}`, wire.PurposeMain},
		"router":        {whole, nil, `{"generationConfig":{"responseJsonSchema":{}},` + hello + `}`, wire.PurposeClassifier},
		"summary": {whole, nil, `{"contents":[{"role":"user",` +
			`"parts":[{"text":"Summarize the user's primary intent or goal in this conversation"}]}]}`, wire.PurposeTitle},
		"aside": {whole, nil, `{` + hello + `}`, wire.PurposeOther},
		"count": {"/v1beta/models/gemini-2.5-pro:countTokens", nil, `{` + hello + `}`, wire.PurposeCount},
		"compaction": {whole, nil, `{"systemInstruction":{"parts":[{"text":"You distill history into a ` +
			`<state_snapshot>"}]},` + hello + `}`, wire.PurposeCompaction},
		"sub-agent": {streamPath, nil, `{"tools":[{"functionDeclarations":[{"name":"read_file"},` +
			`{"name":"complete_task"}]}],` + hello + `}`, wire.PurposeSubagent},
	})
}
