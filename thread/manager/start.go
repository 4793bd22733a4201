package manager

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"orchestrator/thread"
	"orchestrator/thread/failpoint"
	exec "orchestrator/thread/work"
)

// The size of a terminal that nobody looks at yet.
const (
	defaultCols = 120
	defaultRows = 40
)

// launchRequest is how to start a thread's agent.
type launchRequest struct {
	cols, rows int
	prompt     string
	lines      bool     // it may be typed as several lines
	handOver   bool     // the path of a handoff may be typed
	attempt    *attempt // the execution that it is for; nil for a start in a terminal
	env        []string // that the person brings who starts it; nil for none
}

// first stores the prompt that a thread is started with, if there is one.
func (l *run) first(ctx context.Context, t thread.Thread, r launchRequest) error {
	if strings.TrimSpace(r.prompt) == "" {
		return nil
	}
	if _, err := l.typist.accept(ctx, thread.Prompt{From: thread.FromFirst, Text: r.prompt, Lines: r.lines}); err != nil {
		return fmt.Errorf("start %s: store its first prompt: %w", t.Name, err)
	}
	return nil
}

// start is the step of Start. A thread that already runs is left alone.
func (l *run) start(ctx context.Context, r launchRequest) error {
	endNow(ctx, l)
	t := l.live.thread()
	switch {
	case l.live.running() != nil && attemptOf(l) != nil:
		return thread.Hint(fmt.Errorf("start %s: %s works in it: %w", t.Name, attemptOf(l).name, thread.ErrBusy),
			"watch it with `orchestrator attach "+t.Name+"`, wait for its end, or cancel it with `orchestrator exec cancel "+
				attemptOf(l).name+"`")
	case l.live.running() != nil: // by another client: what it is asked first is asked all the same
		return l.first(ctx, t, r)
	case !t.Deleted.IsZero():
		return thread.Kindf(thread.ErrRefused, "start %s: it is deleted", t.Name)
	case !t.Archived.IsZero():
		return thread.Hint(thread.Kindf(thread.ErrRefused, "start %s: it is archived", t.Name), "restore it first")
	case l.setupRunning():
		return fmt.Errorf("start %s: %w", t.Name, errSettingUp)
	case l.work.closes():
		return errClosed
	}
	if t.Once.On { // its worktree may be about to be removed
		if err := l.merging.free(l.live.id); err != nil {
			return fmt.Errorf("start %s: %w", t.Name, err)
		}
	}
	release, err := l.starts.take()
	if err != nil {
		return fmt.Errorf("start %s: %w", t.Name, err)
	}
	defer release()
	return l.begin(ctx, r)
}

// begin is the rest of start, once nothing speaks against it.
func (l *run) begin(ctx context.Context, r launchRequest) error {
	t := l.live.thread()
	agent, err := l.cfg.Agents.Agent(t.Agent)
	if err != nil {
		return fmt.Errorf("start %s: %w", t.Name, err)
	}
	l.environs.bring(l.live.id, r.env)
	goHome(ctx, l)
	if err := l.ensureDir(ctx); err != nil {
		return fmt.Errorf("start %s: %w", t.Name, err)
	}
	if err := l.first(ctx, t, r); err != nil {
		return err
	}
	if r.attempt != nil {
		if err := staysIn(l, r.attempt.execution()); err != nil {
			return fmt.Errorf("start %s: %w", t.Name, err)
		}
		if err := enterPlace(ctx, l, r.attempt); err != nil {
			return fmt.Errorf("start %s: %w", t.Name, err)
		}
	}
	// What was added to the agent's files after the last checkpoint must not be lost by rewriting them.
	l.recorder.Settle(ctx)
	l.reconcile(ctx)
	if err := l.stand(ctx); err != nil {
		return fmt.Errorf("start %s: %w", t.Name, err)
	}
	plan := resumePlan{how: thread.ResumeFresh}
	if r.attempt == nil || !r.attempt.fresh {
		if plan, err = l.planResume(ctx, agent); err != nil {
			return fmt.Errorf("resume %s: %w", t.Name, err)
		}
	}
	if r.attempt != nil && r.attempt.execution().Reporting && plan.how != thread.ResumeNative {
		return thread.Kindf(thread.ErrRefused, "its session cannot be resumed")
	}
	if plan.primer != "" && thread.RunsLines(agent) {
		plan.primer = l.handOver(plan.file, r.handOver)
	}
	if err := l.launch(ctx, agent, plan, r); err != nil {
		return fmt.Errorf("start %s: %w", t.Name, err)
	}
	return nil
}

