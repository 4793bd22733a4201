package manager

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"

	"orchestrator/thread"
	"orchestrator/thread/manager/past"
	"orchestrator/thread/plaintext"
	"orchestrator/thread/secret"
	exec "orchestrator/thread/work"
)

// Forks has the use cases that fork threads.
type Forks struct {
	cfg      *Config
	past     past.Reader
	notices  *notices
	registry *registry
	agents   *Agents
	creation *Creation
	// prompted is called with the first prompt of a fork that the person asks for.
	prompted func(l *liveThread, text string)
}

// Fork creates a thread at a point of another, with the files as they were there, and starts its agent. The parent is
// not touched. The agent's native conversation is written at the first start.
func (m *Forks) Fork(ctx context.Context, r thread.ForkRequest) (thread.Status, error) {
	parent, err := m.registry.find(r.Thread)
	if err != nil {
		return thread.Status{}, err
	}
	if _, err := m.past.Point(ctx, parent.live.thread(), r.At); errors.Is(err, thread.ErrDamaged) {
		if err := parent.live.do(ctx, func(ctx context.Context) error { parent.mend(ctx); return nil }); err != nil {
			return thread.Status{}, fmt.Errorf("fork %s: %w", parent.live.thread().Name, err)
		}
	}
	p := parent.live.thread()
	if r.Takes == "" { // what takes a place is where that was
		above, _ := m.registry.open.holding(r.By)
		if err := m.creation.sessions.enter(ctx, above, r.By, &r.Once); err != nil {
			return thread.Status{}, fmt.Errorf("fork %s: %w", p.Name, err)
		}
	}
	t, at, err := m.forkOf(ctx, parent, r)
	if err != nil {
		return thread.Status{}, fmt.Errorf("fork %s: %w", p.Name, err)
	}
	if !r.NoStart {
		if err := m.agents.ready(ctx, t); err != nil {
			return thread.Status{}, fmt.Errorf("fork %s: %w", p.Name, err)
		}
	}
	name := cmp.Or(secret.Redact(r.Name), cmp.Or(secret.Redact(r.Label), cmp.Or(titleOf(cmp.Or(r.Given.Scope, r.Prompt)), slugOf(p.Name))))
	if err := m.creation.budgets.begin(ctx, t, r.Once.Budget, r.By); err != nil {
		return thread.Status{}, fmt.Errorf("fork %s: %w", p.Name, err)
	}
	var l *run
	var skips []thread.Skip
	if r.NoWorktree || m.cfg.Worktrees == nil {
		l, err = m.creation.create(ctx, t, name, false)
	} else {
		l, skips, err = m.forkWithWorktree(ctx, t, name, p, at)
	}
	if err != nil {
		m.creation.budgets.Forget(t.ID)
		return thread.Status{}, fmt.Errorf("fork %s: %w", p.Name, err)
	}
	var left []thread.LeftOut
	if made := l.live.thread().Worktree.Path; made != "" {
		left = m.notices.leftOut(ctx, thread.OpFork, l.live.id, made, m.cfg.rootOf(p))
		left = append(left, m.notices.skipped(thread.OpFork, l.live.id, made, skips, left)...)
	}
	if r.NoStart {
		s := l.live.current()
		s.LeftOut = left
		return s, nil
	}
	if t.Once.On {
		s, err := m.creation.submitNew(ctx, l, r.By, thread.Prompt{From: thread.FromFirst, Text: r.Prompt, Lines: r.Lines}, order{
			name: r.Execution, given: r.Given, id: exec.ID(r.ID), takes: exec.ID(r.Takes), env: thread.Environ(ctx),
		})
		s.LeftOut = left
		return s, err
	}
	if r.Prompt != "" && !r.Started {
		m.prompted(l.live, r.Prompt)
	}
	s, err := m.creation.startNew(ctx, l, launchRequest{
		cols: r.Cols, rows: r.Rows, prompt: r.Prompt, lines: r.Lines, handOver: r.HandOver, env: thread.Environ(ctx),
	})
	s.LeftOut = left
	return s, err
}

