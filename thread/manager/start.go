package manager

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"orchestrator/thread"
	"orchestrator/thread/failpoint"
	"orchestrator/thread/handout"
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

// Start starts a thread's agent where it left off.
func (m *Manager) Start(ctx context.Context, ref string, cols, rows int) (thread.Status, error) {
	l, err := m.find(ref)
	if err != nil {
		return thread.Status{}, err
	}
	return m.startLine(ctx, l, launchRequest{cols: cols, rows: rows})
}

func (m *Manager) startLine(ctx context.Context, l *line, r launchRequest) (thread.Status, error) {
	err := l.do(ctx, func(ctx context.Context) error { return l.start(ctx, r) })
	return m.statusOf(l), err
}

// start is the step behind Start. A thread that runs already is left alone.
func (l *line) start(ctx context.Context, r launchRequest) error {
	m := l.m
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
	case <-m.closing:
		return errClosed
	default:
	}
	release, err := m.takeSlot()
	if err != nil {
		return fmt.Errorf("start %s: %w", t.Name, err)
	}
	defer release()
	agent, err := m.cfg.Agents.Agent(t.Agent)
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
	l.rec.settle(ctx, l)
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

// ready refuses what cannot be started, before a new thread and its worktree are made for it.
func (m *Manager) ready(ctx context.Context, t thread.Thread) error {
	release, err := m.takeSlot()
	if err != nil {
		return err
	}
	release() // start takes its own
	if len(t.Launch.Env) > 0 {
		return nil // with its own PATH an agent may be found that is not here
	}
	agent, err := m.cfg.Agents.Agent(t.Agent)
	if err != nil {
		return err
	}
	d, ok := agent.(thread.Detector)
	if !ok {
		return nil
	}
	switch info := d.Detect(ctx); {
	case !info.Found:
		return thread.Hint(fmt.Errorf("%s: %s: %w", t.Agent, cmp.Or(info.Problem, "not found"), thread.ErrNotFound), info.Hint)
	case info.Problem != "":
		return thread.Hint(fmt.Errorf("%s: %s: %w", t.Agent, info.Problem, thread.ErrUnsupported), info.Hint)
	}
	return nil
}

// takeSlot counts an agent in that is about to start.
func (m *Manager) takeSlot() (release func(), err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := m.starts
	for _, l := range m.lines {
		if l.session != nil {
			n++
		}
	}
	if limit := m.cfg.Limits.Running; limit > 0 && n >= limit {
		return nil, thread.Hint(fmt.Errorf("%s running already: %w", counted(n, "agent"), thread.ErrLimit), "stop one or raise limits.running")
	}
	m.starts++
	return func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.starts--
	}, nil
}

