package jsonline_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"orchestrator/agent/jsonline"
	"orchestrator/thread"
)

func TestInput(t *testing.T) {
	for raw, want := range map[string]string{
		`{"description":"list","command":"ls -a"}`:  "ls -a",
		`{"file_path":"/a/b","content":"x"}`:        "/a/b",
		`{ "x": [1, 2] }`:                           `{"x":[1,2]}`,
		`"js code"`:                                 "js code",
		`{"command":["bash","-c","ls"],"path":"p"}`: "p",
		`{`: `{`,
		``:  ``,
	} {
		if got := jsonline.Input(json.RawMessage(raw)); got != want {
			t.Errorf("%s: %q, want %q", raw, got, want)
		}
	}
}

func TestText(t *testing.T) {
	for raw, want := range map[string]string{
		`"a\nb"`: "a\nb",
		`[{"type":"text","text":"a"},{"type":"image","source":{}},{"text":"b"}]`: "a\n[image]\nb",
		`{"ok": true}`: `{"ok":true}`,
		`null`:         "",
	} {
		if got := jsonline.Text(json.RawMessage(raw)); got != want {
			t.Errorf("%s: %q, want %q", raw, got, want)
		}
	}
}

func TestEncode(t *testing.T) {
	if got := string(jsonline.Encode(map[string]string{"a": "<x>\n\u2028"})); got != "{\"a\":\"<x>\\n\\u2028\"}\n" {
		t.Errorf("%q", got)
	}
}

func TestRunEndsOnce(t *testing.T) {
	var r jsonline.Run
	r.Session("s", "m")
	r.Session("s", "m")
	r.Fail("", 429)
	r.Complete()
	r.Notice("late")
	r.Session("t", "m")
	r.Write("still written")
	r.Close()
	said := r.Take()
	if len(said.Events) != 2 || said.Events[0].Session != "s" || said.Events[1].Outcome != thread.RunFailed ||
		said.Events[1].State != thread.StateLimited || said.Events[1].Reason == "" || !r.Ended() || !said.Close || len(said.Write) == 0 {
		t.Errorf("%+v", said)
	}
	if said = r.Take(); said.Events != nil || said.Write != nil || said.Close {
		t.Errorf("said twice: %+v", said)
	}
}

func TestGone(t *testing.T) {
	for interrupted, want := range map[bool]thread.RunOutcome{false: thread.RunFailed, true: thread.RunCancelled} {
		var r jsonline.Run
		if interrupted {
			r.Interrupt()
		}
		r.Gone("ended with code %d", 3)
		if e := r.Take().Events; len(e) != 1 || e[0].Outcome != want || e[0].Reason == "" || r.Interrupted() != interrupted {
			t.Errorf("interrupted %v: %+v", interrupted, e)
		}
	}
}

func FuzzTexts(f *testing.F) {
	f.Add([]byte(`{"command":"ls"}`))
	f.Add([]byte(`[{"text":"a"}]`))
	f.Add([]byte(strings.Repeat("\xff", 100_000)))
	f.Fuzz(func(t *testing.T, raw []byte) {
		var r jsonline.Run
		r.Line(raw)
		r.Add(thread.RunEvent{Kind: thread.RunTool, Text: jsonline.Input(raw), Tool: string(raw), Reason: string(raw)})
		r.Add(thread.RunEvent{Kind: thread.RunResult, Text: jsonline.Text(raw)})
		for _, e := range r.Take().Events {
			if len(e.Text) > jsonline.MaxText || len(e.Tool) > 1000 || len(e.Reason) > 10_000 {
				t.Errorf("%d, %d and %d bytes", len(e.Text), len(e.Tool), len(e.Reason))
			}
			if utf8.Valid(raw) && !utf8.ValidString(e.Text+e.Tool) {
				t.Errorf("cut within a character: %q", e.Text)
			}
		}
	})
}
