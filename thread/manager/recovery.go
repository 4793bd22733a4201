package manager

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/manager/ledger"
	"orchestrator/thread/plaintext"
	exec "orchestrator/thread/work"
)

// recovery is what Open does about earlier runs: it takes over what they left, completes or rolls back interrupted
// operations, and reports what cannot be repaired.
type recovery struct {
	cfg      *Config
	work     *work
	notices  *notices
	intents  *intents
	registry *registry
	creation *Creation
	forks    *Forks
	rewinds  *Rewinds
	merges   *Merges

	leftOpen []ledger.Left // processes in terminals that earlier servers left open

	loads atomic.Bool // the prompts of the live threads are being loaded, or were
}

// loadPrompts loads the stored prompts into the outboxes: those that have not ended, and the newest of the others.
func (m *recovery) loadPrompts(ctx context.Context) error {
	const all, recent = 1 << 20, 1000
	m.loads.Store(true)
	open, err := m.cfg.Store.Prompts(ctx, "", true, all)
	if err != nil {
		return fmt.Errorf("read the prompts: %w", err)
	}
	past, err := m.cfg.Store.Prompts(ctx, "", false, recent)
	if err != nil {
		return fmt.Errorf("read the prompts: %w", err)
	}
	list := slices.Concat(open, slices.DeleteFunc(past, func(p thread.Prompt) bool { return !p.State.Over() }))
	slices.SortFunc(list, func(a, b thread.Prompt) int { return int(a.Seq - b.Seq) })
	of := map[thread.ID][]thread.Prompt{}
	for _, p := range list {
		of[p.Thread] = append(of[p.Thread], p)
	}
	for _, l := range m.registry.all() {
		m.keepPrompts(l, of[l.live.id])
	}
	return nil
}

// keepPrompts gives a thread its stored prompts, and finds out what became of those that its agent was given.
func (m *recovery) keepPrompts(l *run, list []thread.Prompt) {
	left := l.typist.take(list)
	if len(list) > 0 {
		l.live.showNow()
	}
	if left {
		l.live.enqueue(func() { l.reconcile(m.work.ctx) })
	}
}

// wakes reads for a thread that becomes live later what the start reads for the others. What it returns does for it what
// the start does.
func (m *recovery) wakes(l *run) (then func(), err error) {
	const recent = 100
	if !m.loads.Load() {
		return func() {}, nil
	}
	list, err := m.cfg.Store.Prompts(m.work.ctx, l.live.id, true, 1<<20)
	if err != nil {
		return nil, fmt.Errorf("read the prompts of thread %s: %w", l.live.id, err)
	}
	past, err := m.cfg.Store.Prompts(m.work.ctx, l.live.id, false, recent)
	if err != nil {
		return nil, fmt.Errorf("read the prompts of thread %s: %w", l.live.id, err)
	}
	list = append(list, slices.DeleteFunc(past, func(p thread.Prompt) bool { return !p.State.Over() })...)
	slices.SortFunc(list, func(a, b thread.Prompt) int { return cmp.Compare(a.Seq, b.Seq) })
	left := l.typist.take(list)
	if m.cfg.Runs.Store != nil && l.live.thread().Once.On {
		newest, err := m.cfg.Runs.Store.Executions(m.work.ctx, exec.Query{Thread: l.live.id, Limit: 1})
		if err != nil {
			return nil, fmt.Errorf("read the newest run of thread %s: %w", l.live.id, err)
		}
		for _, x := range newest {
			if x.State.Final() {
				l.open.past(l.live, x)
			}
		}
	}
	return func() {
		if left {
			l.live.enqueue(func() { l.reconcile(m.work.ctx) })
		}
		if t := l.live.thread(); t.Interrupted && t.Deleted.IsZero() {
			l.live.enqueue(func() { l.prove(m.work.ctx) })
		}
	}, nil
}

