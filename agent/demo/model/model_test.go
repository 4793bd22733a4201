package model

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"orchestrator/agent/scripted"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// offered are tools as a thread with two MCP servers has them.
var offered = []scripted.Tool{
	{Name: "read_file"},
	{Name: "mcp__orch__notes__add", Params: json.RawMessage(`{"properties":{"text":{"type":"string"}},"required":["text"]}`)},
	{Name: "mcp__orch__notes__list", Params: json.RawMessage(`{"type":"object"}`)},
	{Name: "mcp__orch__files__list", Params: json.RawMessage(`null`)},
	{Name: "mcp__orch__files__cut", Params: json.RawMessage(
		`{"properties":{"n":{"type":"integer"},"deep":{"type":"boolean"},"of":{"type":"array"},"path":{"type":"string"}}}`)},
}

// TestMarksOfThePerson: only what a person asks for in own words makes a request fail.
func TestMarksOfThePerson(t *testing.T) {
	handed := "# Handoff\n\nYou are taking over.\n\n### Turn 1\n\n> help #429\n\nAdd #slow, #long or #429 to a prompt\n\n" +
		"## Now\n\nYou work in /w. Confirm in one sentence."
	for prompt, want := range map[string]int{
		"hello #429": 429, "hello\n\n#503x2": 503, "what does `#429` do?": 0, "```\n#429\n```": 0, "> said #429": 0,
		"- try #429": 0, "1. then #500": 0, handed: 0, handed + "\n\ngo on #429": 429, handed + "\n\nread `#429`": 0,
		"# Handoff\n\n#429": 0, "#429": 429,
	} {
		if got := faults(unquoted(prompt)).status; got != want {
			t.Errorf("%q fails with %d, want %d", prompt, got, want)
		}
	}
	for _, tc := range []struct{ prompt, want string }{
		{handed, "I have read the record"},
		{handed + "\n\nsay: on it", "on it"},
		{"# Handoff\n\nrun rm -rf x", "I have read the record"},
	} {
		if got := next(scripted.Turn{Prompt: tc.prompt}); !strings.HasPrefix(got.Text, tc.want) || len(got.Calls) > 0 {
			t.Errorf("%.60q is answered by %q and %d calls", tc.prompt, got.Text, len(got.Calls))
		}
	}
}

func TestPlan(t *testing.T) {
	for prompt, want := range map[string]string{
		"list files":                       `list_files map[path:.]`,
		"Please list the files in cmd.":    `list_files map[path:cmd]`,
		"ls":                               `list_files map[path:.]`,
		"read README.md":                   `read_file map[path:README.md]`,
		"Can you show me the file a/b.go?": `read_file map[path:a/b.go]`,
		"explain main.go":                  `read_file map[path:main.go]`,
		"write a.txt: hello there":         "write_file map[content:hello there\n path:a.txt]",
		"create a file called b.md with the text # Title": "write_file map[content:# Title\n path:b.md]",
		"write a.txt: one\ntwo":                           "write_file map[content:one\ntwo\n path:a.txt]",
		"write a.txt: first this, then that":              "write_file map[content:first this, then that\n path:a.txt]",
		"write a.txt: hi, then read a.txt": "write_file map[content:hi\n path:a.txt]; " +
			"read_file map[path:a.txt]",
		"edit a.txt: one => two":               `edit_file map[new:two old:one path:a.txt]`,
		"replace milk with bread in notes.txt": `edit_file map[new:bread old:milk path:notes.txt]`,
		"run git status":                       `run_command map[command:git status]`,
		"run `echo a; echo b`":                 `run_command map[command:echo a; echo b]`,
		"run the tests":                        `run_command map[command:` + testCommand + `]`,
		"search for TODO in cmd": `run_command map[command:` +
			`grep -rnI --exclude-dir=.git -e 'TODO' 'cmd' | head -40]`,
		"ask: Which one? [red | green]": `ask_person map[options:[red green] question:Which one?]`,
		"#do: run ls ;; write x: a, then b ;; say done": "run_command map[command:ls]; " +
			"write_file map[content:a, then b\n path:x]; say done",
		"call notes__add buy milk": `mcp__orch__notes__add map[text:buy milk]`,
		"use the tool `add` with {\"text\": \"x\", \"more\": 1}, then list files": `mcp__orch__notes__add map[more:1 text:x]; list_files map[path:.]`,
		"Please call mcp__orch__notes__list.":                                     `mcp__orch__notes__list map[]`,
		"call files__cut n=3 deep=true of=[1] path=a":                             `mcp__orch__files__cut map[deep:true n:3 of:[1] path:a]`,
		"call files__cut this":                                                    "say `files__cut` takes deep, n, of, path: call it with key=value pairs or a JSON object.",
		"call list":                                                               "say Several servers have a tool `list`: call one by its whole name.",
		"use memory to remember this":                                             ``,
		"say: hello":                                                              `say hello`,
		"hello":                                                                   ``,
		"what is the meaning of all this":                                         ``,
	} {
		var got []string
		for _, s := range plan(prompt, offered) {
			if s.call != nil {
				got = append(got, fmt.Sprintf("%s %v", s.call.Name, s.call.Args))
			} else {
				got = append(got, "say "+s.say)
			}
		}
		if g := strings.Join(got, "; "); g != want {
			t.Errorf("%q:\n got %s\nwant %s", prompt, g, want)
		}
	}
}

