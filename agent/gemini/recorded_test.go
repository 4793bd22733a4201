package gemini_test

import (
	"os"
	"testing"
	"time"

	"orchestrator/agent/agenttest"
	"orchestrator/agent/gemini"
	"orchestrator/agent/launch"
	"orchestrator/thread"
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

// TestResponses: a response that calls tools does not end its turn, and what is said again when a session is resumed is
// no answer and begins no turn.
func TestResponses(t *testing.T) {
	const tokens = `"tokens":{"input":9,"output":4}`
	a := gemini.New(launch.Config{})
	text := `{"id":"1","type":"user","content":"go"}` + "\n" +
		`{"id":"2","type":"gemini","content":"I look.","toolCalls":[{"id":"a","name":"glob","args":{}}],` + tokens + "}\n" +
		`{"id":"3","type":"gemini","content":"done",` + tokens + "}\n"
	if got, want := agenttest.Responses(t, a, "main", text), "main[go] I look. [glob] 9>4|main[go] done [] 9>4 ends"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	again := `{"$set":{"messages":[{"id":"8","type":"user","content":"go"},{"id":"9","type":"gemini","content":"later",` + tokens + `}]}}`
	if a.BeginsTurn([]byte(again)) || agenttest.Responses(t, a, "main", again) != "" {
		t.Error("what is said again is new")
	}
	home, session := t.TempDir(), launch.UUID()
	env := []string{"HOME=" + home}
	n := write(t, env, home, session, 1)
	f, err := os.OpenFile(n.Main, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(again + "\n" + `{"id":"10","type":"user","content":"more"}` + "\n"); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(n.Main)
	if err != nil {
		t.Fatal(err)
	}
	chunks, err := gemini.New(launch.Config{Env: env}).ReadTranscript(t.Context(),
		thread.TranscriptSpec{Session: session, Dir: home, Env: env, Answer: "later", By: time.Now()})
	if err != nil || len(chunks) != 1 || len(chunks[0].Data) != len(whole) {
		t.Errorf("it ends with an answer that was said again: %d chunks, %v", len(chunks), err)
	}
}