// forkOf prepares a fork and finds the checkpoint it begins at; the zero one if nothing was said yet.
func (m *Forks) forkOf(
	ctx context.Context, parent *run, r thread.ForkRequest,
) (thread.Thread, thread.Checkpoint, error) {
	p := parent.live.thread()
	if limit := m.cfg.Limits.Depth; limit > 0 && m.registry.index.depth(p.ID) > limit {
		return thread.Thread{}, thread.Checkpoint{}, thread.Hint(
			fmt.Errorf("%s nested: %w", plaintext.Count(limit, "fork"), thread.ErrLimit),
			"fork an earlier thread or raise limits.depth")
	}
	agent := cmp.Or(r.Agent, p.Agent)
	if _, err := m.cfg.Agents.Agent(agent); err != nil {
		return thread.Thread{}, thread.Checkpoint{}, err
	}
	var at thread.Checkpoint // turn 0 is before the first prompt
	if n, err := strconv.Atoi(r.At); err != nil || n != 0 {
		if at, err = m.past.Point(ctx, p, r.At); err != nil {
			return thread.Thread{}, thread.Checkpoint{}, err
		}
	}
	now := m.cfg.now()
	t := thread.Thread{
		ID: thread.NewID[thread.ID](), Title: thread.Titled(secret.Redact(cmp.Or(r.Name, r.Label))),
		Label:  plaintext.Cut(cmp.Or(secret.Redact(r.Label), titleOf(cmp.Or(r.Given.Scope, r.Prompt))), 200),
		Parent: p.ID, ForkPoint: at.ID, Head: at.ID, Turn: at.Turn, Agent: agent, Launch: p.Launch,
		Dir: home(p), Created: now, Updated: now, Seen: true, Gauge: at.Gauge,
		MCP: p.MCP.Clone(),
	}
	if at.ID != p.Head {
		t.MCP = p.MCP.At(at.MCP, fmt.Sprintf("on in %s at turn %d", p.DisplayName(), at.Turn))
	}
	t.MCP.Taken = false                      // another program may take none
	t.Gauge.CostUSD, t.Gauge.SavedUSD = 0, 0 // its own cost starts here
	if agent == p.Agent {
		if t.Model = p.Model; r.Once.Tier != "" { // it is named for this one
			t.Model = ""
		}
	} else {
		t.Gauge = thread.Gauge{}
		t.Launch = thread.Flags{Env: p.Launch.Env, NoGateway: p.Launch.NoGateway} // arguments are the other agent's own words
	}
	if len(r.Program) > 0 {
		t.Launch.Program = r.Program
	}
	if len(r.Args) > 0 {
		t.Launch.Args = r.Args
	}
	if err := checkOnce(m.cfg, agent, t.Model, r.Once, r.Prompt, r.Execution); err != nil {
		return thread.Thread{}, thread.Checkpoint{}, err
	}
	t.Once, t.Grants = r.Once, below(m.registry, r.By, r.Once)
	t.Once.From = ""
	var err error
	if t.Model, err = chosenModel(m.cfg, agent, t.Model, r.Once); err != nil {
		return thread.Thread{}, thread.Checkpoint{}, err
	}
	if !t.Once.On {
		t.Once.Budget = thread.Budget{} // the thread's
	}
	fresh := agent == p.Agent && (r.Fresh || at.ID != "" && !at.Whole())
	err = m.creation.checkLaunch(t)
	if err == nil {
		err = thread.CheckBaseLevers(r.Keep)
	}
	if err == nil {
		t.Base, err = m.cfg.planBase(thread.BaseWish{
			Agent: agent, Profile: r.Base, Keep: r.Keep, Started: r.Started, From: m.cfg.baseAt(p, at), Same: agent == p.Agent,
			Empty: at.ID == "" || agent != p.Agent || fresh,
		})
	}
	if err == nil {
		err = m.cfg.consented(agent, thread.Prompt{From: thread.FromFirst, Text: r.Prompt, Lines: r.Lines})
	}
	if err != nil {
		return thread.Thread{}, thread.Checkpoint{}, err
	}
	if at.ID != "" {
		h := m.cfg.handoff(t, p, at, t.Label)
		h.Fresh = fresh
		t.Handoff = &h
		if h.Fresh {
			t.Gauge = thread.Gauge{}
		}
	}
	if at.ID != "" && !at.Whole() {
		m.notices.post(p.ID, thread.LevelInfo, "turn %d had not ended at that point, "+
			"so the agent's session cannot be forked there: the fork's agent gets a summary of the conversation instead",
			at.Turn)
	}
	return t, at, nil
}

