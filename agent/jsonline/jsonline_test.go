package jsonline_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strconv"
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
	f.Add([]byte(`{"command":"ls \u001b[m\n","a":"\u009b","b":null}`))
	f.Add([]byte(`[{"text":"a"}]`))
	f.Add([]byte(strings.Repeat("\xff", 100_000)))
	f.Fuzz(func(t *testing.T, raw []byte) {
		var r jsonline.Run
		r.Line(raw)
		r.Add(thread.RunEvent{Kind: thread.RunTool, Text: jsonline.Input(raw), Tool: string(raw), Reason: string(raw)})
		r.Add(thread.RunEvent{Kind: thread.RunResult, Text: jsonline.Text(raw)})
		if about := jsonline.About(raw); len(about) > 4<<10 || strings.ContainsAny(about, "\n\r\x1b") || !utf8.ValidString(about) {
			t.Errorf("about %q", about)
		}
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

func TestRunAsks(t *testing.T) {
	var r jsonline.Run
	yes := []thread.Choice{{Text: "Yes", Means: thread.Approve}, {Text: "No", Means: thread.Deny}}
	for _, id := range []string{"1", "2", "3", "4"} {
		if !r.Ask("call", thread.Question{ID: id, Text: "May\n it?", About: "touch  x", Choices: yes}) {
			t.Error(id)
		}
	}
	if r.Ask("call", thread.Question{}) || !r.Ask("call", thread.Question{ID: "1", Text: "May it?", About: "touch x", Choices: yes}) {
		t.Error("asked without an id, or it cannot change")
	}
	err := r.Answer("1", 1, "not now")
	if err != nil {
		t.Error(err)
	}
	for id, choice := range map[string]int{"1": 0, "9": 0, "2": 2, "3": -2} {
		if err := r.Answer(id, choice, ""); !errors.Is(err, thread.ErrRefused) && !errors.Is(err, thread.ErrInvalid) {
			t.Errorf("%s: %v", id, err)
		}
	}
	if !r.Withdraw("2", "too late") || r.Withdraw("2", "") || r.Withdraw("1", "") {
		t.Error("withdrawn as often as it is not open")
	}
	if err := r.Answer("3", thread.Dismiss, ""); err != nil {
		t.Error(err)
	}
	r.Complete()
	want := []string{"asks/1/", "asks/2/", "asks/3/", "asks/4/", "asks/1/", "answered/1/No: not now", "answered/2/too late", "answered/3/dismissed",
		"answered/4/the run has ended", "end//"}
	var got []string
	for _, e := range r.Take().Events {
		id := ""
		if e.Question != nil {
			id = e.Question.ID
			if e.Question.Text != "May it?" || e.Question.About != "touch x" || e.Failed != (e.Kind == thread.RunAnswered && (id == "2" || id == "4")) {
				t.Errorf("%+v %+v", e, e.Question)
			}
		}
		got = append(got, string(e.Kind)+"/"+id+"/"+e.Text)
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if len(r.Open()) != 0 || r.Ask("call", thread.Question{ID: "5"}) {
		t.Error("it asks after its end")
	}
	r = jsonline.Run{}
	for i := range 2 * jsonline.MaxOpen {
		if r.Ask("", thread.Question{ID: strconv.Itoa(i)}) != (i < jsonline.MaxOpen) {
			t.Error(i)
		}
	}
}
