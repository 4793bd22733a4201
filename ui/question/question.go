// Package question shows what the agent of the selected thread asks in a dialog, and answers it without entering the
// terminal. An answer goes only to the question that was on the screen when its key was pressed.
package question

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/api"
	"orchestrator/ui/dialog"
	"orchestrator/ui/field"
	"orchestrator/ui/host"
	"orchestrator/ui/intent"
	"orchestrator/ui/keyhelp"
	"orchestrator/ui/layout"
	"orchestrator/ui/plain"
	"orchestrator/ui/styled"
	"orchestrator/ui/theme"
	"orchestrator/ui/typing"

	tea "charm.land/bubbletea/v2"
)

// Feature answers questions.
type Feature struct {
	*host.Host
	// answered has the ids of questions that are being answered from here, until they are gone or could not be answered.
	answered map[thread.ID]string
	// inFull reports whether the selected thread's terminal is shown, so that all of its dialog can be read.
	inFull func() bool

	of    thread.ID // the selected thread
	shown string    // what it was seen to ask: an id, "" for nothing
	since time.Time // since when
	cut   bool      // its line does not say all
}

// New adds the feature to a host. inFull reports whether the selected thread's terminal is shown.
func New(h *host.Host, inFull func() bool) *Feature {
	f := &Feature{Host: h, answered: map[thread.ID]string{}, inFull: inFull}
	h.Actions.OnThread(intent.Reply, f.openReply)
	return f
}

// Current returns the selected thread and what its agent asks, nil if nothing is asked that can be answered from here.
func (f *Feature) Current() (*thread.Status, *thread.Question) {
	s := f.Threads.Selected()
	if s == nil || s.State.Question == nil || len(s.State.Question.Choices) == 0 || f.answered[s.ID] == s.State.Question.ID {
		return s, nil
	}
	return s, s.State.Question
}

// look notes since when the selected thread asks what it asks.
func (f *Feature) look() {
	s, q := f.Current()
	of, id := thread.ID(""), ""
	if s != nil {
		of = s.ID
	}
	if q != nil {
		id = q.ID
	}
	if of == f.of && id == f.shown {
		return
	}
	if f.since = f.Clock(); of != f.of && id == "" {
		f.since = time.Time{} // the selection moved, nothing has gone
	}
	f.of, f.shown = of, id
}

// early returns what to say about a key that comes too soon: to a question that has just appeared, or where one has just
// gone and the key would do something else; "" otherwise.
func (f *Feature) early(in intent.Intent) string {
	switch age := f.Clock().Sub(f.since); {
	case f.shown != "" && age < typing.Glance:
		return "Key ignored: " + f.Name(f.of) + " asks this only now"
	case f.shown == "" && age < typing.Pause && answers(in):
		return "Key ignored: the question is gone"
	}
	return ""
}

// answers reports whether a key would answer a question, if there were one.
func answers(in intent.Intent) bool {
	switch in.(type) {
	case intent.Pick, intent.Jump:
		return true
	default:
		return slices.Contains([]intent.Intent{
			intent.Yes, intent.Always, intent.No, intent.Reply, intent.TakeOffer, intent.DismissOffer,
		}, in)
	}
}

// Answer returns what a key does to the question that is shown, and the words for it: "approves". It returns nil for
// keys that answer nothing, and does nothing itself: a letter may be the first one of a sentence.
func (f *Feature) Answer(in intent.Intent) (do func() tea.Cmd, words string) {
	f.look()
	s, q := f.Current()
	if q == nil {
		if why := f.early(in); why != "" {
			return func() tea.Cmd { return f.Notify(thread.LevelInfo, why) }, "answers"
		}
		if in == intent.Yes || in == intent.Always || in == intent.No {
			return f.nothing, "answers"
		}
		return nil, ""
	}
	r := thread.AnswerRequest{Question: q.ID}
	switch in := in.(type) {
	case intent.Pick:
		if in.N > len(q.Choices) {
			return nil, ""
		}
		r.Choice, words = in.N, "answers"
	case intent.Action:
		switch in {
		case intent.Yes:
			r.Means, words = thread.Approve, "approves"
		case intent.Always:
			r.Means, words = thread.ApproveAlways, "approves for good"
		case intent.No:
			r.Means, words = thread.Deny, "denies"
		default:
			return nil, ""
		}
	default:
		return nil, ""
	}
	if why := f.early(in); why != "" {
		return func() tea.Cmd { return f.Notify(thread.LevelInfo, why) }, words
	}
	if f.cut && !f.inFull() {
		return func() tea.Cmd { return f.open(s, *q) }, words
	}
	id, name := s.ID, f.Name(s.ID)
	at, err := r.Chosen(*q)
	if err != nil {
		return func() tea.Cmd {
			return f.Notify(thread.LevelWarn, name+" offers no such answer; "+f.Keys.KeyOf(intent.Focus)+" opens it")
		}, words
	}
	return func() tea.Cmd { return f.send(id, r, name+": "+q.Choices[at].Text) }, words
}

