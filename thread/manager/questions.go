package manager

import (
	"cmp"
	"context"
	"fmt"

	"orchestrator/thread"
	exec "orchestrator/thread/work"
)

// Questions has the use case that answers what agents ask.
type Questions struct {
	registry   *registry
	executions *Executions
	sessions   *workSessions
}

// Answer answers the question that a thread's agent asks, if it is still the one that the request names. A reply in the
// person's own words is queued as a prompt once the dialog is left.
func (m *Questions) Answer(ctx context.Context, ref string, r thread.AnswerRequest) (thread.Status, error) {
	l, err := m.registry.find(ref)
	if err != nil {
		return thread.Status{}, err
	}
	name := l.live.thread().Name
	fail := func(err error) (thread.Status, error) {
		return thread.Status{}, fmt.Errorf("answer %s: %w", name, err)
	}
	if r.Text != "" {
		if err := checkAsk(r.Text); err != nil {
			return fail(err)
		}
	}
	running := l.live.running()
	if running == nil {
		return m.proceed(ctx, l, r)
	}
	q := running.State().Question
	switch {
	case q == nil:
		return fail(thread.Kindf(thread.ErrRefused, "it asks nothing that can be answered from here"))
	case q.ID != r.Question:
		return fail(thread.Kindf(thread.ErrRefused, "it asks something else now"))
	}
	if a := attemptOf(l); a != nil {
		if err := answerRun(ctx, running, a, *q, r); err != nil {
			return fail(err)
		}
		return l.live.current(), nil
	}
	return m.answerDialog(ctx, l, running, *q, r)
}

// answerDialog answers a dialog in a terminal.
func (m *Questions) answerDialog(
	ctx context.Context, l *run, running thread.Session, q thread.Question, r thread.AnswerRequest,
) (thread.Status, error) {
	fail := func(err error) (thread.Status, error) {
		return thread.Status{}, fmt.Errorf("answer %s: %w", l.live.thread().Name, err)
	}
	if len(q.Choices) == 0 {
		return fail(thread.Hint(thread.Kindf(thread.ErrRefused, "a part of the question is out of sight"), "answer it in its terminal"))
	}
	choice, err := r.Chosen(q)
	if err != nil {
		return fail(err)
	}
	decided := false
	if choice >= 0 {
		decided, err = running.Decide(ctx, q.ID, func() bool { return l.live.hooks.decide(q, q.Choices[choice].Means) })
	}
	if !decided {
		err = running.Answer(ctx, q.ID, choice)
	}
	if err != nil {
		return fail(err)
	}
	if r.Text != "" {
		if _, err := l.typist.accept(ctx, thread.Prompt{From: thread.FromVerb, Text: r.Text}); err != nil {
			return fail(fmt.Errorf("the dialog was left, and the reply was not queued: %w", err))
		}
	}
	return l.live.current(), nil
}

// proceed answers what a thread asks about an execution that waits.
func (m *Questions) proceed(ctx context.Context, l *run, r thread.AnswerRequest) (thread.Status, error) {
	fail := func(err error) (thread.Status, error) {
		return thread.Status{}, fmt.Errorf("answer %s: %w", l.live.thread().Name, err)
	}
	x, q := l.open.asked(l.live.id)
	switch {
	case q == nil:
		return fail(thread.ErrNotRunning)
	case q.ID != r.Question:
		return fail(thread.Kindf(thread.ErrRefused, "it asks something else now"))
	}
	choice, err := r.Chosen(*q)
	if err != nil {
		return fail(err)
	}
	if choice == answerNever {
		why := cmp.Or(line(r.Text), "a person did not agree")
		if _, err := m.executions.Cancel(ctx, x.ID, why); err != nil {
			return fail(err)
		}
		return l.live.current(), nil
	}
	if choice == answerStartAll {
		err := m.sessions.change(ctx, x.Session, func(s *exec.Session) error { s.Approval = exec.ApproveAuto; return nil })
		if err != nil {
			return fail(err)
		}
	}
	if _, err := l.open.change(ctx, x.ID, x.Fence, func(x *exec.Execution) error {
		if x.State != exec.Queued {
			return thread.Kindf(thread.ErrRefused, "%s is %s", x.Name, x.State)
		}
		x.Agreed = true
		return nil
	}); err != nil {
		return fail(err)
	}
	return l.live.current(), nil
}
