package manager

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/plaintext"
)

// recovery is what Open does about the runs before: it takes over what they left, finishes or takes back what was cut
// off, and names what cannot be mended.
type recovery struct {
	*registry
	creation *creation
	forks    *forks
	rewinds  *rewinds
	merges   *merges
}

// loadPrompts puts what is stored of prompts on the desks: those that are not over, and the newest of the others.
func (m *recovery) loadPrompts(ctx context.Context) error {
	const all, recent = 1 << 20, 1000
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
	for _, p := range list {
		if l := m.run(p.Thread); l != nil {
			l.desk.mu.Lock()
			l.desk.Keep(p)
			l.desk.mu.Unlock()
		}
	}
	m.mu.Lock()
	lines := m.all()
	m.mu.Unlock()
	for _, l := range lines {
		l.desk.mu.Lock()
		some := l.desk.Any(func(thread.Prompt) bool { return true })
		left := l.desk.Any(func(p thread.Prompt) bool { return !p.State.Over() && p.State != thread.PromptQueued })
		if some {
			l.note()
		}
		l.desk.mu.Unlock()
		if left {
			l.enqueue(func() { l.reconcile(m.ctx) })
		}
	}
	return nil
}

// moveOldNotes makes prompts of what an older program kept.
func (m *recovery) moveOldNotes(ctx context.Context) error {
	if moved, err := m.cfg.Store.Setting(ctx, oldNotesMoved); err != nil || moved != "" {
		return err
	}
	m.mu.Lock()
	lines := m.all()
	m.mu.Unlock()
	for _, l := range lines {
		if err := l.moveOldNotes(ctx); err != nil {
			return fmt.Errorf("move what %s is still to be told: %w", l.thread().Name, err)
		}
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
		m.notice("", thread.LevelError, "what earlier runs could not store cannot be read: %v", err)
	}
	for id, k := range kept {
		l := m.run(id)
		if l == nil {
			m.putAside(id, k)
			continue
		}
		l.recorder.Recover(ctx, k)
	}
}

// putAside moves the spool of a thread that is not there out of the way, so that it is named once and kept.
func (m *recovery) putAside(id thread.ID, k thread.Spooled) {
	path, err := m.cfg.Spool.PutAside(id)
	switch {
	case err != nil:
		m.notice("", thread.LevelWarn, "%s of thread %s wait to be stored, but there is no such thread: %v",
			plaintext.Count(len(k.Places), "answer"), id, err)
	case path != "":
		m.notice("", thread.LevelWarn, "%s of thread %s could not be stored, as there is no such thread any more: they are kept in %s, in JSON; delete that file when you do not need them",
			plaintext.Count(len(k.Places), "answer"), id, path)
	}
}

// repairExecutions marks the threads of runs that never ended as interrupted. The mark comes first:
// a crash in between finds the run still open and does it again. On a full disk both wait for room.
func (m *recovery) repairExecutions(ctx context.Context) error {
	open, err := m.cfg.Store.OpenExecutions(ctx)
	if err != nil {
		return fmt.Errorf("read the runs: %w", err)
	}
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

// lostRun stores that a process ended without us.
func (m *recovery) lostRun(ctx context.Context, x thread.Execution) error {
	t, err := m.cfg.Store.UpdateThread(ctx, x.Thread, func(t *thread.Thread) error {
		t.Interrupted = true
		if t.Session == "" {
			t.Session = x.Session
		}
		return nil
	})
	switch {
	case err == nil:
		m.mu.Lock()
		if l := m.byID[x.Thread]; l != nil {
			l.t = t
		}
		m.mu.Unlock()
	case !errors.Is(err, thread.ErrNotFound):
		return fmt.Errorf("mark %s as interrupted: %w", x.Thread, err)
	}
	return m.endLost(ctx, x)
}

func (m *recovery) endLost(ctx context.Context, x thread.Execution) error {
	if err := m.cfg.Store.EndExecution(ctx, x.ID, m.now(), thread.Exit{Code: -1, Reason: "lost"}); err != nil {
		return fmt.Errorf("end the run of %s: %w", x.Thread, err)
	}
	return nil
}

// showLost has a thread shown as interrupted that cannot be stored so; false when there is none.
func (m *recovery) showLost(x thread.Execution) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	l := m.byID[x.Thread]
	if l == nil {
		return false
	}
	l.t.Interrupted, l.t.Session = true, cmp.Or(l.t.Session, x.Session)
	return true
}