// nothing says that there is nothing to answer.
func (f *Feature) nothing() tea.Cmd {
	s := f.Threads.Selected()
	if s == nil {
		return nil
	}
	return f.Notify(thread.LevelInfo, f.Name(s.ID)+" waits for nothing that can be answered from here")
}

// ShowWhole shows what the selected thread asks whole, with its answers.
func (f *Feature) ShowWhole() tea.Cmd {
	s, q := f.Current()
	if q == nil {
		return f.nothing()
	}
	return f.open(s, *q)
}

// open shows a question whole, with its answers: its line has no room for all of it.
func (f *Feature) open(s *thread.Status, q thread.Question) tea.Cmd {
	id, name := s.ID, f.Name(s.ID)
	body := dialog.Plain(strings.Split(q.About, ` \n `)...)
	body = append(body, dialog.Line{}, dialog.Line{Text: plain.Line(q.Text), Tok: theme.Muted})
	choices := []dialog.Choice{dialog.Cancel("Later")}
	for i, c := range q.Choices {
		r := thread.AnswerRequest{Question: q.ID, Choice: i + 1}
		text := plain.Line(c.Text)
		label := plain.Cut(text, 24)
		if label != text { // what it allows is in the rest
			body = append(body, dialog.Line{Text: strconv.Itoa(i+1) + ". " + text, Tok: theme.Muted})
		}
		choices = append(choices, dialog.Choice{Label: label, Danger: c.Means != thread.Deny, Read: c.Means != thread.Deny,
			Result: host.Do(func() tea.Cmd { return f.send(id, r, name+": "+c.Text) })})
	}
	f.Dialogs.Push(dialog.NewAsk(name+" asks", body, choices...).Until(func() string {
		if now := f.Threads.Thread(id); now == nil || now.State.Question == nil || now.State.Question.ID != q.ID {
			return "The question was answered, or " + name + " asks something else now."
		}
		return ""
	}))
	return nil
}

// send answers; said is what is shown afterwards.
func (f *Feature) send(id thread.ID, r thread.AnswerRequest, said string) tea.Cmd {
	f.answered[id] = r.Question
	task := "answer " + f.Name(id)
	return host.Call(f.Host, host.Slow, api.Answer.On(f.Server, api.AnswerRequest{Thread: string(id), AnswerRequest: r}),
		func(_ thread.Status, err error) tea.Cmd {
			if err != nil {
				delete(f.answered, id)
				return f.Fail(task, err)
			}
			return f.Notify(thread.LevelInfo, said)
		})
}

// openReply asks for an answer in the person's own words.
func (f *Feature) openReply(s *thread.Status) tea.Cmd {
	q := s.State.Question
	if s.Runs() && s.Run.Over() {
		f.ask("next run of "+f.Name(s.ID), "send", "", func(text string) tea.Cmd { return f.prompt(s.ID, text) })
		return nil
	}
	if q == nil || len(q.Choices) == 0 {
		return f.nothing()
	}
	id, of := s.ID, q.ID
	f.ask("reply to "+f.Name(s.ID)+": "+plain.Cut(plain.Line(q.Line()), 60), "reply", "", func(text string) tea.Cmd {
		f.answered[id] = of
		request := api.AnswerRequest{Thread: string(id), AnswerRequest: thread.AnswerRequest{Question: of, Text: text}}
		return host.Call(f.Host, host.Slow, api.Answer.On(f.Server, request), func(s thread.Status, err error) tea.Cmd {
			if err == nil {
				return f.Notify(thread.LevelInfo, f.Name(s.ID)+": replied")
			}
			delete(f.answered, id)
			f.keep(id, text)
			return f.Fail("reply to "+f.Name(id), err)
		})
	})
	return nil
}

// keep offers to send as a prompt what could not be replied: the question was gone.
func (f *Feature) keep(id thread.ID, text string) {
	f.ask("prompt for "+f.Name(id)+", which asks something else now", "send", text, func(text string) tea.Cmd {
		return f.prompt(id, text)
	})
}

