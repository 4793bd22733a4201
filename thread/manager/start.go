package manager

import (
	"context"
	"fmt"
	"os"
	"strings"

	"orchestrator/thread"
	"orchestrator/thread/failpoint"
	"orchestrator/thread/plaintext"
)

// The size of a terminal that nobody looks at yet.
const (
	defaultCols = 120
	defaultRows = 40
)

// launchRequest is how a thread's agent is to be started.
type launchRequest struct {
	cols, rows int
	prompt     string
}

// start is the step behind Start. A thread that runs already is left alone.
func (l *run) start(ctx context.Context, r launchRequest) error {
	t := l.thread()
	switch {
	case l.running() != nil:
		return nil
	case !t.Deleted.IsZero():
		return fmt.Errorf("start %s: it is deleted: %w", t.Name, thread.ErrRefused)
	case !t.Archived.IsZero():
		return thread.Hint(fmt.Errorf("start %s: it is archived: %w", t.Name, thread.ErrRefused), "restore it first")
	case l.isFurnishing():
		return fmt.Errorf("start %s: %w", t.Name, errSettingUp)
	}
	select {
	case <-l.closing:
		return errClosed
	default:
	}
	release, err := l.takeSlot()
	if err != nil {
		return fmt.Errorf("start %s: %w", t.Name, err)
	}
	defer release()
	agent, err := l.cfg.Agents.Agent(t.Agent)
	if err != nil {
		return fmt.Errorf("start %s: %w", t.Name, err)
	}
	if err := l.ensureDir(ctx); err != nil {
		return fmt.Errorf("start %s: %w", t.Name, err)
	}
	if strings.TrimSpace(r.prompt) != "" {
		if _, err := l.accept(ctx, thread.Prompt{From: thread.FromFirst, Text: r.prompt}); err != nil {
			return fmt.Errorf("start %s: keep its first prompt: %w", t.Name, err)
		}
	}
	// What the agent's files gained after the last checkpoint must not be lost by writing them anew.
	l.recorder.Settle(ctx)
	l.reconcile(ctx)
	way, err := l.wayBack(ctx, agent)
	if err != nil {
		return fmt.Errorf("resume %s: %w", t.Name, err)
	}
	if err := l.launch(ctx, agent, way, r); err != nil {
		return fmt.Errorf("start %s: %w", t.Name, err)
	}
	return nil
}

// ensureDir makes sure that the folder the agent is to run in is there. A worktree of ours that was
// removed is made again from the newest snapshot.
func (l *run) ensureDir(ctx context.Context) error {
	if err := l.follow(ctx); err != nil {
		return err
	}
	t := l.thread()
	if info, err := os.Stat(t.Dir); err == nil && info.IsDir() {
		return nil
	}
	if t.Worktree.Path == "" || l.cfg.Worktrees == nil {
		return thread.Hint(fmt.Errorf("folder %s: %w", t.Dir, thread.ErrNotFound), "bring the folder back, or fork the thread into another one")
	}
	snap, err := l.past.SnapshotAt(ctx, t.Head)
	if err != nil {
		return err
	}
	if snap == nil {
		return thread.Hint(fmt.Errorf("worktree %s: %w", t.Worktree.Path, thread.ErrNotFound), "no snapshot of it is kept; fork the thread's parent again")
	}
	// Strike off what git still believes to be there.
	if _, err := l.cfg.Worktrees.Remove(ctx, l.id, t.Worktree); err != nil {
		l.cfg.Log.Warn("strike off the missing worktree", "thread", string(l.id), "err", err)
	}
	w, err := l.cfg.Worktrees.Add(ctx, l.id, l.cfg.Project, t.Name, *snap)
	if err != nil {
		return thread.Hint(fmt.Errorf("make the missing worktree again: %w", err), "its files are kept in commit "+snap.Commit)
	}
	dir := subDir(t.Worktree.Path, t.Dir, w.Path)
	l.notice(l.id, thread.LevelWarn, "%s: its worktree was missing; it was made again with the files of turn %d", t.DisplayName(), t.Turn)
	setup, err := l.willFurnish()
	if err != nil {
		return err
	}
	err = l.update(ctx, func(t *thread.Thread) error {
		t.Worktree, t.Dir, t.Setup = w, dir, setup
		return nil
	})
	if err != nil {
		l.notFurnishing()
		return err
	}
	_ = l.furnish(l.update) // what fails is told and stored; the worktree can be used
	return nil
}

// launch starts the process: everything that leads to it is durable before.
func (l *run) launch(ctx context.Context, agent thread.Agent, way wayBack, r launchRequest) error {
	t := l.thread()
	spec, direct, err := l.spec(agent, way)
	if err != nil {
		return err
	}
	l.watch(ctx, spec)
	launch, err := agent.Launch(ctx, spec)
	if err != nil {
		return err
	}
	if launch.Session != "" && l.sessionTaken(l.id, launch.Session) {
		return fmt.Errorf("session %s belongs to another thread: %w", launch.Session, thread.ErrInvalid)
	}
	x := thread.Execution{ID: thread.NewID[thread.ExecutionID](), Thread: l.id, Agent: t.Agent, Session: launch.Session, Started: l.now()}
	if err := l.cfg.Store.BeginExecution(ctx, x); err != nil {
		return fmt.Errorf("store the run: %w", err)
	}
	failpoint.Hit("thread.start.begun")
	l.mu.Lock()
	l.execution, l.exit, l.proof = &x, nil, nil
	l.reported = thread.StateReport{}
	l.stopping, l.amid = false, false
	_, tells := agent.(thread.UsageReader)
	l.sight = sightOf(direct, tells)
	l.requests.Forget()
	l.mu.Unlock()
	session, err := l.cfg.Sessions.Start(ctx, thread.SessionSpec{
		Thread: l.id, Agent: t.Agent, Launch: launch,
		Cols: orDefault(r.cols, defaultCols), Rows: orDefault(r.rows, defaultRows),
		OnState: func(s thread.StateReport) { l.stateChanged(x.ID, s) },
		OnExit:  func(e thread.Exit) { l.exited(x.ID, e) },
		OnReady: l.poke,
	})
	if err != nil {
		l.notStarted(ctx, x, err)
		return err
	}
	failpoint.Hit("thread.start.started")
	return l.launched(ctx, session, launch, way.primer)
}