// lostLater stores the ends of runs once there is room on the disk. A thread that was started again meanwhile is
// not interrupted.
func (m *recovery) lostLater(runs []thread.Execution) {
	x := runs[0]
	l := m.run(x.Thread)
	if l == nil { // purged meanwhile
		if len(runs) > 1 {
			m.lostLater(runs[1:])
		}
		return
	}
	l.later(lostAgain, func() {
		store := m.lostRun
		if l.running() != nil {
			store = m.endLost
		}
		if err := store(m.ctx, x); err == nil {
			runs = runs[1:]
		} else if !errors.Is(err, thread.ErrDiskFull) {
			m.cfg.Log.Error("store the end of a run", "thread", string(x.Thread), "err", err)
			runs = runs[1:] // it is named at the next start
		}
		if len(runs) > 0 {
			m.lostLater(runs)
		}
	})
}

// checkInterrupted finds out in the background what can be resumed of the interrupted threads.
func (m *recovery) checkInterrupted() {
	m.mu.Lock()
	var lines []*run
	for _, l := range m.all() {
		if l.t.Interrupted && l.t.Deleted.IsZero() {
			lines = append(lines, l)
		}
	}
	m.mu.Unlock()
	for _, l := range lines {
		l.enqueue(func() { l.prove(m.ctx) })
	}
}

// nameUnfinished ends what is left of setups that the end of an earlier server cut off, and names their threads.
func (m *recovery) nameUnfinished() {
	if m.cfg.Furnisher == nil {
		return
	}
	m.mu.Lock()
	lines := m.all()
	m.mu.Unlock()
	for _, l := range lines {
		s := l.current()
		if s.Setup.State != thread.SetupUnfinished || !s.Deleted.IsZero() || !s.Archived.IsZero() {
			continue
		}
		ended := ""
		if n := m.cfg.Furnisher.End(s.Thread); n > 0 {
			ended = fmt.Sprintf("; %d of its processes were still running and have been ended", n)
		}
		m.notice(l.id, thread.LevelWarn, "%s: %s%s", s.DisplayName(), s.SetupProblem(), ended)
	}
}

// repairIntents finishes or takes back what a crash cut, and says so. What cannot be repaired stays
// written down for the next start and never keeps the server from starting.
func (m *recovery) repairIntents(ctx context.Context) error {
	if m.cfg.Worktrees != nil {
		said, err := m.cfg.Worktrees.Repair(ctx)
		for _, s := range said {
			m.notice("", thread.LevelWarn, "repaired after a crash: %s", s)
		}
		if err != nil {
			m.notice("", thread.LevelError, "repair of the worktrees: %v", err)
		}
		m.mendSnapshots(ctx)
	}
	m.follow(ctx)
	intents, err := m.cfg.Store.Intents(ctx)
	if err != nil {
		return fmt.Errorf("read what was under way: %w", err)
	}
	for _, i := range intents {
		keep, err := m.repair(ctx, i)
		if err != nil {
			m.notice(i.Thread, thread.LevelError, "repair of a %s that was cut off: %v; it is tried again at the next start", i.Kind, err)
		}
		if err != nil || keep {
			continue
		}
		if err := m.settled(ctx, i); err != nil {
			return err
		}
	}
	return nil
}

// repair finishes or takes back one operation; keep is set for one that waits for a person.
func (m *recovery) repair(ctx context.Context, i thread.Intent) (keep bool, err error) {
	switch i.Kind {
	case intentFork:
		return false, m.forks.repairFork(ctx, i)
	case intentRewind:
		return false, m.rewinds.repairRewind(ctx, i)
	case intentMerge:
		return m.merges.repairMerge(ctx, i)
	case intentFinish:
		m.notice(i.Thread, thread.LevelWarn, "finishing a thread was cut off; nothing is lost, finish it again")
		return false, nil
	case intentDelete:
		return false, nil // the thread is still deleted, and can be discarded again
	default:
		return true, nil // another package's
	}
}

