package manager

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"orchestrator/thread"
	"orchestrator/thread/failpoint"
	"orchestrator/thread/manager/events"
	"orchestrator/thread/plaintext"
	"orchestrator/thread/secret"
)

// Creation has the use cases that create threads.
type Creation struct {
	cfg      *Config
	bus      *events.Bus
	work     *work
	notices  *notices
	intents  *intents
	registry *registry
	agents   *Agents
	budgets  *Budgets
	sessions *workSessions
}

// New creates a thread and starts its agent.
func (m *Creation) New(ctx context.Context, r thread.NewRequest) (thread.Status, error) {
	above, _ := m.registry.open.holding(r.By)
	err := m.sessions.enter(ctx, above, r.By, &r.Once)
	if err != nil {
		return thread.Status{}, fmt.Errorf("new thread: %w", err)
	}
	t, err := m.newThread(r)
	if err != nil {
		return thread.Status{}, fmt.Errorf("new thread: %w", err)
	}
	if r.Worktree && m.cfg.Worktrees == nil {
		return thread.Status{}, fmt.Errorf("new thread: worktree: %w", thread.ErrNoRepository)
	}
	if err := m.agents.ready(ctx, t); err != nil {
		return thread.Status{}, fmt.Errorf("new thread: %w", err)
	}
	if err := m.budgets.begin(ctx, t, r.Once.Budget, r.By); err != nil {
		return thread.Status{}, fmt.Errorf("new thread: %w", err)
	}
	l, err := m.place(ctx, t, r)
	if err != nil {
		m.budgets.Forget(t.ID)
		return thread.Status{}, fmt.Errorf("new thread: %w", err)
	}
	if t.Once.On {
		return m.submitNew(ctx, l, r.By, thread.Prompt{From: thread.FromFirst, Text: r.Prompt, Lines: r.Lines}, order{name: r.Execution, given: r.Given, env: thread.Environ(ctx)})
	}
	return m.startNew(ctx, l, launchRequest{cols: r.Cols, rows: r.Rows, prompt: r.Prompt, lines: r.Lines, env: thread.Environ(ctx)})
}

// startNew starts the agent of a new thread. If that fails nothing is left of the thread: the person, who gets the
// error, still has its prompt. The end of the server is not a failure: the next server has the thread.
func (m *Creation) startNew(ctx context.Context, l *run, r launchRequest) (thread.Status, error) {
	s, err := m.agents.startLine(ctx, l, r)
	if err == nil {
		return s, nil
	}
	return thread.Status{}, m.takeBackNew(l, err)
}

// submitNew stores the first execution of a new thread. If that fails nothing is left of the thread, as after startNew. If
// the client has gone before it was told the execution's name, the execution is cancelled: nobody would look after it.
func (m *Creation) submitNew(ctx context.Context, l *run, by thread.ID, p thread.Prompt, o order) (thread.Status, error) {
	err := l.live.do(ctx, func(ctx context.Context) error {
		_, err := submit(ctx, l, l.open.asks(by, p), o)
		return err
	})
	if err == nil {
		err = ctx.Err()
	}
	if err == nil {
		return l.live.current(), nil
	}
	err = m.takeBackNew(l, err)
	if ctx.Err() != nil && !m.work.closes() {
		for _, x := range l.open.list() {
			if x.Thread != l.live.id {
				continue
			}
			if _, end := cancelRun(m.work.ctx, l, x, "whoever started it left before it was told its name"); end != nil && !errors.Is(end, errOver) {
				err = errors.Join(err, fmt.Errorf("cancel %s: %w", x.Name, end))
			}
		}
	}
	return thread.Status{}, err
}

// takeBackNew removes a new thread after an error, which it returns.
func (m *Creation) takeBackNew(l *run, err error) error {
	// A step of its own: if the client has disconnected, the start may still come or may have succeeded.
	back := l.live.do(m.work.ctx, func(ctx context.Context) error {
		if l.live.running() != nil || hasRun(l) || m.work.closes() {
			return nil
		}
		if err := l.live.update(ctx, func(t *thread.Thread) error { t.Deleted = m.cfg.now(); return nil }); err != nil {
			return err
		}
		if m.cfg.gateway != nil {
			m.cfg.gateway.Unroute(l.live.id)
		}
		if err := l.purge(ctx); err != nil {
			return err
		}
		m.bus.Publish(thread.Event{At: m.cfg.now(), Kind: thread.EventRemoved, ThreadID: l.live.id})
		return m.cfg.forgetFiles(ctx, l.live.id)
	})
	if back != nil && !errors.Is(back, errClosed) {
		err = errors.Join(err, fmt.Errorf("remove %s again: %w", l.live.thread().Name, back))
	}
	return err
}