// notStarted ends the run of a process that could not be started.
func (l *run) notStarted(ctx context.Context, x thread.Execution, cause error) {
	l.mu.Lock()
	l.execution = nil
	l.show()
	l.mu.Unlock()
	if err := l.cfg.Store.EndExecution(ctx, x.ID, l.now(), thread.Exit{Code: 127, Reason: "not started: " + cause.Error()}); err != nil {
		l.cfg.Log.Error("end the run of a process that did not start", "thread", string(l.id), "err", err)
	}
}

// launched notes a process that runs and has it asked what waits, after the primer.
func (l *run) launched(ctx context.Context, session thread.Session, launch thread.Launch, primer string) error {
	l.mu.Lock()
	x := *l.execution
	x.PID, x.Session = session.PID(), launch.Session
	l.execution = &x
	ended := l.exit != nil
	if !ended {
		l.session = session
		if r := session.State(); l.reported.State == "" {
			l.reported = r
		}
	}
	l.mu.Unlock()
	if err := l.cfg.Store.UpdateExecution(ctx, x.ID, x.PID, x.Session); err != nil {
		l.cfg.Log.Error("store the process id", "thread", string(l.id), "err", err)
	}
	l.recorder.Begin(launch.Session)
	err := l.update(ctx, func(t *thread.Thread) error {
		t.Session, t.Interrupted, t.Exit = launch.Session, false, thread.Exit{}
		return nil
	})
	if err != nil {
		// The run's row holds the session too, so the next start finds it.
		l.notice(l.id, thread.LevelWarn, "the start could not be stored: %v", err)
	}
	l.enqueue(func() { l.recorder.Load(l.ctx) }) // before the first answer comes
	l.prime(ctx, primer)
	return nil
}

// spec lays out what the agent is started with, and whether it runs without the gateway.
func (l *run) spec(agent thread.Agent, way wayBack) (spec thread.LaunchSpec, direct bool, err error) {
	t := l.thread()
	spec = thread.LaunchSpec{
		Thread: t.ID, Dir: t.Dir, StateDir: l.stateDir(t.ID), Env: l.env(t), Flags: t.Launch, Model: t.Model, Bin: l.cfg.Bin,
		Session: way.session, Resume: way.resume,
	}
	if err := os.MkdirAll(spec.StateDir, 0o700); err != nil {
		return spec, false, fmt.Errorf("make the thread's folder: %w", err)
	}
	if t.Worktree.Path != "" {
		spec.Origin = subDir(t.Worktree.Path, t.Dir, l.cfg.Project)
	}
	if spec.ReadDirs, err = l.readDirs(t); err != nil {
		return spec, false, err
	}
	own := windows(agent, spec.Env)
	l.mu.Lock()
	l.windows = own
	l.mu.Unlock()
	upstreams := agent.Upstreams(spec.Env)
	direct = l.Gateway == nil || t.Launch.NoGateway || upstreams == nil
	if l.Gateway == nil {
		return spec, direct, nil
	}
	if direct {
		upstreams = nil
	}
	base, hook, err := l.Gateway.Route(t.ID, thread.RouteSpec{Agent: t.Agent, Upstreams: upstreams, Windows: own})
	if err != nil {
		return spec, direct, fmt.Errorf("open the gateway: %w", err)
	}
	spec.HookURL = hook
	if !direct {
		spec.BaseURL = base
	}
	return spec, direct, nil
}

// windows returns what an agent is configured with on how much models hold.
func windows(agent thread.Agent, env []string) map[string]int64 {
	if w, ok := agent.(thread.Windower); ok {
		return w.Windows(env)
	}
	return nil
}

// readDirs returns the folders that a thread's agent may read without a question: its own, and those of the
// threads that it was forked from, whose files its conversation names.
func (l *run) readDirs(t thread.Thread) ([]string, error) {
	own := l.handedOut(t.ID)
	if err := own.Make(); err != nil {
		return nil, err
	}
	dirs := []string{own.Dir()}
	for p := l.other(t.Parent); p != nil; p = l.other(p.thread().Parent) {
		if f := l.handedOut(p.id); !f.Empty() {
			dirs = append(dirs, f.Dir())
		}
	}
	return dirs, nil
}

func orDefault(n, otherwise int) int {
	if n <= 0 {
		return otherwise
	}
	return n
}

// takeSlot counts an agent in that is about to start.
func (m *roll) takeSlot() (release func(), err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := m.starts
	for _, l := range m.lines {
		if l.session != nil {
			n++
		}
	}
	if limit := m.cfg.Limits.Running; limit > 0 && n >= limit {
		return nil, thread.Hint(fmt.Errorf("%s running already: %w", plaintext.Count(n, "agent"), thread.ErrLimit),
			"stop one or raise limits.running")
	}
	m.starts++
	return func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.starts--
	}, nil
}