// ensureDir makes sure that the agent's folder exists. One of our worktrees that was removed is recreated from the
// newest snapshot.
func (l *run) ensureDir(ctx context.Context) error {
	if err := l.follow(ctx, func() (map[thread.ID]thread.Worktree, error) { return l.cfg.worktreesMade(ctx) }); err != nil {
		return err
	}
	t := l.live.thread()
	if info, err := os.Stat(t.Dir); err == nil && info.IsDir() {
		if within(t.Dir, l.cfg.Project) {
			return l.cfg.checkPlace(t.Dir) // it may have become a git directory
		}
		return nil
	}
	if t.Worktree.Path == "" || l.cfg.Worktrees == nil {
		return thread.Hint(fmt.Errorf("folder %s: %w", t.Dir, thread.ErrNotFound),
			"restore the folder, or fork the thread into another one")
	}
	snap, err := l.past.SnapshotAt(ctx, t.Head)
	if err != nil {
		return err
	}
	if snap == nil {
		do := "none of its files were stored; start a new thread"
		if t.Parent != "" {
			do = "it has no snapshot; fork the thread's parent again"
		}
		return thread.Hint(fmt.Errorf("worktree %s: %w", t.Worktree.Path, thread.ErrNotFound), do)
	}
	// Remove what git still believes to exist.
	if _, err := l.cfg.Worktrees.Remove(ctx, l.live.id, t.Worktree); err != nil {
		l.cfg.Log.Warn("prune the missing worktree", "thread", string(l.live.id), "err", err)
	}
	w, err := l.cfg.Worktrees.Add(ctx, l.live.id, l.cfg.Project, t.Name, *snap)
	if err != nil {
		do := "its files are kept in commit " + snap.Commit
		if errors.Is(err, thread.ErrNameTaken) {
			do += ". If branch " + t.Worktree.Branch + " is in the way, rename it with `git branch -m " + t.Worktree.Branch +
				" NAME`: the thread goes on from its own files on a new one"
		}
		return thread.Hint(fmt.Errorf("recreate the missing worktree: %w", err), do)
	}
	if w.Branch == t.Worktree.Branch { // what was done before is still the thread's work
		w.Base = cmp.Or(t.Worktree.Base, w.Base)
	}
	dir := subDir(t.Worktree.Path, t.Dir, w.Path)
	if disposal(t.Once, l.cfg.Runs.Dispose) == exec.DisposeKeep || !t.Once.On {
		l.notices.post(l.live.id, thread.LevelWarn, "%s: its worktree was missing and was recreated with the files of turn %d",
			t.DisplayName(), t.Turn)
	}
	setup, err := l.beginSetup()
	if err != nil {
		return err
	}
	err = l.live.update(ctx, func(t *thread.Thread) error {
		t.Worktree, t.Dir, t.Setup = w, dir, setup
		return nil
	})
	if err != nil {
		l.endSetup()
		return err
	}
	_ = l.runSetup(l.live.update) // failures are reported and stored; the worktree can be used
	return nil
}

// ownWorktree reports whether a thread has a worktree of its own that is there.
func ownWorktree(t thread.Thread) bool {
	if !t.Once.On || t.Worktree.Path == "" {
		return false
	}
	_, err := os.Lstat(t.Worktree.Path)
	return err == nil
}

// bringBack is the step that recreates the worktree of a run that was removed, for those who work on its files. It stays
// then.
func bringBack(ctx context.Context, l *run) error {
	t := l.live.thread()
	if !t.Once.On || t.Worktree.Path == "" || ownWorktree(t) || !t.Archived.IsZero() || !t.Deleted.IsZero() {
		return nil
	}
	if err := l.ensureDir(ctx); err != nil {
		return err
	}
	l.live.mu.Lock()
	l.opened = true
	l.live.mu.Unlock()
	return nil
}

