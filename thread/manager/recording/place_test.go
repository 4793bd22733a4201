package recording_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"orchestrator/thread"
)

// turnsOf returns the turns that are stored, oldest first: each with its note and what was said in it.
func (w *world) turnsOf() (turns []string) {
	w.t.Helper()
	list, err := w.store.Lineage(w.t.Context(), w.thread.Head, thread.Page{Turns: true, Limit: 100})
	if err != nil {
		w.t.Fatal(err)
	}
	for _, c := range slices.Backward(list) {
		items, err := w.store.Conversation(w.t.Context(), c.ID)
		if err != nil {
			w.t.Fatal(err)
		}
		said := fmt.Sprintf("%d ", c.Turn)
		if c.Note != "" {
			said = fmt.Sprintf("%d (%s) ", c.Turn, c.Note)
		}
		for _, it := range items[c.First-1:] {
			said += "|" + strings.Trim(string(it.Raw), `"`)
		}
		turns = append(turns, said)
	}
	return turns
}

// TestATurnBeginsWithItsPrompt sends a first turn's answer back as agents do: whatever it looks like then, the second
// turn begins with its own prompt, in a new run as well.
func TestATurnBeginsWithItsPrompt(t *testing.T) {
	for name, tc := range map[string]struct {
		again []string // what stands before the second prompt
		two   []string // the prompts of the second turn that are known, its own if there are none
		want  string   // the second turn
	}{
		"as it was":                    {[]string{"one", "answer: one"}, nil, "2 |two|answer: two"},
		"a field added":                {[]string{"one", "answer null: one"}, nil, "2 |two|answer: two"},
		"in pieces":                    {[]string{"one", "answer thinks", "answer: one"}, nil, "2 |two|answer: two"},
		"in many pieces, changed":      {[]string{"one", "answer a", "answer b", "answer c", "answer d"}, nil, "2 |two|answer: two"},
		"left out":                     {[]string{"one"}, []string{"two"}, "2 |two|answer: two"},
		"a note before all":            {[]string{"note", "one", "answer: one"}, nil, "2 |two|answer: two"},
		"a note before the prompt":     {[]string{"one", "answer: one", "note"}, nil, "2 |two|answer: two"},
		"gone on by itself":            {[]string{"one", "answer: one", "note", "answer: by itself"}, nil, "2 |two|answer: two"},
		"compacted":                    {[]string{"note of all"}, nil, "2 |two|answer: two"},
		"compacted, longer":            {[]string{"note a", "note b", "note c", "answer: of all"}, nil, "2 |two|answer: two"},
		"a prompt before was cut":      {[]string{"one", "answer: one", "cut"}, nil, "2 |two|answer: two"},
		"two prompts at once":          {[]string{"one", "answer: one", "also"}, []string{"also", "two"}, "2 |also|two|answer: two"},
		"two at once, one of them cut": {[]string{"one", "answer: one", "cut", "also"}, []string{"also", "two"}, "2 |also|two|answer: two"},
	} {
		for _, restarted := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, restarted %v", name, restarted), func(t *testing.T) {
				w := newWorld(t, nil)
				w.ask("one")
				w.answer("answer: one", true, nil, "one")
				if restarted {
					w.Recorder = w.recorder(nil)
				}
				if len(tc.two) == 0 {
					tc.two = []string{"two"}
				}
				for _, text := range tc.two {
					w.ask(text)
				}
				w.answerTo(tc.two, "answer: two", append(tc.again, "two")...)
				got := w.turnsOf()
				if len(got) != 2 || got[0] != "1 |one|answer: one" || got[1] != tc.want {
					t.Errorf("turns %q, want %q; told\n%s", got, tc.want, w.heard())
				}
			})
		}
	}
}

