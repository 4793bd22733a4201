package manager

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/failpoint"
	exec "orchestrator/thread/work"
)

// The order of writes from a prompt to its answer, and what a crash after each leaves for the next start:
//
//  1. the thread, with its worktree         as for every thread: a thread that has nothing to do
//  2. the execution, queued                 it has no prompt: it failed, and nobody was told that it was accepted
//  3. its prompt, queued                    both are there: it goes on waiting. Now the client is told
//  4. the execution, deployed               no process yet, the prompt was not given: lost, its policy decides
//  5. the process's row                     the same, and the row is closed
//  6. the process                           it is ended first, by its row; else the same
//  7. the prompt, typing                    as for every prompt: given, if the agent's files have it
//  8. the execution, running                lost, its policy decides. Now the process gets the prompt, unless the
//     execution was taken away from this server
//  9. the answer's checkpoint, which ends
//     the prompt in the same transaction    the execution has completed: the prompt says so
//  10. the process's row, ended              the same
//  11. the execution, ended                  nothing is left to do
//
// So no process is without a row, and no row that runs is without a process once the server has started. The execution
// comes before its prompt, and not the other way round, because a prompt without an execution would run although nobody
// was told that it was accepted; an execution without a prompt cannot.
//
// Money is counted once, with the answers' checkpoints: an execution's usage is the difference of its thread's.

// order is how an execution is asked for.
type order struct {
	name  string  // "" for the next number
	id    exec.ID // "" for a new one
	takes exec.ID // the execution whose place it takes, "" for none
	again thread.PromptID
	given thread.Given
	env   []string // that the person brings who asks; nil for none. It is kept in memory only
}

// submit stores an execution for a thread, and its prompt. It starts when the queue lets it.
func submit(ctx context.Context, l *run, p thread.Prompt, o order) (thread.Prompt, error) {
	t := l.live.thread()
	if err := accepts(l, t); err != nil {
		return thread.Prompt{}, err
	}
	p.ID, p.Again = thread.NewPromptID(), o.again
	var failed exec.Execution
	if o.takes != "" {
		var err error
		if failed, err = l.cfg.Runs.Store.Execution(ctx, string(o.takes)); err != nil {
			return thread.Prompt{}, fmt.Errorf("look whose place it takes: %w", err)
		}
		p.By, p.Within = failed.By, string(failed.Within)
	}
	l.environs.bring(l.live.id, o.env)
	x, err := newExecution(ctx, l, t, p)
	if err != nil {
		return thread.Prompt{}, err
	}
	x.ID, x.Name = cmp.Or(o.id, x.ID), o.name
	x.Bundle, x.Replays = o.given.Bundle, exec.ID(o.given.Replays)
	x.Scope = cmp.Or(line(o.given.Scope), x.Scope)
	if o.takes != "" {
		x.TakesPlace(failed)
	}
	if x, err = l.open.add(ctx, x); err != nil {
		return thread.Prompt{}, fmt.Errorf("store the execution: %w", err)
	}
	failpoint.Hit("thread.exec.added")
	l.typist.bind(p.ID)
	if p, err = l.typist.accept(ctx, p); err != nil {
		_, undo := l.cfg.Runs.Store.Supersede(context.WithoutCancel(ctx), x.ID, promptless(l.cfg.now()))
		if undo != nil { // the next start does it
			l.cfg.Log.Warn("take back an execution", "execution", x.Name, "err", undo)
		}
		return p, err
	}
	failpoint.Hit("thread.exec.accepted")
	l.open.put(x)
	return p, nil
}

// promptless returns the end of an execution whose prompt was not stored, as far as is known: it names none.
func promptless(at time.Time) func(*exec.Execution) error {
	return func(x *exec.Execution) error {
		x.Prompt = ""
		return ends(exec.Cancelled, "its prompt could not be stored", at)(x)
	}
}

// newExecution returns a new execution of a thread for a prompt, of the account that would pay if it started now, with the
// model of its tier as that is configured now. If an agent asks, what that works on pays for it too.
func newExecution(ctx context.Context, l *run, t thread.Thread, p thread.Prompt) (exec.Execution, error) {
	chosen, err := l.cfg.Runs.Models.Choose(t.Agent, t.Model, t.Once.Tier)
	if err != nil {
		return exec.Execution{}, err
	}
	x := exec.Execution{
		Tier: chosen.Tier, Model: chosen.Model, Chosen: chosen.Why, Caps: exec.Capped(t.Once, l.cfg.Runs.Caps),
		ID: thread.NewID[exec.ID](), Thread: t.ID, Prompt: p.ID, Agent: t.Agent, Account: account(l),
		Priority: t.Once.Priority, ReadOnly: t.Once.ReadOnly, Deadline: cmp.Or(t.Once.Deadline, l.cfg.Runs.Deadline),
		Lost:    exec.Policy(cmp.Or(t.Once.Lost, string(l.cfg.Runs.Lost))),
		Dispose: disposal(t.Once, l.cfg.Runs.Dispose),
		OnFail:  exec.OnFail(cmp.Or(t.Once.OnFail, string(l.cfg.Runs.OnFail))), Fallback: cmp.Or(t.Once.Fallback, l.cfg.Runs.Fallbacks[t.Agent]),
		Budget: t.Once.Budget, Group: t.Once.Group, By: p.By, Within: exec.ID(p.Within),
		Type: t.Once.Type, Part: t.Once.Paid(), Scope: line(p.Text), Context: int64(l.cfg.Tokens(p.Text)),
	}
	if x.Session, x.Task, err = l.sessions.join(ctx, t.Once); err != nil {
		return exec.Execution{}, err
	}
	if x.By == "" {
		return x, nil
	}
	above, err := aboveOf(ctx, l, p)
	if err != nil {
		return x, fmt.Errorf("look who asks: %w", err)
	}
	x.Depth = above.Depth + 1
	if above.ID == x.Within {
		x.Group = cmp.Or(x.Group, above.Group)
	}
	return x, nil
}