// launch starts the process after storing everything that leads to it.
func (l *run) launch(ctx context.Context, agent thread.Agent, plan resumePlan, r launchRequest) error {
	t := l.live.thread()
	spec, aside, err := l.spec(agent, plan)
	if err != nil {
		return err
	}
	if r.attempt != nil {
		spec.Once = t.Once
		spec.Once.Asks = asksOf(l.cfg, t.Once)
		if r.attempt.execution().Reporting {
			spec.Once.Caps.NoTools, spec.Once.Asks = true, thread.AsksNobody
		}
	}
	if spec.Base, err = l.base(ctx, agent, spec, aside); err != nil {
		return err
	}
	spec.BaseVersion = l.live.thread().Base.Version
	l.watch(ctx, spec)
	prepared, err := prepare(ctx, agent, spec)
	if err != nil {
		return err
	}
	launch, dialogue := prepared.Launch, prepared.Dialogue
	if err := l.unused(ctx, launch); err != nil {
		return err
	}
	if l.cfg.MCP != nil {
		l.cfg.MCP.Launched(l.live.id, launch.MCP)
	}
	taken, err := l.index.sessionTaken(l.live.id, launch.Session)
	if err != nil {
		return err
	}
	if taken {
		return thread.Kindf(thread.ErrInvalid, "session %s belongs to another thread", launch.Session)
	}
	x := thread.Execution{
		ID: thread.NewID[thread.ExecutionID](), Thread: l.live.id, Agent: t.Agent, Session: launch.Session, Started: l.cfg.now(),
	}
	if err := l.cfg.Store.BeginExecution(ctx, x); err != nil {
		return fmt.Errorf("store the run: %w", err)
	}
	recordProcess(ctx, l, x, agent, r.prompt, r.attempt)
	failpoint.Hit("thread.start.begun")
	var report func(thread.RunEvent)
	var raw io.Writer
	l.typist.serve(r.attempt)
	if r.attempt != nil {
		files := filesBefore(ctx, l, r.attempt.execution())
		keepBefore(ctx, l, r.attempt, files)
		r.attempt.begun(x, l.live.used(), prepared.Insists, files)
		report, raw = listener(l, r.attempt, spec.Once, dialogue), r.attempt.output.Writer()
	}
	l.live.mu.Lock()
	l.attempt, l.opened = r.attempt, r.attempt == nil
	l.live.execution, l.live.exit, l.live.proof = &x, nil, nil
	l.live.restart = ""
	l.live.reported = thread.StateReport{}
	l.live.ending = unasked
	_, tells := agent.(thread.UsageReader)
	l.live.visibility, l.live.aside, l.live.course = visibilityOf(aside != "", tells), aside, throughGateway
	l.live.before = l.live.requests.Begun()
	l.live.requests.Forget()
	l.live.mu.Unlock()
	l.checker.started(l.live, agent, worldSpec(t, spec), spec, launch)
	session, err := l.cfg.Sessions.Start(ctx, thread.SessionSpec{
		Thread: l.live.id, Agent: t.Agent, Launch: launch,
		Cols: orDefault(r.cols, defaultCols), Rows: orDefault(r.rows, defaultRows),
		Dialogue: dialogue, OnRun: report, Raw: raw,
		OnState: func(s thread.StateReport) { l.stateChanged(x.ID, s) },
		OnExit:  func(e thread.Exit) { l.exited(x.ID, e) },
		OnReady: l.typist.wake,
	})
	if err != nil {
		l.notStarted(ctx, x, err)
		return err
	}
	failpoint.Hit("thread.start.started")
	return l.launched(ctx, session, launch, plan.primer)
}

// prepare prepares the start of an agent: without a terminal if that is asked for, with what is said then.
func prepare(ctx context.Context, agent thread.Agent, spec thread.LaunchSpec) (thread.HeadlessLaunch, error) {
	if !spec.Once.On {
		launch, err := agent.Launch(ctx, spec)
		return thread.HeadlessLaunch{Launch: launch}, err
	}
	headless, can := agent.(thread.Headless)
	if !can {
		return thread.HeadlessLaunch{}, noHeadless(agent.Name())
	}
	return headless.Headless(ctx, spec)
}

// notStarted ends the run of a process that could not be started.
func (l *run) notStarted(ctx context.Context, x thread.Execution, cause error) {
	l.typist.serve(nil)
	l.cfg.ledger.End(x.ID, l.live.id, thread.Exit{Code: 127, Reason: "not started: " + reason(cause)}, false)
	l.live.mu.Lock()
	l.live.execution, l.attempt = nil, nil
	l.live.show()
	l.live.mu.Unlock()
	if err := l.cfg.Store.EndExecution(
		context.WithoutCancel(ctx), x.ID, l.cfg.now(), thread.Exit{Code: 127, Reason: "not started: " + cause.Error()}); err != nil {
		l.cfg.Log.Error("end the run of a process that did not start", "thread", string(l.live.id), "err", err)
	}
}