// forkWithWorktree creates the fork with a worktree at the files of its fork point. Without a repository the fork
// shares its parent's folder, with a notice. It returns the files that its snapshot does not have.
func (m *Forks) forkWithWorktree(
	ctx context.Context, t thread.Thread, name string, p thread.Thread, at thread.Checkpoint,
) (*run, []thread.Skip, error) {
	snap, err := m.past.SnapshotAt(ctx, at.ID)
	if err != nil {
		return nil, nil, err
	}
	if at.ID != "" && at.Snapshot == nil && snap != nil {
		m.notices.post(p.ID, thread.LevelWarn, "turn %d has no snapshot; the fork starts with the files of the snapshot before it",
			at.Turn)
	}
	if snap == nil {
		if snap, err = m.startFiles(ctx, p, at); err != nil {
			return nil, nil, err
		}
	}
	if snap == nil {
		snap, err = m.presentFiles(ctx, t, p, at)
		if errors.Is(err, thread.ErrNoRepository) {
			m.notices.post(p.ID, thread.LevelWarn, "%s is not a git repository: the fork shares the folder with %s", p.Dir,
				p.DisplayName())
			l, err := m.creation.create(ctx, t, name, false)
			return l, nil, err
		}
		if err != nil {
			return nil, nil, err
		}
	}
	// The parent's folder may be gone with an archived thread; the project's repository is the same.
	root := m.cfg.rootOf(p)
	if info, err := os.Stat(t.Dir); err != nil || !info.IsDir() {
		t.Dir, root = m.cfg.Project, m.cfg.Project
	}
	l, err := m.creation.createWithWorktree(ctx, t, name, root, snap)
	return l, snap.Skipped, err
}

// startFiles returns the files that a thread began with, for a fork at its turn 0; nil for another turn or if they are
// unknown.
func (m *Forks) startFiles(ctx context.Context, p thread.Thread, at thread.Checkpoint) (*thread.Snapshot, error) {
	if at.ID != "" || p.Head == "" {
		return nil, nil
	}
	if p.ForkPoint != "" {
		snap, err := m.past.SnapshotAt(ctx, p.ForkPoint)
		if err != nil || snap != nil {
			return snap, err
		}
	}
	base, err := m.past.BaseOf(ctx, p)
	if err != nil || base == "HEAD" {
		return nil, err
	}
	m.notices.post(p.ID, thread.LevelInfo,
		"the fork starts with the files of commit %.12s, where %s started; changes uncommitted then are not included",
		base, p.DisplayName())
	return &thread.Snapshot{Commit: base, Base: base}, nil
}

// presentFiles takes a snapshot of the parent's files as they are now, for a point without a snapshot.
func (m *Forks) presentFiles(ctx context.Context, t, p thread.Thread, at thread.Checkpoint) (*thread.Snapshot, error) {
	s, err := m.cfg.Worktrees.Take(ctx, t.ID, home(p), nil)
	if err != nil {
		return nil, fmt.Errorf("take a snapshot of %s: %w", p.Name, err)
	}
	if at.ID != "" {
		m.notices.post(p.ID, thread.LevelWarn,
			"turn %d has no snapshot; the fork starts with the files as they are now", at.Turn)
	}
	return &s, nil
}

// repairFork rolls back a fork without a worktree, and completes one that has its worktree.
func (m *Forks) repairFork(ctx context.Context, i thread.Intent) error {
	t, err := m.cfg.Store.Thread(ctx, i.Thread)
	switch {
	case errors.Is(err, thread.ErrNotFound):
		m.notices.post("", thread.LevelInfo, "a fork was interrupted before it began; nothing is left of it")
		return m.cfg.forgetFiles(ctx, i.Thread)
	case err != nil:
		return err
	case t.Worktree.Path != "":
		return nil // only the intent was left
	}
	if w, ok, err := m.cfg.worktreeMadeFor(ctx, t.ID); err != nil || ok {
		if err != nil {
			return err
		}
		return m.finishFork(ctx, t, w)
	}
	m.notices.post("", thread.LevelWarn,
		"fork %s was interrupted while its worktree was created, and was rolled back; its parent is unchanged, fork it again",
		t.DisplayName())
	return m.creation.takeBackFork(ctx, i.Thread)
}

// finishFork stores the worktree of a fork that was interrupted after creating it.
func (m *Forks) finishFork(ctx context.Context, t thread.Thread, w thread.Worktree) error {
	l, err := m.registry.certain(ctx, t.ID)
	if l == nil {
		return err
	}
	from := m.cfg.Project
	p, err := m.registry.certain(ctx, t.Parent)
	if err != nil {
		return err
	}
	if p != nil {
		from = m.cfg.rootOf(p.live.thread())
	}
	err = l.live.update(ctx, func(t *thread.Thread) error {
		t.Worktree, t.Dir = w, subDir(from, t.Dir, w.Path)
		if m.cfg.Setup != nil {
			t.Setup = thread.Setup{State: thread.SetupRuns} // it had not started
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("store the worktree: %w", err)
	}
	m.notices.post(t.ID, thread.LevelInfo,
		"fork %s was interrupted by a crash and is complete now; resume it to start its agent", t.DisplayName())
	return nil
}
