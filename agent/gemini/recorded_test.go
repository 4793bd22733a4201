package gemini_test

import (
	"testing"

	"orchestrator/agent/agenttest"
	"orchestrator/agent/gemini"
	"orchestrator/agent/launch"
)

// TestPieces holds what is read of each kind of line.
func TestPieces(t *testing.T) {
	head := `{"sessionId":"s","projectHash":"h"}` + "\n"
	asked := func(id string) string { return `{"id":"` + id + `","type":"user","content":[{"text":"go"}]}` + "\n" }
	said := func(id string) string {
		return `{"id":"` + id + `","type":"gemini","content":"yes","tokens":{"input":9,"output":4}}` + "\n"
	}
	first := head + asked("1") + said("2") + asked("3") + said("4")
	for _, c := range []struct{ name, text, want string }{
		{"went back", first + `{"$rewindTo":"3"}` + "\n" + asked("5"),
			"person text2|own text3 9>4|person text2|own text3 9>4|rewind0|person text2"},
		{"rolled back", first + `{"$set":{"messages":[{"id":"1","type":"user"},{"id":"2","type":"gemini"}]}}` + "\n" + asked("5"),
			"person text2|own text3 9>4|person text2|own text3 9>4|rewind0|person text2"},
		{"results as they were sent", head + `{"id":"1","type":"gemini","content":"","toolCalls":[{"id":"a","name":"read_file","args":{},"status":"error",` +
			`"result":[{"functionResponse":{"id":"a","response":{"output":"whole"}}}]},{"id":"b","name":"glob","args":{},` +
			`"result":[{"functionResponse":{"id":"b","response":{"output":"all"}}}]}]}` + "\n" +
			`{"id":"2","type":"user","content":[{"functionResponse":{"id":"a","response":{"output":"wh"}}}]}`,
			"own call2|own call2|result3|result2 failed"},
		{"results that are said again", head + `{"id":"1","type":"gemini","content":"","toolCalls":[{"id":"a","name":"glob","args":{},` +
			`"result":[{"functionResponse":{"id":"a","response":{"output":"whole"}}}]}]}` + "\n" + asked("2") + head +
			`{"$set":{"messages":[{"id":"1","type":"gemini"},{"id":"1_response","type":"user","content":[{"functionResponse":{"id":"a","response":{"output":"wh"}}}]}]}}`,
			"own call2|result5|person text2"},
		{"resumed", first + head + `{"$set":{"messages":[{"id":"c","type":"user","content":"<session_context>"}]}}` + "\n" +
			`{"$set":{"messages":[{"id":"c","type":"user"},{"id":"1","type":"user"},{"id":"2","type":"gemini"},{"id":"3","type":"user"},{"id":"4","type":"gemini"}]}}` +
			"\n" + said("5"), "person text2|own text3 9>4|person text2|own text3 9>4|text17|own text3 9>4"},
		{"compressed", first + `{"$set":{"messages":[{"id":"x","type":"user","content":"sum"},{"id":"4","type":"gemini","content":"less"}]}}` + "\n" + said("6"),
			"person text2|own text3 9>4|person text2|own text3 9>4|boundary0|person text3|own text4|own text3 9>4"},
		{"other messages", head + `{"id":"1","type":"info","content":"hello"}` + "\n" + `{"id":"2","type":"user","content":"<session_context>"}`, "text17"},
		{"pictures", head + `{"id":"1","type":"user","content":[{"inlineData":{"data":"xyz"}},{"text":"see"}]}`, "person text0 picture|person text3"},
		{"impossible counts", `{"id":"1","type":"gemini","tokens":{"cached":-1}}`, "line 1: a count of tokens that cannot be true"},
		{"half an object", "{\n\"sessionId\": \"s\",\n", "read an object of JSON: unexpected end of JSON input"},
	} {
		if got := agenttest.Pieces(t, gemini.New(launch.Config{}), c.text); got != c.want {
			t.Errorf("%s:\n%s, want\n%s", c.name, got, c.want)
		}
	}
}