// launched records a running process and starts typing what waits, after the primer.
func (l *run) launched(ctx context.Context, session thread.Session, launch thread.Launch, primer string) error {
	l.live.mu.Lock()
	x := *l.live.execution
	x.PID, x.Session = session.PID(), launch.Session
	l.live.execution = &x
	ended := l.live.exit != nil
	if !ended {
		l.live.session = session
		if r := session.State(); l.live.reported.State == "" {
			l.live.reported = r
		}
	}
	l.live.mu.Unlock()
	if err := l.cfg.Store.UpdateExecution(ctx, x.ID, x.PID, x.Session); err != nil {
		l.cfg.Log.Error("store the process id", "thread", string(l.live.id), "err", err)
	}
	l.recorder.Begin(launch.Session)
	err := l.live.update(ctx, func(t *thread.Thread) error {
		t.Session, t.Interrupted, t.Exit = launch.Session, false, thread.Exit{}
		return nil
	})
	if err != nil {
		// The run's row has the session too, so the next start finds it.
		l.notices.post(l.live.id, thread.LevelWarn, "cannot record that the agent started: %v", err)
	}
	l.live.enqueue(func() { l.recorder.Load(l.work.ctx) }) // before the first answer arrives
	l.live.enqueue(func() { keepsBase(l.work.ctx, l, x.ID) })
	l.typist.prime(ctx, primer)
	return nil
}

// spec prepares how the agent is started, and says why it runs without the gateway, "" if it does not.
func (l *run) spec(agent thread.Agent, plan resumePlan) (spec thread.LaunchSpec, aside string, err error) {
	t := l.live.thread()
	spec = thread.LaunchSpec{
		Thread: t.ID, Dir: t.Dir, StateDir: l.cfg.stateDir(t.ID), Env: l.environs.env(t), Flags: t.Launch, Model: modelOf(l, t), Bin: l.cfg.Bin,
		Session: plan.session, Resume: plan.resume,
	}
	if err := os.MkdirAll(spec.StateDir, 0o700); err != nil {
		return spec, "", fmt.Errorf("create the thread's folder: %w", err)
	}
	spec.Origin = origin(l, t)
	if spec.ReadDirs, err = l.readDirs(t); err != nil {
		return spec, "", err
	}
	if l.cfg.MCP != nil {
		spec.MCP = l.cfg.MCP.Launch(t)
	}
	if l.cfg.gateway == nil {
		return spec, "the server has no gateway", nil
	}
	world, err := worldOf(agent, t, spec)
	if err != nil {
		return spec, "", err
	}
	l.live.mu.Lock()
	l.live.windows = world.Windows
	l.live.mu.Unlock()
	aside = world.Aside
	if t.Launch.NoGateway {
		aside = "it was started with --no-gateway"
	}
	if aside != "" {
		world.Upstreams = nil
	}
	_, tells := agent.(thread.UsageReader)
	base, hook, err := l.cfg.gateway.Route(t.ID, thread.RouteSpec{
		Agent: t.Agent, Upstreams: world.Upstreams, Windows: world.Windows, Network: world.Network, Plain: !tells,
		Patient: t.Once.On,
	})
	if err != nil {
		return spec, aside, fmt.Errorf("open the gateway: %w", err)
	}
	spec.HookURL = hook
	if aside == "" {
		spec.BaseURL = base
	}
	return spec, aside, nil
}

// worldOf reads what surrounds an agent that is about to be started. Without the gateway, what cannot be read is the
// agent's own affair.
func worldOf(agent thread.Agent, t thread.Thread, spec thread.LaunchSpec) (thread.World, error) {
	w, err := agent.World(worldSpec(t, spec))
	if err != nil && !t.Launch.NoGateway {
		return thread.World{}, err
	}
	if err == nil && w.Upstreams == nil && w.Aside == "" {
		w.Aside = "its requests cannot be sent through it"
	}
	return w, nil
}

// readDirs returns the folders that a thread's agent may read without asking: its own, and those of the threads that it
// was forked from, whose files its conversation names.
func (l *run) readDirs(t thread.Thread) ([]string, error) {
	own := l.cfg.attachments(t.ID)
	if err := own.Make(); err != nil {
		return nil, err
	}
	dirs := []string{own.Dir()}
	for p := l.index.other(t.Parent); p != nil; p = l.index.other(p.thread().Parent) {
		if f := l.cfg.attachments(p.id); !f.Empty() {
			dirs = append(dirs, f.Dir())
		}
	}
	if l.cfg.Readable == nil {
		return dirs, nil
	}
	more, err := l.cfg.Readable(t)
	if err != nil {
		// The agent runs without: it asks before it reads there.
		l.notices.post(l.live.id, thread.LevelWarn, "the agent may have to ask before it reads masked tool results: %v", err)
	}
	return append(dirs, more...), nil
}

func orDefault(n, otherwise int) int {
	if n <= 0 {
		return otherwise
	}
	return n
}