// ensureDir makes sure that the folder the agent is to run in is there. A worktree of ours that was
// removed is made again from the newest snapshot.
func (l *line) ensureDir(ctx context.Context) error {
	if err := l.follow(ctx); err != nil {
		return err
	}
	t := l.thread()
	if info, err := os.Stat(t.Dir); err == nil && info.IsDir() {
		return nil
	}
	if t.Worktree.Path == "" || l.m.cfg.Worktrees == nil {
		return thread.Hint(fmt.Errorf("folder %s: %w", t.Dir, thread.ErrNotFound), "bring the folder back, or fork the thread into another one")
	}
	snap, err := l.m.snapshotAt(ctx, t.Head)
	if err != nil {
		return err
	}
	if snap == nil {
		return thread.Hint(fmt.Errorf("worktree %s: %w", t.Worktree.Path, thread.ErrNotFound), "no snapshot of it is kept; fork the thread's parent again")
	}
	// Strike off what git still believes to be there.
	if _, err := l.m.cfg.Worktrees.Remove(ctx, l.id, t.Worktree); err != nil {
		l.m.cfg.Log.Warn("strike off the missing worktree", "thread", string(l.id), "err", err)
	}
	w, err := l.m.cfg.Worktrees.Add(ctx, l.id, l.m.cfg.Project, t.Name, *snap)
	if err != nil {
		return thread.Hint(fmt.Errorf("make the missing worktree again: %w", err), "its files are kept in commit "+snap.Commit)
	}
	dir := subDir(t.Worktree.Path, t.Dir, w.Path)
	l.m.notice(l.id, thread.LevelWarn, "%s: its worktree was missing; it was made again with the files of turn %d", t.DisplayName(), t.Turn)
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

// subDir moves dir from one root to another, to that root itself where it is not below the first.
func subDir(from, dir, to string) string {
	rel, err := filepath.Rel(from, dir)
	if err != nil || !filepath.IsLocal(rel) {
		return to
	}
	moved := filepath.Join(to, rel)
	if info, err := os.Stat(moved); err != nil || !info.IsDir() {
		return to
	}
	return moved
}

// launch starts the process: everything that leads to it is durable before.
func (l *line) launch(ctx context.Context, agent thread.Agent, way wayBack, r launchRequest) error {
	m := l.m
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
	if launch.Session != "" && m.sessionTaken(l, launch.Session) {
		return fmt.Errorf("session %s belongs to another thread: %w", launch.Session, thread.ErrInvalid)
	}
	x := thread.Execution{ID: thread.NewID[thread.ExecutionID](), Thread: l.id, Agent: t.Agent, Session: launch.Session, Started: m.now()}
	if err := m.cfg.Store.BeginExecution(ctx, x); err != nil {
		return fmt.Errorf("store the run: %w", err)
	}
	failpoint.Hit("thread.start.begun")
	m.mu.Lock()
	l.execution, l.exit, l.proof = &x, nil, nil
	l.reported = thread.StateReport{}
	l.direct, l.stopping, l.amid = direct, false, false
	_, tells := agent.(thread.UsageReader)
	l.silent, l.unread = direct && !tells, !tells
	l.requests.Forget()
	m.mu.Unlock()
	session, err := m.cfg.Sessions.Start(ctx, thread.SessionSpec{
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
func (l *line) notStarted(ctx context.Context, x thread.Execution, cause error) {
	l.m.mu.Lock()
	l.execution = nil
	l.m.show(l)
	l.m.mu.Unlock()
	if err := l.m.cfg.Store.EndExecution(ctx, x.ID, l.m.now(), thread.Exit{Code: 127, Reason: "not started: " + cause.Error()}); err != nil {
		l.m.cfg.Log.Error("end the run of a process that did not start", "thread", string(l.id), "err", err)
	}
}

// launched notes a process that runs and has it asked what waits, after the primer.
func (l *line) launched(ctx context.Context, session thread.Session, launch thread.Launch, primer string) error {
	m := l.m
	m.mu.Lock()
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
	m.mu.Unlock()
	if err := m.cfg.Store.UpdateExecution(ctx, x.ID, x.PID, x.Session); err != nil {
		m.cfg.Log.Error("store the process id", "thread", string(l.id), "err", err)
	}
	l.rec.session = launch.Session
	err := l.update(ctx, func(t *thread.Thread) error {
		t.Session, t.Interrupted, t.Exit = launch.Session, false, thread.Exit{}
		return nil
	})
	if err != nil {
		// The run's row holds the session too, so the next start finds it.
		m.notice(l.id, thread.LevelWarn, "the start could not be stored: %v", err)
	}
	l.enqueue(func() { l.rec.load(m.ctx, l) }) // before the first answer comes
	l.prime(ctx, primer)
	return nil
}

// spec lays out what the agent is started with, and whether it runs without the gateway.
func (l *line) spec(agent thread.Agent, way wayBack) (spec thread.LaunchSpec, direct bool, err error) {
	m, t := l.m, l.thread()
	spec = thread.LaunchSpec{
		Thread: t.ID, Dir: t.Dir, StateDir: m.stateDir(t.ID), Env: m.env(t), Flags: t.Launch, Model: t.Model, Bin: m.cfg.Bin,
		Session: way.session, Resume: way.resume,
	}
	if err := os.MkdirAll(spec.StateDir, 0o700); err != nil {
		return spec, false, fmt.Errorf("make the thread's folder: %w", err)
	}
	if t.Worktree.Path != "" {
		spec.Origin = subDir(t.Worktree.Path, t.Dir, m.cfg.Project)
	}
	if spec.ReadDirs, err = m.readDirs(t); err != nil {
		return spec, false, err
	}
	own := windows(agent, spec.Env)
	m.mu.Lock()
	l.windows = own
	m.mu.Unlock()
	upstreams := agent.Upstreams(spec.Env)
	direct = m.Gateway == nil || t.Launch.NoGateway || upstreams == nil
	if m.Gateway == nil {
		return spec, direct, nil
	}
	if direct {
		upstreams = nil
	}
	base, hook, err := m.Gateway.Route(t.ID, thread.RouteSpec{Agent: t.Agent, Upstreams: upstreams, Windows: own})
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
func (m *Manager) readDirs(t thread.Thread) ([]string, error) {
	own := m.handedOut(t.ID)
	if err := own.Make(); err != nil {
		return nil, err
	}
	dirs := []string{own.Dir()}
	for p := m.line(t.Parent); p != nil; p = m.line(p.thread().Parent) {
		if f := m.handedOut(p.id); !f.Empty() {
			dirs = append(dirs, f.Dir())
		}
	}
	return dirs, nil
}

// handedOut is the folder of what a thread's agent is named.
func (m *Manager) handedOut(id thread.ID) handout.Folder {
	return handout.At(filepath.Join(m.stateDir(id), "read"))
}

// stateDir is the folder for a thread's own files.
func (m *Manager) stateDir(id thread.ID) string {
	return filepath.Join(m.cfg.StateDir, "threads", string(id))
}

// env is the environment a thread's agent starts from.
func (m *Manager) env(t thread.Thread) []string { return slices.Concat(m.cfg.Env, t.Launch.Env) }

// sessionTaken reports whether another thread has a session.
func (m *Manager) sessionTaken(l *line, session string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, other := range m.lines {
		if other != l && other.t.Session == session {
			return true
		}
	}
	return false
}

func orDefault(n, otherwise int) int {
	if n <= 0 {
		return otherwise
	}
	return n
}

func joinPrompts(parts ...string) string {
	return strings.TrimSpace(strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), "\n\n"))
}

// newSession returns a random UUID, which is what agents take as a session id.
func newSession() string {
	var b [16]byte
	rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
