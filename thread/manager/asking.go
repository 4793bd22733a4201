package manager

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"orchestrator/thread"
	exec "orchestrator/thread/work"
)

// An agent without a terminal that asks a person waits for the answer as one in a terminal does: its session shows the
// question, and the use case that answers is the same. The execution follows: it needs input as long as something is asked.
// Meanwhile its time does not run, and the queue lends its place.

// asksOf returns what follows when a thread's agent would ask a person.
func asksOf(cfg *Config, o thread.Once) thread.Asks {
	return cmp.Or(o.Asks, cfg.Runs.Asks, thread.AsksPerson)
}

// listener returns what takes the reports of a process. An agent that would ask a person but cannot wait for an answer is
// ended at its first question: whatever it did without, nobody wants.
func listener(l *run, a *attempt, once thread.Once, dialogue thread.Dialogue) func(thread.RunEvent) {
	_, waits := dialogue.(thread.Asker)
	must := !waits && !once.ReadOnly && asksOf(l.cfg, once) == thread.AsksPerson
	return func(e thread.RunEvent) {
		a.report(e)
		switch {
		case e.Kind == thread.RunAsks || e.Kind == thread.RunAnswered:
			l.live.enqueue(a.stand)
		case e.Kind == thread.RunRefused && must && a.refuse(e):
			l.live.enqueue(func() { endRefused(l.work.ctx, l, a) })
		}
	}
}

// refuse has it fail because its agent cannot wait for an answer. It reports whether that is news.
func (a *attempt) refuse(e thread.RunEvent) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.decided != nil || a.record.End() != nil {
		return false
	}
	what := line(cmp.Or(e.Text, e.Tool))
	a.decided = &verdict{state: exec.Failed, cause: exec.CauseAsked, reason: fmt.Sprintf("it would have asked a person, and %s cannot wait for an answer without a terminal: %s. "+
		"Allow it with --permission-mode, have it go on without by --asks refuse, or take it over in a terminal", a.x.Agent, what)}
	return true
}

// endRefused ends an execution whose agent cannot ask.
func endRefused(ctx context.Context, l *run, a *attempt) {
	a.mu.Lock()
	v := *a.decided
	a.mu.Unlock()
	if _, err := abortAs(ctx, l, a, v); err != nil && !errors.Is(err, errOver) {
		l.cfg.Log.Error("end a run that would have asked", "execution", a.name, "err", err)
	}
}

// answerRun answers a question of an agent without a terminal. A text goes with the answer.
func answerRun(ctx context.Context, s thread.Session, a *attempt, q thread.Question, r thread.AnswerRequest) error {
	if x := a.execution(); x.State.Final() {
		return thread.Kindf(thread.ErrRefused, "%s is %s: nothing was answered", x.Name, x.State)
	}
	if r.Text == "" {
		choice, err := r.Chosen(q)
		if err != nil {
			return err
		}
		if choice >= 0 && q.Choices[choice].Means == thread.OwnWords {
			return thread.Hint(thread.Kindf(thread.ErrInvalid, "answer %d is one in your own words", choice+1), "give them with `orchestrator answer`")
		}
		return s.Answer(ctx, q.ID, choice)
	}
	replier, can := s.(thread.Replier)
	if !can {
		return thread.ErrUnsupported
	}
	return replier.Reply(ctx, q.ID, q.Choice(thread.Deny), r.Text)
}