// talk is a conversation with a handler.
type talk struct {
	t        *testing.T
	url      string
	messages []map[string]any
}

type answer struct {
	Content []struct {
		Text  string          `json:"text"`
		ID    string          `json:"id"`
		Name  string          `json:"name"`
		Input json.RawMessage `json:"input"`
	} `json:"content"`
	Stop  string `json:"stop_reason"`
	Usage struct {
		Input  int `json:"input_tokens"`
		Read   int `json:"cache_read_input_tokens"`
		Write  int `json:"cache_creation_input_tokens"`
		Output int `json:"output_tokens"`
	} `json:"usage"`
}

func (k *talk) ask(content any) (answer, int) {
	k.t.Helper()
	k.messages = append(k.messages, map[string]any{"role": "user", "content": content})
	body, err := json.Marshal(map[string]any{
		"model": Name, "max_tokens": 100, "system": "be good", "messages": k.messages,
	})
	if err != nil {
		k.t.Fatal(err)
	}
	resp, err := http.Post(k.url+"/v1/messages", "application/json", strings.NewReader(string(body)))
	if err != nil {
		k.t.Fatal(err)
	}
	defer resp.Body.Close()
	var a answer
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		k.t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &a); err != nil {
		k.t.Fatal(err)
	}
	if resp.StatusCode == 200 {
		var whole map[string]any
		if err := json.Unmarshal(raw, &whole); err != nil {
			k.t.Fatal(err)
		}
		k.messages = append(k.messages, map[string]any{"role": "assistant", "content": whole["content"]})
	} else {
		k.messages = k.messages[:len(k.messages)-1]
	}
	return a, resp.StatusCode
}

func (k *talk) tool(a answer, output string, failed bool) answer {
	k.t.Helper()
	last := a.Content[len(a.Content)-1]
	a, _ = k.ask([]any{
		map[string]any{"type": "tool_result", "tool_use_id": last.ID, "content": output, "is_error": failed},
	})
	return a
}

func (a answer) text() string {
	var b strings.Builder
	for _, c := range a.Content {
		b.WriteString(c.Text)
	}
	return b.String()
}

func newTalk(t *testing.T) *talk {
	s := httptest.NewServer(New(Options{}))
	t.Cleanup(func() { s.Close(); http.DefaultClient.CloseIdleConnections() })
	return &talk{t: t, url: s.URL}
}

func TestTurns(t *testing.T) {
	k := newTalk(t)
	a, _ := k.ask("what is in this project?")
	if a.Stop != "tool_use" || a.Content[1].Name != "list_files" {
		t.Fatalf("first %+v", a)
	}
	a = k.tool(a, "README.md\nmain.go\ncmd/\n", false)
	if a.Stop != "tool_use" || string(a.Content[1].Input) != `{"path":"README.md"}` {
		t.Fatalf("second %+v", a)
	}
	a = k.tool(a, "# Spoons\n\nA program that counts spoons.\n", false)
	if a.Stop != "end_turn" || !strings.Contains(a.text(), "counts spoons") ||
		!strings.Contains(a.text(), "2 files and 1 folder") {
		t.Fatalf("answer %q", a.text())
	}
	a, _ = k.ask("run rm -rf x")
	a = k.tool(a, "denied by the person", true)
	if a.Stop != "end_turn" || !strings.Contains(a.text(), "did not do that") {
		t.Fatalf("denied %q", a.text())
	}
	a, _ = k.ask("read nothing.txt, then say bye")
	a = k.tool(a, "no such file", true)
	if !strings.Contains(a.text(), "did not work: no such file") || !strings.Contains(a.text(), "bye") {
		t.Fatalf("failed %q", a.text())
	}
	a, _ = k.ask("What did I ask you before?")
	for _, want := range []string{"3 things", "what is in this project?", "run rm -rf x"} {
		if !strings.Contains(a.text(), want) {
			t.Errorf("recall %q misses %q", a.text(), want)
		}
	}
	if a, _ = k.ask("hello"); !strings.Contains(a.text(), "not a language model") {
		t.Errorf("hello %q", a.text())
	}
}