// checkLaunch rejects flags that a thread's agent can never be started with, before anything is created for it.
func (m *Creation) checkLaunch(t thread.Thread) error {
	if err := checkFlags(t.Launch); err != nil {
		return err
	}
	agent, err := m.cfg.Agents.Agent(t.Agent)
	if err != nil {
		return err
	}
	if c, ok := agent.(thread.LaunchChecker); ok {
		return c.CheckLaunch(t.Launch)
	}
	return nil
}

// newThread checks a request and prepares the thread.
func (m *Creation) newThread(r thread.NewRequest) (thread.Thread, error) {
	if _, err := m.cfg.Agents.Agent(r.Agent); err != nil {
		return thread.Thread{}, err
	}
	if err := m.checkLaunch(thread.Thread{Agent: r.Agent, Launch: r.Flags}); err != nil {
		return thread.Thread{}, err
	}
	if err := checkOnce(m.cfg, r.Agent, r.Model, r.Once, r.Prompt, r.Execution); err != nil {
		return thread.Thread{}, err
	}
	first := thread.Prompt{From: thread.FromFirst, Text: r.Prompt, Lines: r.Lines}
	if err := m.cfg.consented(r.Agent, first); err != nil {
		return thread.Thread{}, err
	}
	switches, err := r.Switches()
	if err != nil {
		return thread.Thread{}, err
	}
	base, err := m.cfg.planBase(thread.BaseWish{Agent: r.Agent, Profile: r.Base, Started: r.Started})
	if err != nil {
		return thread.Thread{}, err
	}
	dir := cmp.Or(r.Dir, m.cfg.Project)
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(m.cfg.Project, dir)
	}
	dir = filepath.Clean(dir)
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return thread.Thread{}, thread.Hint(fmt.Errorf("folder %s: %w", dir, thread.ErrNotFound), "create it first")
	}
	if err := m.cfg.checkPlace(dir); err != nil {
		return thread.Thread{}, err
	}
	label := cmp.Or(secret.Redact(r.Label), titleOf(cmp.Or(r.Given.Scope, r.Prompt)))
	now := m.cfg.now()
	r.Once.From = ""
	model, err := chosenModel(m.cfg, r.Agent, r.Model, r.Once)
	if err != nil {
		return thread.Thread{}, err
	}
	if !r.Once.On {
		r.Once.Budget = thread.Budget{} // the thread's
	}
	return thread.Thread{
		ID: thread.NewID[thread.ID](), Title: thread.Titled(secret.Redact(cmp.Or(r.Name, r.Label))),
		Label: plaintext.Cut(label, 200), Agent: r.Agent, Model: model, Launch: r.Flags,
		Dir: dir, Created: now, Updated: now, Seen: true, MCP: switches,
		Base: base, Once: r.Once, Grants: below(m.registry, r.By, r.Once),
	}, nil
}

// namePart is the text that a new thread's name is made from.
func namePart(r thread.NewRequest) string {
	for _, s := range []string{secret.Redact(r.Name), secret.Redact(r.Label), titleOf(cmp.Or(r.Given.Scope, r.Prompt)), r.Agent} {
		if thread.Slug(s) != thread.Slug("") {
			return s
		}
	}
	return ""
}

// checkFlags rejects flags that must not be stored or cannot be used.
func checkFlags(f thread.Flags) error {
	for _, kv := range f.Env {
		key, _, ok := strings.Cut(kv, "=")
		if !ok || key == "" || strings.ContainsRune(kv, 0) {
			return thread.Kindf(thread.ErrInvalid, "environment variable %q is not KEY=VALUE", key)
		}
		if credential(key) {
			return thread.Hint(
				thread.Kindf(thread.ErrInvalid, "environment variable %s looks like a credential, and flags are stored", key),
				"set it in the server's environment, which is not stored")
		}
	}
	for _, s := range append(append([]string{f.PermissionMode}, f.Args...), f.Program...) {
		if strings.ContainsRune(s, 0) {
			return fmt.Errorf("argument with a NUL byte: %w", thread.ErrInvalid)
		}
	}
	return nil
}

// credential reports whether a variable is named like a credential.
func credential(key string) bool {
	key = strings.ToUpper(key)
	for _, part := range []string{"SECRET", "PASSWORD", "PASSWD", "CREDENTIAL"} {
		if strings.Contains(key, part) {
			return true
		}
	}
	for _, end := range []string{"_KEY", "_TOKEN", "_AUTH", "APIKEY", "_PAT", "_KEY_ID"} {
		if strings.HasSuffix(key, end) {
			return true
		}
	}
	return key == "TOKEN" || key == "KEY" || key == "AUTH"
}