// ask opens a form for a text.
func (f *Feature) ask(title, verb, text string, do func(text string) tea.Cmd) {
	in := &dialog.Input{Label: "Text", Hint: "It is told no, and then this", Text: field.Field{Multi: true}, Rows: 3}
	in.Text.Set(text)
	f.Dialogs.Push(dialog.NewOne(title, in, "Enter a text", func(text string) dialog.Result {
		return host.Do(func() tea.Cmd { return do(text) })
	}).Verb(verb))
}

// Draw draws the question on a rule, and its keys where there is room for them: they stand among the keys below too.
// leave is the key that takes the keyboard from the agent, if the agent has it.
func (f *Feature) Draw(c *layout.Canvas, b layout.Box, th *theme.Theme, leave string) {
	f.look()
	s, q := f.Current()
	if q == nil || b.Empty() {
		return
	}
	age := " " + thread.Age(f.Clock().Sub(s.State.Since)) + " "
	text := plain.Line(q.Line())
	what := plain.Cut(text, max(b.W-plain.Width(" ◆ "+age), 0))
	f.cut = what != text
	x := c.Print(b, 0, 0, th.Style(theme.Waiting), " ◆ ")
	x = c.Print(b, x, 0, th.Style(theme.Strong), what)
	x = c.Print(b, x, 0, th.Style(theme.Muted), age)
	if hints := f.hints(*q, leave); x+styled.Width(hints...)+1 <= b.W {
		x = c.PrintSpans(b, b.W-styled.Width(hints...)-1, 0, th, hints)
		c.Print(b, x, 0, th.Style(theme.Muted), " ")
	}
}

// mostLines is how many lines a question has on rows of its own.
const mostLines = 3

// Rows returns how many rows of a width the question wants, a rule above it included; 0 if nothing is asked.
func (f *Feature) Rows(w int) int {
	_, q := f.Current()
	if q == nil {
		return 0
	}
	return min(len(plain.Wrap(plain.Line(q.Line()), lineWidth(w))), mostLines) + 2
}

// lineWidth is the width of its lines: beside them stand a mark and its age.
func lineWidth(w int) int { return max(w-len("   seen 59s ago  "), 8) }

// DrawRows draws the question on some rows, and its keys on the last one.
func (f *Feature) DrawRows(c *layout.Canvas, b layout.Box, th *theme.Theme) {
	f.look()
	_, q := f.Current()
	if q == nil || b.Empty() {
		return
	}
	rows, keys := b.Bottom(1)
	c.PrintRight(rows, 1, 0, th.Style(theme.Muted), "seen "+thread.Age(f.Clock().Sub(q.Since))+" ago")
	lines := plain.Wrap(plain.Line(q.Line()), lineWidth(b.W))
	f.cut = len(lines) > rows.H
	c.Print(rows, 1, 0, th.Style(theme.Waiting), "◆")
	for y, l := range lines[:min(len(lines), rows.H)] {
		if f.cut && y == rows.H-1 {
			l = plain.Cut(l+" …", lineWidth(b.W))
		}
		c.Print(rows, 3, y, th.Style(theme.Strong), l)
	}
	hints := f.hints(*q, "")
	if key := f.Keys.KeyOf(intent.Focus); key != "" {
		hints = append(hints, keyhelp.Spans(key, "open")...)
	}
	c.PrintSpans(keys, 1, 0, th, hints)
}

// hints are the keys that answer a question, with a word for each.
func (f *Feature) hints(q thread.Question, leave string) (out []styled.Span) {
	add := func(key, word string) { out = append(out, keyhelp.Spans(key, word)...) }
	if leave != "" {
		add(leave, "")
	}
	if q.Kind == thread.QuestionChoice {
		for i, c := range q.Choices[:min(len(q.Choices), 4)] {
			add(strconv.Itoa(i+1), plain.Cut(plain.Line(c.Text), 16))
		}
	}
	for _, k := range []struct {
		action intent.Action
		means  thread.Meaning
		word   string
	}{{intent.Yes, thread.Approve, "approve"}, {intent.Always, thread.ApproveAlways, "always"}, {intent.No, thread.Deny, "deny"}} {
		if key := f.Keys.KeyOf(k.action); key != "" && q.Choice(k.means) >= 0 {
			add(key, k.word)
		}
	}
	if key := f.Keys.KeyOf(intent.Reply); key != "" {
		add(key, "reply")
	}
	return out
}

// prompt sends a text as a prompt.
func (f *Feature) prompt(id thread.ID, text string) tea.Cmd {
	return host.Call(f.Host, host.Slow, api.Ask.On(f.Server, api.AskRequest{Thread: string(id), Text: text}),
		func(_ thread.Prompt, err error) tea.Cmd {
			if err != nil {
				return f.Fail("send to "+f.Name(id), err)
			}
			return nil
		})
}