// TestATurnGoesOn continues a turn with requests that look different each time: it still begins with its prompt.
func TestATurnGoesOn(t *testing.T) {
	for name, last := range map[string][]string{
		"as it was":   {"one", "answer: one", "two", "answer: a call", "note: a result"},
		"before it":   {"one", "answer x", "answer: one", "two", "answer: a call", "note: a result"},
		"in it":       {"one", "answer: one", "two", "answer x", "answer: a call", "note: a result"},
		"shorter":     {"two", "answer: a call", "note: a result"},
		"with a note": {"note", "one", "answer: one", "note", "two", "answer: a call", "note: a result"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, nil)
			w.ask("one")
			w.answer("answer: one", true, nil, "one")
			w.ask("two")
			w.answer("answer: a call", false, nil, "one", "answer: one", "two")
			answer := item("answer: two")
			var items []thread.Item
			for _, said := range last {
				items = append(items, item(said))
			}
			w.Answer(t.Context(), thread.Exchange{
				Main: true, Items: items, Answer: &answer, Prompt: "two", Stale: true, Text: "answer: two", EndsTurn: true,
			}, 1, nil)
			got := w.turnsOf()
			if want := "2 |" + strings.Join(last[slices.Index(last, "two"):], "|") + "|answer: two"; len(got) != 2 || got[1] != want {
				t.Errorf("turns %q, want %q", got, want)
			}
		})
	}
}

// TestATurnMadeOutside has somebody else write in the session: each whole turn of theirs has its own row before the
// next one, and it is said.
func TestATurnMadeOutside(t *testing.T) {
	for name, tc := range map[string]struct {
		between []string
		lost    string
		want    []string
		says    bool
	}{
		"one": {[]string{"theirs", "answer: theirs"}, "", []string{"2 (made outside of orchestrator) |theirs|answer: theirs", "3 |two|answer: two"}, true},
		"two": {[]string{"a", "answer: a", "b", "answer c", "answer: b"}, "", []string{
			"2 (made outside of orchestrator) |a|answer: a", "3 (made outside of orchestrator) |b|answer c|answer: b", "4 |two|answer: two"}, true},
		"cut":                 {[]string{"theirs"}, "", []string{"2 |two|answer: two"}, false},
		"one of two cut":      {[]string{"cut", "theirs", "answer: theirs"}, "", []string{"2 (made outside of orchestrator) |theirs|answer: theirs", "3 |two|answer: two"}, true},
		"the same words":      {[]string{"two", "answer: theirs"}, "", []string{"2 (made outside of orchestrator) |two|answer: theirs", "3 |two|answer: two"}, true},
		"ours, recorded late": {[]string{"ours", "answer: ours"}, "ours", []string{"2 (recorded with the next request) |ours|answer: ours", "3 |two|answer: two"}, false},
		"a note":              {[]string{"note", "answer: by itself"}, "", []string{"2 |two|answer: two"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, nil)
			w.ask("one")
			w.answer("answer: one", true, nil, "one")
			if tc.lost != "" {
				w.lost = []thread.Prompt{{ID: thread.NewPromptID(), Thread: w.thread.ID, From: thread.FromVerb, Text: tc.lost, State: thread.PromptInterrupted}}
			}
			w.Recorder = w.recorder(nil)
			w.ask("two")
			w.heard()
			w.answer("answer: two", true, nil, append(append([]string{"one", "answer null: one"}, tc.between...), "two")...)
			said := w.heard()
			if got := w.turnsOf(); !slices.Equal(got[1:], tc.want) {
				t.Errorf("turns %q, want %q", got[1:], tc.want)
			}
			if strings.Contains(said, "made outside") != tc.says {
				t.Errorf("it is told\n%s", said)
			}
			if tc.lost != "" && !strings.Contains(said, `prompt "ours" is answered`) {
				t.Errorf("of the lost prompt is told\n%s", said)
			}
			w.ask("three")
			w.answer("answer: three", true, nil, append(append([]string{"one", "answer null: one"}, tc.between...), "two", "answer: two", "three")...)
			if got := w.turnsOf(); len(got) != len(tc.want)+2 || !strings.HasSuffix(got[len(got)-1], " |three|answer: three") {
				t.Errorf("with the next turn %q", got)
			}
		})
	}
}

// answerTo records an answer to a request about prompts.
func (w *world) answerTo(prompts []string, text string, said ...string) {
	var items []thread.Item
	for _, s := range said {
		items = append(items, item(s))
	}
	answer := item(text)
	w.Answer(w.t.Context(), thread.Exchange{
		Main: true, Items: items, Answer: &answer, Prompt: strings.Join(prompts, "\n"), Text: text, EndsTurn: true,
	}, 1, nil)
}