// follow points threads at where their folders are now: a worktree that was moved is where it was found again, and
// what lay in the project's earlier folder lies in the one of today, also where something else took its old place.
func (m *recovery) follow(ctx context.Context) {
	m.mu.Lock()
	lines := m.all()
	m.mu.Unlock()
	for _, l := range lines {
		if t := l.thread(); !t.Archived.IsZero() || !t.Deleted.IsZero() {
			continue // when it is resumed
		}
		if err := l.follow(ctx); err != nil {
			m.notice(l.id, thread.LevelError, "%s: %v", l.thread().DisplayName(), err)
		}
	}
}

// mendSnapshots makes the snapshots of threads reachable again whose refs are damaged. Refs of threads that the store
// does not know are left alone: they may be another project's of which this one is a copy.
func (m *recovery) mendSnapshots(ctx context.Context) {
	mender, ok := m.cfg.Worktrees.(thread.SnapshotMender)
	if !ok {
		return
	}
	ids, err := mender.Damaged(ctx)
	if err != nil {
		m.cfg.Log.Warn("look for damaged snapshots", "err", err)
	}
	for _, id := range ids {
		l := m.run(id)
		if l == nil {
			continue
		}
		said, err := mend(ctx, m.cfg.Store, mender, id)
		if err != nil {
			m.notice(id, thread.LevelError, "%s: its damaged snapshots: %v", l.thread().DisplayName(), err)
			continue
		}
		m.notice(id, thread.LevelWarn, "%s: %s", l.thread().DisplayName(), said)
	}
}

// checkKept looks whether the refs that keep the threads' snapshots are there, and makes those again that are not: a
// ref that was deleted shows nowhere else, and git drops in time what no ref keeps. Close ends it; the next start looks
// at all of them again.
func (m *recovery) checkKept() {
	mender, ok := m.cfg.Worktrees.(thread.SnapshotMender)
	if !ok || !m.begin() {
		return
	}
	go func() {
		defer m.done()
		ctx, cancel := m.untilClosing()
		defer cancel()
		begin := time.NewTimer(checkAfter)
		defer begin.Stop()
		select {
		case <-begin.C:
		case <-ctx.Done():
			return
		}
		if err := m.keepAll(ctx, mender); err != nil && ctx.Err() == nil {
			m.notice("", thread.LevelError, "it is not known whether all snapshots are kept: %v", err)
		}
	}()
}

func (m *recovery) keepAll(ctx context.Context, mender thread.SnapshotMender) error {
	kept, err := mender.Kept(ctx)
	if err != nil {
		return err
	}
	m.mu.Lock()
	lines := m.all()
	m.mu.Unlock()
	for _, l := range lines {
		commits, err := commitsOf(ctx, m.cfg.Store, l.id)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(commits, func(c string) bool { return !kept[l.id][c] }) {
			continue
		}
		said, err := mender.Mend(ctx, l.id, commits)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			m.notice(l.id, thread.LevelError, "%s: its snapshots, which no ref keeps: %v", l.thread().DisplayName(), err)
			continue
		}
		m.notice(l.id, thread.LevelWarn, "%s: refs of its snapshots were missing: %s", l.thread().DisplayName(), said)
	}
	return nil
}

// mend gives one thread's snapshots their refs again, from its checkpoints.
func mend(ctx context.Context, store thread.Store, mender thread.SnapshotMender, id thread.ID) (string, error) {
	commits, err := commitsOf(ctx, store, id)
	if err != nil {
		return "", err
	}
	return mender.Mend(ctx, id, commits)
}

// commitsOf returns those of a thread's own snapshots: the ones that it began from are kept by others, or not any more.
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

// lostAgain is how often storing the ends of runs is tried on a full disk.
const lostAgain = 2 * time.Second

// checkAfter is how long after a start the check of what refs keep begins: it reads every checkpoint, and the first
// answers of a server should not wait for that.
const checkAfter = 2 * time.Second