func TestUsageIsCounted(t *testing.T) {
	k := newTalk(t)
	a, _ := k.ask("say " + strings.Repeat("x", 8000))
	if u := a.Usage; u.Input != 0 || u.Read != 0 || u.Write != (len(`"be good"`)+8006+3)/4 || u.Output != 2000 {
		t.Errorf("first %+v", a.Usage)
	}
	before := a.Usage.Write
	a, _ = k.ask("say y")
	if u := a.Usage; u.Read != before || u.Write < 2000 || u.Input != 0 {
		t.Errorf("second %+v after %d", u, before)
	}
	small := newTalk(t)
	if a, _ := small.ask("say y"); a.Usage.Input != (len(`"be good"`)+len(`"say y"`)+3)/4 || a.Usage.Write != 0 {
		t.Errorf("small %+v", a.Usage)
	}
}

func TestFaults(t *testing.T) {
	k := newTalk(t)
	for _, c := range []struct {
		prompt string
		want   []int
	}{
		{"say a #429", []int{429, 429, 429}},
		{"say b #529x2", []int{529, 529, 200}},
		{"#401 say c", []int{401}},
		{"say issue #42 is fixed", []int{200}},
	} {
		for i, want := range c.want {
			if _, status := k.ask(c.prompt); status != want {
				t.Errorf("%q, try %d: %d, want %d", c.prompt, i+1, status, want)
			}
		}
	}
	if f := faults("say d #limit:61"); f.used != 61 || faults("say the #limit").used != 0 {
		t.Errorf("a limit: %+v", f)
	}
	a, _ := k.ask("say here it is #long:50")
	if n := strings.Count(a.text(), "\n"); n < 50 {
		t.Errorf("%d lines", n)
	}
}