// moveOldNotes turns the notes that an older version kept into prompts.
func (m *recovery) moveOldNotes(ctx context.Context) error {
	if moved, err := m.cfg.Store.Setting(ctx, oldNotesMoved); err != nil || moved != "" {
		return err
	}
	err := thread.EachThread(ctx, m.cfg.Store, thread.Query{}, func(t thread.Thread) error {
		if raw, err := m.cfg.Store.Setting(ctx, oldNotesKey(t.ID)); err != nil || raw == "" {
			return err
		}
		if l := m.registry.run(t.ID); l != nil {
			if err := l.typist.moveOldNotes(ctx); err != nil {
				return fmt.Errorf("migrate the notes to %s: %w", t.Name, err)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return m.cfg.Store.SetSetting(ctx, oldNotesMoved, "yes")
}

// recoverSpool stores what an earlier server could not.
func (m *recovery) recoverSpool(ctx context.Context) {
	if m.cfg.Spool == nil {
		return
	}
	kept, err := m.cfg.Spool.Kept()
	if err != nil {
		m.notices.post("", thread.LevelError, "cannot read what earlier runs could not store: %v", err)
	}
	for id, k := range kept {
		l, err := m.registry.certain(ctx, id)
		if err != nil {
			m.notices.post("", thread.LevelError, "answers that earlier runs could not store are stored at the next start: %v", err)
			continue
		}
		if l == nil {
			m.setAside(id, k)
			continue
		}
		l.recorder.Recover(ctx, k)
	}
}

// setAside moves the spool of a missing thread out of the way, so that it is reported once and kept.
func (m *recovery) setAside(id thread.ID, k thread.Spooled) {
	path, err := m.cfg.Spool.SetAside(id)
	switch {
	case err != nil:
		m.notices.post("", thread.LevelWarn, "%s of thread %s cannot be stored, because the thread does not exist: %v",
			plaintext.Count(len(k.Places), "answer"), id, err)
	case path != "":
		m.notices.post("", thread.LevelWarn, "%s of thread %s could not be stored, because the thread no longer exists: "+
			"they are kept as JSON in %s; delete that file when you no longer need it",
			plaintext.Count(len(k.Places), "answer"), id, path)
	}
}

// repairExecutions marks the threads of runs that never ended as interrupted. The thread is marked first: after a crash
// in between the run is still open and is handled again. On a full disk both are stored later.
func (m *recovery) repairExecutions(ctx context.Context) error {
	open, err := m.cfg.Store.OpenExecutions(ctx)
	if err != nil {
		return fmt.Errorf("read the runs: %w", err)
	}
	m.leftOpen = m.terminals(ctx, open)
	var later []thread.Execution
	for _, x := range open {
		err := m.lostRun(ctx, x)
		if errors.Is(err, thread.ErrDiskFull) && m.showLost(x) {
			later = append(later, x)
			continue
		}
		if err != nil {
			return err
		}
	}
	if len(later) > 0 {
		m.lostLater(later)
	}
	return nil
}

// terminals returns those of the processes that ran in terminals, with what their threads have used.
func (m *recovery) terminals(ctx context.Context, open []thread.Execution) (left []ledger.Left) {
	for _, x := range open {
		if run, err := m.ofRun(ctx, x); err != nil || run {
			continue // what can be told of it stands in the record, if anything does
		}
		if l := m.registry.run(x.Thread); l != nil {
			left = append(left, ledger.Left{Execution: x, Thread: l.live.thread(), Used: l.live.used()})
		}
	}
	return left
}

// lostRun stores that a process ended while no server was running.
func (m *recovery) lostRun(ctx context.Context, x thread.Execution) error {
	run, err := m.ofRun(ctx, x)
	if err != nil {
		return err
	}
	t, err := m.cfg.Store.UpdateThread(ctx, x.Thread, func(t *thread.Thread) error {
		t.Interrupted = !run
		if t.Session == "" {
			t.Session = x.Session
		}
		return nil
	})
	switch {
	case err == nil:
		if l := m.registry.run(x.Thread); l != nil {
			l.live.mu.Lock()
			l.live.t = t
			l.live.mu.Unlock()
		}
	case !errors.Is(err, thread.ErrNotFound):
		return fmt.Errorf("mark %s as interrupted: %w", x.Thread, err)
	}
	return m.endLost(ctx, x)
}

// ofRun reports whether a process was one without a terminal: what becomes of it says its execution.
func (m *recovery) ofRun(ctx context.Context, x thread.Execution) (bool, error) {
	if m.cfg.Runs.Store == nil {
		return false, nil
	}
	newest, err := m.cfg.Runs.Store.Executions(ctx, exec.Query{Thread: x.Thread})
	if err != nil {
		return false, fmt.Errorf("read the executions of %s: %w", x.Thread, err)
	}
	return slices.ContainsFunc(newest, func(o exec.Execution) bool { return o.State.Holds() || o.Process == x.ID }), nil
}

func (m *recovery) endLost(ctx context.Context, x thread.Execution) error {
	if err := m.cfg.Store.EndExecution(ctx, x.ID, m.cfg.now(), thread.Exit{Code: -1, Reason: "lost"}); err != nil {
		return fmt.Errorf("end the run of %s: %w", x.Thread, err)
	}
	return nil
}

// showLost shows a thread as interrupted if that cannot be stored; false if there is none.
func (m *recovery) showLost(x thread.Execution) bool {
	l := m.registry.run(x.Thread)
	if l == nil {
		return false
	}
	l.live.mu.Lock()
	defer l.live.mu.Unlock()
	l.live.t.Interrupted, l.live.t.Session = true, cmp.Or(l.live.t.Session, x.Session)
	return true
}

// lostLater stores the ends of runs once there is room on the disk. A thread that was started again in the meantime is
// not interrupted.
func (m *recovery) lostLater(runs []thread.Execution) {
	x := runs[0]
	l := m.registry.run(x.Thread)
	if l == nil { // purged in the meantime
		if len(runs) > 1 {
			m.lostLater(runs[1:])
		}
		return
	}
	l.live.later(lostAgain, func() {
		store := m.lostRun
		if l.live.running() != nil {
			store = m.endLost
		}
		if err := store(m.work.ctx, x); err == nil {
			runs = runs[1:]
		} else if !errors.Is(err, thread.ErrDiskFull) {
			m.cfg.Log.Error("store the end of a run", "thread", string(x.Thread), "err", err)
			runs = runs[1:] // the next start handles it
		}
		if len(runs) > 0 {
			m.lostLater(runs)
		}
	})
}

// checkInterrupted finds out in the background how the interrupted threads can be resumed.
func (m *recovery) checkInterrupted() {
	for _, l := range m.registry.all() {
		if t := l.live.thread(); t.Interrupted && t.Deleted.IsZero() {
			l.live.enqueue(func() { l.prove(m.work.ctx) })
		}
	}
}

// nameUnfinished kills the processes of setups that an earlier server left unfinished, and reports their threads.
func (m *recovery) nameUnfinished() {
	if m.cfg.Setup == nil {
		return
	}
	lines := m.registry.all()
	for _, l := range lines {
		s := l.live.current()
		if s.Setup.State != thread.SetupUnfinished || !s.Deleted.IsZero() || !s.Archived.IsZero() {
			continue
		}
		ended := ""
		if n := m.cfg.Setup.StopSetup(s.Thread); n > 0 {
			ended = fmt.Sprintf("; %d of its processes were still running and were killed", n)
		}
		m.notices.post(l.live.id, thread.LevelWarn, "%s: %s%s", s.DisplayName(), s.SetupProblem(), ended)
	}
}

// checkKept checks whether the refs that keep the threads' snapshots exist, and recreates missing ones: a deleted ref
// is noticed nowhere else, and git eventually removes unreferenced objects. Those of threads at rest are checked once a day. Close stops it; the next start checks all
// of them again.
func (m *recovery) checkKept() {
	repairer, ok := m.cfg.Worktrees.(thread.RefRepairer)
	if !ok || !m.work.begin() {
		return
	}
	go func() {
		defer m.work.done()
		ctx := m.work.closing
		begin := time.NewTimer(checkAfter)
		defer begin.Stop()
		select {
		case <-begin.C:
		case <-ctx.Done():
			return
		}
		if err := m.keepAll(ctx, repairer); err != nil && ctx.Err() == nil {
			m.notices.post("", thread.LevelError, "cannot check whether all snapshots are kept: %v", err)
		}
	}()
}

func (m *recovery) keepAll(ctx context.Context, repairer thread.RefRepairer) error {
	some, _, err := m.cfg.Store.SelectThreads(ctx, thread.Query{Limit: 1})
	if err != nil || len(some) == 0 {
		return err
	}
	kept, err := repairer.Kept(ctx)
	if err != nil {
		return err
	}
	each := func(use thread.Use) error {
		return thread.EachThread(ctx, m.cfg.Store, thread.Query{Use: use}, func(t thread.Thread) error {
			if t.ID.Check() != nil {
				return nil
			}
			return m.keep(ctx, repairer, t, kept[t.ID])
		})
	}
	if err := each(thread.InUse); err != nil {
		return err
	}
	text, err := m.cfg.Store.Setting(ctx, restChecked)
	if err != nil {
		return err
	}
	was, _ := time.Parse(time.RFC3339, text) // otherwise it is long ago
	if age := m.cfg.now().Sub(was); age >= 0 && age < restEach {
		return nil
	}
	if err := each(thread.AtRest); err != nil {
		return err
	}
	return m.cfg.Store.SetSetting(ctx, restChecked, m.cfg.now().UTC().Format(time.RFC3339))
}

// restChecked is the setting that says when the snapshots of the threads at rest were checked last, restEach how often
// they are: there may be very many, and nothing happens to them.
const (
	restChecked = "refs-checked"
	restEach    = 24 * time.Hour
)

// keep recreates the refs of a thread's snapshots that are missing.
func (m *recovery) keep(ctx context.Context, repairer thread.RefRepairer, t thread.Thread, kept map[string]bool) error {
	commits, err := commitsOf(ctx, m.cfg.Store, t.ID)
	if errors.Is(err, thread.ErrDamaged) {
		m.notices.post(t.ID, thread.LevelError, "%s: its checkpoints cannot be read: %v", t.DisplayName(), err)
		return nil
	}
	if err != nil {
		return err
	}
	if _, err := m.cfg.Store.Checkpoint(ctx, t.Head); errors.Is(err, thread.ErrDamaged) {
		if l := m.registry.run(t.ID); l != nil {
			l.live.enqueue(func() { l.mend(m.work.ctx) })
		}
	}
	if !slices.ContainsFunc(commits, func(c string) bool { return !kept[c] }) {
		return nil
	}
	said, err := repairer.RepairRefs(ctx, t.ID, commits)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		m.notices.post(t.ID, thread.LevelError, "%s: recreate the refs of its snapshots: %v", t.DisplayName(), err)
		return nil
	}
	m.notices.post(t.ID, thread.LevelWarn, "%s: refs of its snapshots were missing: %s", t.DisplayName(), said)
	return nil
}

// repairRefs recreates the refs of one thread's snapshots, from its checkpoints.
func repairRefs(ctx context.Context, store thread.Store, repairer thread.RefRepairer, id thread.ID) (string, error) {
	commits, err := commitsOf(ctx, store, id)
	if err != nil {
		return "", err
	}
	return repairer.RepairRefs(ctx, id, commits)
}

// commitsOf returns the commits of a thread's own snapshots: those that it began from belong to others, or are gone.
func commitsOf(ctx context.Context, store thread.Store, id thread.ID) (commits []string, err error) {
	for before := int64(0); ; {
		list, err := store.Checkpoints(ctx, id, thread.Page{Limit: 500, Before: before})
		if err != nil || len(list) == 0 {
			return commits, err
		}
		for _, c := range list {
			if c.Snapshot != nil && c.Thread == id {
				commits = append(commits, c.Snapshot.Commit)
			}
			before = c.Seq
		}
	}
}

// lostAgain is how often storing the ends of runs is retried on a full disk.
const lostAgain = 2 * time.Second

// checkAfter is the delay from a start to the check of the refs: it reads every checkpoint, and the first answers of a
// server should not wait for that.
const checkAfter = 2 * time.Second
