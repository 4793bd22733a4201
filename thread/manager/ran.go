package manager

import (
	"context"
	"path/filepath"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/manager/ledger"
	exec "orchestrator/thread/work"
)

// newLedger returns what records processes in terminals and sub-agents; nil if the store of executions keeps no others than
// runs.
func newLedger(cfg *Config, w *work) *ledger.Ledger {
	store, can := cfg.Runs.Store.(ledger.Store)
	if !can {
		return nil
	}
	return ledger.New(ledger.Config{
		Store: store, Log: cfg.Log, Now: cfg.now, Context: w.ctx, Closing: w.closing, Begin: w.begin, Done: w.done,
		File: filepath.Join(cfg.StateDir, "ledger", "waiting.json"),
		Host: cfg.Runs.Host, User: cfg.Runs.User, Server: cfg.Runs.Server,
		Ended: func(x exec.Execution) {
			if x.Kind == exec.KindTerminal && cfg.Runs.Ended != nil {
				cfg.Runs.Ended(x)
			}
		},
	})
}

// keepsBase is the step after the start of a process in a terminal that keeps the files as they are: what becomes of them is
// compared with that.
func keepsBase(ctx context.Context, l *run, id thread.ExecutionID) {
	if l.cfg.ledger == nil || l.live.is(func(t *thread.Thread) bool { return t.Once.On }) {
		return
	}
	l.cfg.ledger.Files(id, l.live.id, filesNow(ctx, l), "")
}

// recordEnd is the step that records the end of a process. While the server stops, what the newest turn has left stands for
// its files.
func recordEnd(ctx context.Context, l *run, id thread.ExecutionID, exit thread.Exit, asked bool) {
	if t := l.live.thread(); l.cfg.ledger != nil && !t.Once.On {
		result := ""
		if !l.work.closes() {
			result = filesNow(ctx, l)
		} else if s, err := l.past.SnapshotAt(ctx, t.Head); err == nil && s != nil {
			result = s.Commit
		}
		l.cfg.ledger.Files(id, l.live.id, "", result)
	}
	l.cfg.ledger.End(id, l.live.id, exit, asked)
}

// belongsWait is how long the start of a process waits at most to know whether its thread's work session is still open.
const belongsWait = time.Second

// belongs returns the work session and task of a process in a terminal that is about to start: none if that is over. If it
// cannot be known now, it is that of the thread.
func belongs(ctx context.Context, l *run, o thread.Once) (session, task string) {
	ctx, cancel := context.WithTimeout(ctx, belongsWait)
	defer cancel()
	session, task, err := l.sessions.join(ctx, o)
	if err != nil {
		return o.Session, o.Task
	}
	return session, task
}

// recordProcess records a process that is about to start with a prompt, for an attempt or, if that is nil, in a terminal.
func recordProcess(ctx context.Context, l *run, x thread.Execution, agent thread.Agent, prompt string, a *attempt) {
	t := l.live.thread()
	p := ledger.Process{
		ID: x.ID, Thread: t, Model: modelOf(l, t), Version: t.Base.Version, Prompt: prompt, Started: x.Started,
		Type: t.Once.Type, Before: l.live.used(), Calls: callsOf(l.cfg, agent),
	}
	if a != nil {
		p.Run = a.execution()
	} else {
		p.Session, p.Task = belongs(ctx, l, t.Once)
	}
	l.cfg.ledger.Begin(p)
}

// callsOf returns what reads the calls of an agent's answers, nil if they tell nothing of sub-agents.
func callsOf(cfg *Config, agent thread.Agent) func(thread.Item) ledger.Calls {
	d, can := agent.(thread.Delegator)
	if !can || cfg.Reader == nil {
		return nil
	}
	return func(answer thread.Item) (c ledger.Calls) {
		for _, e := range cfg.Reader.Entries([]thread.Item{answer}) {
			if e.Kind != thread.EntryCall {
				continue
			}
			if handed, ok := d.Delegates(e.Tool, e.Text); ok {
				c.Handed = append(c.Handed, handed)
			}
			if said, ok := d.Concludes(e.Tool, e.Text); ok {
				c.Ends, c.Said = true, said
			}
		}
		return c
	}
}