// accepts refuses an execution for a thread that cannot have one.
func accepts(l *run, t thread.Thread) error {
	switch {
	case l.cfg.Runs.Store == nil:
		return thread.Kindf(thread.ErrUnsupported, "this server runs no agents without a terminal")
	case !t.Once.On:
		return thread.Kindf(thread.ErrRefused, "%s runs in a terminal", t.Name)
	case !t.Archived.IsZero():
		return thread.Hint(thread.Kindf(thread.ErrRefused, "%s is archived", t.Name), "restore it first")
	case l.work.closes():
		return errClosed
	}
	agent, err := l.cfg.Agents.Agent(t.Agent)
	if err != nil {
		return err
	}
	if _, can := agent.(thread.Headless); !can {
		return noHeadless(t.Agent)
	}
	return nil
}

// aboveOf returns the execution whose agent asks, or the newest of its thread; the zero one if there is none.
func aboveOf(ctx context.Context, l *run, p thread.Prompt) (exec.Execution, error) {
	if p.Within != "" {
		above, err := l.cfg.Runs.Store.Execution(ctx, p.Within)
		if !errors.Is(err, thread.ErrNotFound) {
			return above, err
		}
	}
	above, err := l.cfg.Runs.Store.Executions(ctx, exec.Query{Thread: p.By, Limit: 1})
	if err != nil || len(above) == 0 {
		return exec.Execution{}, err
	}
	return above[0], nil
}

// settleLeft is the step after the end of a process of a thread that runs without a terminal: no prompt is left that
// nobody works on. What was given is interrupted, what was not becomes executions.
func settleLeft(ctx context.Context, l *run) {
	l.live.mu.Lock()
	over := l.live.execution == nil
	l.live.mu.Unlock()
	if !over {
		return
	}
	l.interruptPrompts(ctx, "the agent ended before it answered", false)
	queuePrompts(ctx, l)
	if len(l.left()) > 0 {
		l.live.later(retryAfter, func() { settleLeft(l.work.ctx, l) })
	}
}

// givenLate has the prompts looked at again if one was given, or was not, while its process ended: the end has gone over them
// before that was known.
func givenLate(l *run) {
	if l.live.thread().Once.On && l.live.running() == nil {
		l.live.enqueue(func() { settleLeft(l.work.ctx, l) })
	}
}

// queuePrompts is the step after a thread's terminal has ended, and at the start of a server: what was sent to the
// terminal and not typed becomes executions. A prompt whose execution has ended, as after a cancellation that a crash cut
// off, ends as that did.
func queuePrompts(ctx context.Context, l *run) {
	if l.live.running() != nil {
		return
	}
	l.typist.outbox.mu.Lock()
	left := l.typist.outbox.Filter(func(p thread.Prompt) bool {
		return p.State == thread.PromptQueued && p.From != thread.FromPrimer && !l.typist.outbox.Bound(p.ID)
	})
	l.typist.outbox.mu.Unlock()
	if len(left) == 0 {
		return
	}
	known, err := l.cfg.Runs.Store.Executions(ctx, exec.Query{Thread: l.live.id, Limit: mostQueried})
	for _, p := range left {
		if err != nil {
			break
		}
		l.typist.bind(p.ID)
		if i := slices.IndexFunc(known, func(x exec.Execution) bool { return x.Prompt == p.ID }); i >= 0 {
			if known[i].State.Final() {
				settlePrompt(ctx, l, p.ID, known[i].State, known[i].Reason)
			}
			continue
		}
		// One that repeats an execution's prompt was stored for its next attempt, which the execution takes if it can.
		repeats := func(x exec.Execution) bool { return p.Again != "" && x.Prompt == p.Again }
		if i := slices.IndexFunc(known, repeats); i >= 0 {
			if known[i].State.Final() {
				settlePrompt(ctx, l, p.ID, exec.Cancelled, "its execution has ended")
			}
			continue
		}
		if err = queuePrompt(ctx, l, p); err != nil {
			l.typist.unbind(p.ID)
		}
	}
	if err != nil {
		l.cfg.Log.Warn("run what was sent to a terminal", "thread", string(l.live.id), "err", err)
	}
	if errors.Is(err, thread.ErrUnreachable) || thread.IsDiskFull(err) {
		l.live.later(retryAfter, func() { queuePrompts(l.work.ctx, l) })
	}
}

// mostQueried is how many executions of a thread are looked at: it has no more prompts than that in its queue.
const mostQueried = maxQueued

// queuePrompt stores an execution for a prompt that is stored.
func queuePrompt(ctx context.Context, l *run, p thread.Prompt) error {
	t := l.live.thread()
	if err := accepts(l, t); err != nil {
		return err
	}
	x, err := newExecution(ctx, l, t, p)
	if err != nil {
		return err
	}
	if x, err = l.open.add(ctx, x); err == nil {
		l.open.put(x)
	}
	return err
}