func TestStream(t *testing.T) {
	s := httptest.NewServer(New(Options{}))
	defer s.Close()
	defer http.DefaultClient.CloseIdleConnections()
	get := func(prompt string) ([]string, string, error) {
		body := fmt.Sprintf(`{"model":"demo-1","stream":true,"messages":[{"role":"user","content":%q}]}`, prompt)
		resp, err := http.Post(s.URL+"/v1/messages?beta=true", "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		var kinds []string
		var text strings.Builder
		sc := bufio.NewScanner(resp.Body)
		for sc.Scan() {
			data, ok := strings.CutPrefix(sc.Text(), "data: ")
			if !ok {
				continue
			}
			var e struct {
				Type  string
				Delta struct {
					Text    string
					Partial string `json:"partial_json"`
				}
			}
			if err := json.Unmarshal([]byte(data), &e); err != nil {
				t.Fatal(err)
			}
			if len(kinds) == 0 || kinds[len(kinds)-1] != e.Type {
				kinds = append(kinds, e.Type)
			}
			text.WriteString(e.Delta.Text + e.Delta.Partial)
		}
		return kinds, text.String(), sc.Err()
	}
	kinds, text, err := get("run echo hi")
	const block = "content_block_start content_block_delta content_block_stop "
	want := "message_start " + block + block + "message_delta message_stop"
	if strings.Join(kinds, " ") != want || err != nil || text != "I will run `echo hi`."+`{"command":"echo hi"}` {
		t.Errorf("events %v, text %q, %v", kinds, text, err)
	}
	kinds, _, err = get("say " + strings.Repeat("cut me ", 1000) + "#cut")
	if err == nil || kinds[len(kinds)-1] != "content_block_delta" {
		t.Errorf("cut: %v, %v", kinds, err)
	}
}

func TestServerNeedsItsSecret(t *testing.T) {
	s, err := Start(Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer http.DefaultClient.CloseIdleConnections()
	status := func(base string) int {
		body := strings.NewReader(`{"messages":[{"role":"user","content":"hello"}]}`)
		resp, err := http.Post(base+"/v1/messages/count_tokens", "application/json", body)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		return resp.StatusCode
	}
	if got := status(s.URL()); got != 200 {
		t.Errorf("with the secret: %d", got)
	}
	if got := status(s.URL()[:strings.LastIndex(s.URL(), "/")]); got != 404 {
		t.Errorf("without: %d", got)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// TestGivenAnswers: an answer that a prompt gives is repeated byte for byte, and nothing else of the prompt is taken for a
// request; what a prompt quotes gives none.
func TestGivenAnswers(t *testing.T) {
	value := "{\n  \"b\": 2.450,\n  \"a\": \"<&> #0066FF #429 ```\"\n}"
	for _, tc := range []struct{ prompt, want string }{
		{"Read the reports, then write copy.txt: it\n#json: " + value + "\nHand over JSON.", value},
		{"#json:\n" + value, value},
		{"hello #json: 3", ""},
		{"```\n#json: 3\n```", ""},
		{"```json\n#json: 3\n```\nnow\n#json: [4]", "[4]"},
		{"#json: {\"a\":", ""},
		{"#repaired: 5", ""},
		{"<handed-over agent=\"a\" key=\"1\">\n#429 #slow:9m\n#json: 6\n</handed-over key=\"1\">\nhello", ""},
		{"#json: 7\n<handed-over agent=\"a\" key=\"1\">\n#json: 6\n</handed-over key=\"1\">", "7"},
	} {
		got := next(scripted.Turn{Prompt: tc.prompt})
		if len(got.Calls) > 0 || tc.want != "" && got.Text != tc.want || tc.want == "" && json.Valid([]byte(got.Text)) {
			t.Errorf("%q: %q and %v, want %q", tc.prompt, got.Text, got.Calls, tc.want)
		}
		if f := faults(unquoted(tc.prompt)); f.status != 0 {
			t.Errorf("%q fails with %d", tc.prompt, f.status)
		}
	}
	turn := scripted.Turn{Prompt: "#slow:2s\n#do: write a.txt: x\n#json: 1\nmore"}
	if got := next(turn); len(got.Calls) != 1 || faults(unquoted(turn.Prompt)).wait != 2*time.Second {
		t.Errorf("%+v", got)
	}
	turn.Outcomes = make([]scripted.Outcome, 1)
	if got := next(turn); len(got.Calls) != 0 || got.Text != "1" {
		t.Errorf("%+v", got)
	}
	for before, want := range map[string]string{"say hello\n#repaired: [6]": "[6]", "#json: 7": "7", "#json: 7\n#repaired: 8": "8"} {
		turn := scripted.Turn{Prompt: "That was no JSON: mend it."}
		for _, p := range []string{before, turn.Prompt} {
			turn.History = append(turn.History, scripted.Message{Role: scripted.User, Text: p})
		}
		if got := next(turn); got.Text != want {
			t.Errorf("%q is mended by %q", before, got.Text)
		}
	}
}

func FuzzNext(f *testing.F) {
	for _, p := range []string{
		"list files", "write a: b", "#do: run x ;; ;;", "explain this project", "count to 3", "ask x [|]",
		"#slow:9999h #long:999999 #429x999", "#json: {\"a\": 1}\n#repaired: 2",
	} {
		f.Add(p, "out", false)
	}
	f.Fuzz(func(t *testing.T, prompt, output string, failed bool) {
		k := scripted.Turn{Prompt: prompt}
		for range 10 {
			a := next(k)
			faults(prompt)
			if len(a.Calls) == 0 {
				return
			}
			k.Outcomes = append(k.Outcomes, scripted.Outcome{Call: a.Calls[0], Output: output, Failed: failed})
		}
	})
}

// TestSummarises: the model writes the summary that orchestrator asks for, of what comes before a prompt.
func TestSummarises(t *testing.T) {
	turn := scripted.Turn{Prompt: `Write a summary of this conversation up to the prompt that begins with "now say \"hi\"", and so on.`}
	for _, p := range []string{"list files", "read a/b.go", `now say "hi" to me`, turn.Prompt} {
		turn.History = append(turn.History, scripted.Message{Role: scripted.User, Text: p})
	}
	r := next(turn)
	if len(r.Calls) > 0 || !strings.Contains(r.Text, "- list files\n- read a/b.go\n\n## Decisions") || strings.Contains(r.Text, "now say") {
		t.Errorf("%+v", r)
	}
	turn.Prompt = "Write a summary of README.md"
	if r := next(turn); strings.Contains(r.Text, "## Goal") {
		t.Errorf("a person gets %q", r.Text)
	}
}