// place stores a new thread where it is to work: in its folder, or in its own worktree if it asks for one or others use
// the folder.
func (m *Creation) place(ctx context.Context, t thread.Thread, r thread.NewRequest) (*run, error) {
	if r.Worktree {
		return m.createWithWorktree(ctx, t, namePart(r), m.cfg.Project, nil)
	}
	others, apart := m.apart(t, r)
	if !apart {
		return m.create(ctx, t, namePart(r), false)
	}
	files, err := m.cfg.Worktrees.Take(ctx, t.ID, t.Dir, nil)
	if errors.Is(err, thread.ErrNoRepository) || err == nil && files.Base == "" { // a branch needs a commit to start from
		return m.create(ctx, t, namePart(r), false)
	}
	if err != nil {
		return nil, fmt.Errorf("keep the files of %s: %w", t.Dir, err)
	}
	l, err := m.createWithWorktree(ctx, t, namePart(r), m.cfg.Project, &files)
	if err != nil {
		return nil, err
	}
	if len(others) > 0 {
		m.notices.post(l.live.id, thread.LevelInfo, "%s works in its own worktree %s, because %s is already using %s",
			l.live.thread().DisplayName(), l.live.thread().Dir, strings.Join(others, ", "), t.Dir)
	}
	return l, nil
}

// apart decides whether a new thread gets a worktree without asking for one, and names the threads that use its folder.
func (m *Creation) apart(t thread.Thread, r thread.NewRequest) (others []string, apart bool) {
	if r.InPlace || m.cfg.Worktrees == nil || m.cfg.NewWorktree == WorktreeNever {
		return nil, false
	}
	if r.Once.On {
		return nil, !r.Once.ReadOnly // several write at once, and nobody looks
	}
	others = m.registry.index.sharing(t)
	return others, m.cfg.NewWorktree == WorktreeAlways || len(others) > 0
}

// create stores a thread under an unused name. With busy its setup begins at once; see registry.show.
func (m *Creation) create(ctx context.Context, t thread.Thread, label string, busy bool) (*run, error) {
	for range 100 {
		t.Name = thread.NewName(label)
		err := m.cfg.Store.CreateThread(ctx, t)
		if errors.Is(err, thread.ErrNameTaken) {
			continue // 65,536 names per slug
		}
		if err != nil {
			return nil, fmt.Errorf("store the thread: %w", err)
		}
		return m.registry.show(t, busy), nil
	}
	return nil, fmt.Errorf("choose a name for %q: %w", thread.Slug(label), thread.ErrNameTaken)
}

// createWithWorktree is create with a worktree at a snapshot of the thread's folder, taken now if at is nil. root is
// the folder that the worktree stands in for. The next Open repairs what a crash in between leaves.
func (m *Creation) createWithWorktree(
	ctx context.Context, t thread.Thread, label, root string, at *thread.Snapshot,
) (*run, error) {
	if at == nil {
		s, err := m.cfg.Worktrees.Take(ctx, t.ID, t.Dir, nil)
		if err != nil {
			return nil, fmt.Errorf("keep the files of %s: %w", t.Dir, err)
		}
		at = &s
	}
	intent, err := m.intents.begin(ctx, intentFork, t.ID, struct{}{})
	if err != nil {
		return nil, err
	}
	failpoint.Hit("thread.fork.intended")
	l, err := m.create(ctx, t, label, true) // it works in its parent's folder as long as it has none
	if err != nil {
		return nil, errors.Join(err, m.intents.settle(ctx, intent))
	}
	failpoint.Hit("thread.fork.created")
	repo := t.Dir
	if root != m.cfg.Project { // a worktree of the same repository, which may be removed at any moment
		repo = m.cfg.Project
	}
	w, err := m.cfg.Worktrees.Add(ctx, t.ID, repo, l.live.thread().Name, *at)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("create the worktree: %w", err), m.takeBackFork(ctx, t.ID), m.intents.settle(ctx, intent))
	}
	failpoint.Hit("thread.fork.added")
	dir := subDir(root, t.Dir, w.Path)
	var setup thread.Setup
	if m.cfg.Setup != nil {
		setup.State = thread.SetupRuns
	}
	err = l.inTurn(ctx, func(t *thread.Thread) error {
		t.Worktree, t.Dir, t.Setup = w, dir, setup
		return nil
	})
	if err != nil {
		l.endSetup()
		return nil, fmt.Errorf("store the worktree: %w", err)
	}
	failpoint.Hit("thread.fork.stored")
	if err := m.intents.settle(ctx, intent); err != nil {
		l.endSetup()
		return nil, err
	}
	_ = l.runSetup(l.inTurn) // failures are reported and stored; the worktree can be used
	return l, nil
}

// takeBackFork removes a thread that never had anything of its own.
func (m *Creation) takeBackFork(ctx context.Context, id thread.ID) error {
	if l := m.registry.run(id); l != nil {
		m.registry.drop(l)
		m.bus.Publish(thread.Event{At: m.cfg.now(), Kind: thread.EventRemoved, ThreadID: id})
	}
	if err := m.cfg.Store.PurgeThread(ctx, id); err != nil && !errors.Is(err, thread.ErrNotFound) {
		return fmt.Errorf("roll back the new thread: %w", err)
	}
	return m.cfg.forgetFiles(ctx, id)
}
