package agenttest

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"orchestrator/agent/jsonline"
	"orchestrator/thread"
)

// Dialogues reads what a CLI printed (testdata/runs/NAME.jsonl), and compares what its dialogue says with what is written
// beside it (NAME.said). A missing one is written, to be looked at. In a run of which the name begins with "interrupt" the
// person interrupts before the fourth line from the end.
func Dialogues(t *testing.T, start func() thread.Dialogue) {
	for name, lines := range recordedRuns(t) {
		t.Run(name, func(t *testing.T) {
			r := replay{talk: start()}
			r.whole(name, lines, len(lines))
			if r.fault != "" {
				t.Error(r.fault)
			}
			compare(t, filepath.Join("testdata", "runs", name+".said"), r.said.String())
			for cut := range lines { // it dies after each line
				r := replay{talk: start()}
				if r.whole(name, lines, cut); r.fault != "" {
					t.Errorf("cut before line %d: %s", cut+1, r.fault)
				}
			}
		})
	}
}

// Asking reads what a CLI printed that asked a person (testdata/asks/HOW-NAME.jsonl), and compares as Dialogues does. HOW is
// how the person answered each question: approve, always, deny, deny with words, words, or none: then an interrupt took
// it back.
func Asking(t *testing.T, start func() thread.Dialogue) {
	for name, all := range lines(t, "asks") {
		t.Run(name, func(t *testing.T) {
			how, _, _ := strings.Cut(name, "-")
			r := replay{talk: start(), answers: map[string]reply{
				"approve": {means: thread.Approve}, "always": {means: thread.ApproveAlways}, "deny": {means: thread.Deny},
				"denysays": {means: thread.Deny, words: "WORDS"}, "words": {words: "WORDS"},
			}[how]}
			r.answer = how != "none"
			r.whole("", all, len(all))
			if r.fault != "" {
				t.Error(r.fault)
			}
			compare(t, filepath.Join("testdata", "asks", name+".said"), r.said.String())
			for cut := range all {
				r := replay{talk: start(), answers: r.answers, answer: r.answer}
				if r.whole("", all, cut); r.fault != "" || r.asked != r.closed {
					t.Errorf("cut before line %d: %s, %d questions, %d answered or withdrawn", cut+1, r.fault, r.asked, r.closed)
				}
			}
		})
	}
}

// reply is how a person answers.
type reply struct {
	means thread.Meaning
	words string
}

// compare compares with a file; a missing one is written, to be looked at.
func compare(t *testing.T, path, got string) {
	t.Helper()
	want, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		if err = os.WriteFile(path, []byte(got), 0o644); err == nil {
			t.Fatalf("%s was written: look at it", path)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("said\n%s, want\n%s", got, want)
	}
}

func recordedRuns(t testing.TB) map[string][][]byte {
	t.Helper()
	all := lines(t, "runs")
	if len(all) == 0 {
		t.Fatal("no recorded runs")
	}
	return all
}

