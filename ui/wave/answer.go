package wave

import (
	"context"
	"errors"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/api"
	"orchestrator/thread/plan"
	"orchestrator/thread/wave"
	"orchestrator/ui/dialog"
	"orchestrator/ui/host"
	"orchestrator/ui/intent"
	"orchestrator/ui/plain"
	"orchestrator/ui/tree"
	"orchestrator/ui/typing"

	tea "charm.land/bubbletea/v2"
)

// answers answers what tasks ask.
type answers struct {
	src  *source
	seen seen
}

// seen is the question that the cursor was seen on in the list of threads, and since when.
type seen struct {
	name  string
	asked time.Time // when the question was asked
	since time.Time
}

// key returns what a key does to the question that the cursor is on in the list of threads, and the words for it, nil for
// keys that answer nothing. It does nothing itself: a letter may be the first one of a sentence.
func (f *answers) key(in intent.Intent) (do func() tea.Cmd, words string) {
	q := tree.Asked(f.src.Threads)
	now := seen{}
	if q != nil {
		now = seen{name: q.Name(), asked: q.Since, since: f.seen.since}
	}
	if now.name != f.seen.name || !now.asked.Equal(f.seen.asked) {
		now.since = f.src.Clock()
	}
	f.seen = now
	if q == nil || in != intent.Yes && in != intent.No {
		return nil, ""
	}
	words = map[bool]string{true: "says yes", false: "says no"}[in == intent.Yes]
	switch of := *q; {
	case f.src.Clock().Sub(now.since) < typing.Glance:
		return func() tea.Cmd {
			return f.src.Notify(thread.LevelInfo, "Key ignored: "+plain.Line(of.Name())+" asks this only now")
		}, words
	case !f.src.cfg.Seen():
		return func() tea.Cmd { return f.whole(of) }, words
	default:
		return func() tea.Cmd { return f.send(of, in == intent.Yes) }, words
	}
}

// respond answers a question with a yes or a no, or shows all of it first if not all of it was in sight.
func (f *answers) respond(q thread.NodeQuestion, yes, whole bool) tea.Cmd {
	if !whole {
		return f.whole(q)
	}
	return f.send(q, yes)
}

func (f *answers) result(q thread.NodeQuestion, yes, whole bool) dialog.Result {
	return host.Stay(func() tea.Cmd { return f.respond(q, yes, whole) })
}

// whole shows all of a question, with its answers.
func (f *answers) whole(q thread.NodeQuestion) tea.Cmd {
	body := append(dialog.Plain(plain.Lines(q.Text)...), dialog.Plain("", plain.Line(q.Task+" "+q.Title), consequence(q))...)
	f.src.Dialogs.Push(dialog.NewAsk(plain.Line(q.Name())+" asks", body, dialog.Cancel("Later"),
		dialog.Choice{Label: "Yes", Read: true, Result: host.Do(func() tea.Cmd { return f.send(q, true) })},
		dialog.Choice{Label: "No", Danger: true, Read: true, Result: host.Do(func() tea.Cmd { return f.send(q, false) })},
	).Until(func() string {
		if !f.src.still(q) {
			return "It was answered."
		}
		return ""
	}))
	return nil
}

// consequence says what an answer leads to.
func consequence(q thread.NodeQuestion) string {
	switch q.Asks {
	case "upstream":
		return "Yes: it goes on without what is missing. No: it is left out, and so is what reads it."
	case "stall":
		return "Yes: it is stopped and begins again. No: it goes on."
	default:
		return "Yes: what waits for it begins. No: it has failed."
	}
}

// send answers a question. Until the server has said what came of it, it is not shown as open.
func (f *answers) send(q thread.NodeQuestion, yes bool) tea.Cmd {
	if !f.src.still(q) {
		return f.src.Notify(thread.LevelInfo, plain.Line(q.Name())+" was answered meanwhile")
	}
	f.src.answered[q.Name()] = q.Since
	f.src.tell(f.src.asked())
	f.src.changed()
	r := wave.AnswerRequest{Task: q.Task, Agent: q.Agent, Yes: yes, Asked: q.Since}
	word := map[bool]string{true: ": yes", false: ": no"}[yes]
	return host.Call(f.src.Host, host.Slow, func(ctx context.Context) (struct{}, error) {
		_, err := api.AnswerWave.Do(ctx, f.src.Server, r)
		return struct{}{}, err
	}, func(_ struct{}, err error) tea.Cmd {
		ask := f.src.look(q.Task)
		if err == nil {
			return tea.Batch(ask, f.src.Notify(thread.LevelInfo, plain.Line(q.Name())+word))
		}
		delete(f.src.answered, q.Name())
		f.src.tell(f.src.asked())
		if errors.Is(err, thread.ErrRefused) { // another answer came first
			return tea.Batch(ask, f.src.Notify(thread.LevelWarn, plain.Line(q.Name()+" "+err.Error())))
		}
		return tea.Batch(ask, f.src.Fail("answer "+q.Name(), err))
	})
}

// questionOf is what a node asks, false if it asks nothing.
func questionOf(v wave.View, n wave.NodeView) (thread.NodeQuestion, bool) {
	q := thread.NodeQuestion{Task: v.Task.Name, Title: v.Task.Title, Agent: n.Agent, Asks: string(n.Asks), Text: n.Question, Since: n.Asked}
	return q, n.State == plan.NodeAsking
}