func lines(t testing.TB, folder string) map[string][][]byte {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("testdata", folder, "*.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][][]byte{}
	for _, path := range paths {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		all[strings.TrimSuffix(filepath.Base(path), ".jsonl")] = bytes.Split(bytes.TrimSuffix(raw, []byte("\n")), []byte("\n"))
	}
	return all
}

// replay follows a dialogue.
type replay struct {
	talk  thread.Dialogue
	said  strings.Builder
	ends  int
	fault string

	answer  bool // each question, at once
	answers reply
	asked   int // questions
	closed  int // those that are not open any more
}

// whole takes the first lines of a run, and its end.
func (r *replay) whole(name string, lines [][]byte, first int) {
	r.take(0, r.talk.Begin("PROMPT"))
	for i, line := range lines[:first] {
		if strings.HasPrefix(name, "interrupt") && i == max(len(lines)-4, 0) {
			r.take(0, r.talk.Interrupt())
		}
		r.take(len(line), r.talk.Read(bytes.Clone(line)))
	}
	code := 0
	if first < len(lines) {
		code = 137
	}
	r.take(0, r.talk.End(code))
	if r.ends != 1 {
		r.fault = fmt.Sprintf("%d ends", r.ends)
	}
}

// take notes what a step said, and what is wrong with it: events after the end, or more of them than a line accounts for.
func (r *replay) take(size int, s thread.Said) {
	total, events := 0, 0
	var open []thread.Question
	for _, e := range s.Events {
		switch e.Kind {
		case thread.RunAsks:
			r.asked++
			open = append(open, *e.Question)
		case thread.RunAnswered:
			r.closed++
		default:
		}
		if r.ends > 0 {
			r.fault = fmt.Sprintf("%+v after the end", e)
		}
		if e.Kind == thread.RunEnd {
			r.ends++
		}
		if e.Kind != thread.RunAnswered { // one for each that was asked, before
			events++
		}
		total += len(e.Text) + len(e.Reason) + len(e.Tool) + len(e.Call) + len(e.Session) + len(e.Model)
		if len(e.Text) > jsonline.MaxText {
			r.fault = fmt.Sprintf("a text of %d bytes", len(e.Text))
		}
		fmt.Fprintln(&r.said, written(e))
	}
	if total > 16*size+64<<10 || events > size+16 {
		r.fault = fmt.Sprintf("%d events with %d bytes after a line of %d", events, total, size)
	}
	if len(s.Write) > 0 {
		if !bytes.HasSuffix(s.Write, []byte("\n")) && !s.Close {
			r.fault = fmt.Sprintf("writes %q", s.Write)
		}
		fmt.Fprintf(&r.said, "> %s", s.Write)
	}
	if s.Close {
		fmt.Fprintln(&r.said, "> (closed)")
	}
	if !r.answer {
		return
	}
	for _, q := range open {
		r.replies(q)
	}
}

// replies answers a question, and answers it once more, which is refused.
func (r *replay) replies(q thread.Question) {
	asker, ok := r.talk.(thread.Asker)
	if !ok {
		r.fault = "it asks, and takes no answer"
		return
	}
	choice := thread.Dismiss
	if r.answers.means != "" {
		choice = q.Choice(r.answers.means)
	}
	said, err := asker.Answer(q.ID, choice, r.answers.words)
	if err != nil {
		r.fault = fmt.Sprintf("%+v: %v", q, err)
	}
	if _, err := asker.Answer(q.ID, choice, r.answers.words); err == nil {
		r.fault = fmt.Sprintf("%+v is answered twice", q)
	}
	r.take(1<<20, said)
}

// written is an event on a line.
func written(e thread.RunEvent) string {
	words := []string{string(e.Kind)}
	add := func(name, value string) {
		if value != "" {
			words = append(words, name+"="+value)
		}
	}
	add("tool", e.Tool)
	add("call", e.Call)
	add("sub", e.Sub)
	add("reads", e.Reads)
	add("session", e.Session)
	add("model", e.Model)
	add("outcome", string(e.Outcome))
	add("state", string(e.State))
	if e.Failed {
		words = append(words, "failed")
	}
	if e.Status != 0 {
		words = append(words, fmt.Sprintf("status=%d", e.Status))
	}
	if q := e.Question; q != nil {
		words = append(words, fmt.Sprintf("question=%s kind=%s text=%q about=%q", q.ID, q.Kind, q.Text, q.About))
		for _, c := range q.Choices {
			words = append(words, fmt.Sprintf("choice=%q/%s", c.Text, c.Means))
		}
	}
	if u := e.Usage; u != nil {
		words = append(words, fmt.Sprintf("in=%d read=%d written=%d out=%d", u.Input, u.CacheRead, u.CacheWrite, u.Output))
	}
	if text := e.Text + e.Reason; text != "" {
		words = append(words, fmt.Sprintf("%q", text))
	}
	return strings.Join(words, " ")
}

// FuzzDialogue gives a dialogue lines that are anything, beginning with those that were recorded. A person answers what it
// asks, or not, and says more, if it takes that.
func FuzzDialogue(f *testing.F, start func() thread.Dialogue) {
	for _, lines := range recordedRuns(f) {
		f.Add(bytes.Join(lines, []byte("\n")), false, 0)
		f.Add(bytes.Join(lines[:len(lines)/2], []byte("\n")), true, 1)
	}
	for _, asks := range lines(f, "asks") {
		for how := range 4 {
			f.Add(bytes.Join(asks, []byte("\n")), how == 3, how)
		}
	}
	f.Add([]byte("{\"type\":1}\nnull\n[]\n\"\"\n{\"id\":{}}"), true, 2)
	f.Fuzz(func(t *testing.T, raw []byte, interrupt bool, how int) {
		r := replay{talk: start()}
		_, r.answer = r.talk.(thread.Asker)
		r.answer = r.answer && how%4 > 0
		r.answers = []reply{{}, {means: thread.Approve}, {means: thread.Deny, words: "no"}, {words: "words"}}[how&3]
		lines := bytes.Split(raw, []byte("\n"))
		r.take(0, r.talk.Begin("PROMPT"))
		for i, line := range lines {
			if interrupt && i == len(lines)/2 {
				r.answer = false // it takes none any more
				r.take(0, r.talk.Interrupt())
			}
			if s, ok := r.talk.(thread.Steerer); ok && i == len(lines)/3 {
				said, err := s.Steer("MORE")
				if err == nil {
					r.take(0, said)
				}
			}
			r.take(len(line), r.talk.Read(line))
		}
		r.take(0, r.talk.End(0))
		if r.ends != 1 || r.fault != "" || r.asked != r.closed {
			t.Errorf("%d ends, %d questions, %d answered or withdrawn, %s", r.ends, r.asked, r.closed, r.fault)
		}
		if utf8.Valid(raw) && !utf8.ValidString(r.said.String()) {
			t.Error("cut within a character")
		}
	})
}
