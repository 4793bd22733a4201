package thread_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"orchestrator/checkpoint/memory"
	"orchestrator/thread"
)

// world is everything outside the Manager, as a test sees it. Tests run in a synctest bubble: time
// is virtual and settle waits until nothing moves.
type world struct {
	t       *testing.T
	dir     string
	store   *failing
	agents  map[string]thread.Agent
	natives *natives
	sess    *sessions
	trees   *worktrees
	cfg     thread.ManagerConfig
	m       *thread.Manager
	events  *log
	stop    context.CancelFunc
}

// inWorld runs a test in a bubble with a Manager that is open.
func inWorld(t *testing.T, test func(w *world), configure ...func(*world)) {
	t.Helper()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		n := &natives{files: map[string][]byte{}}
		w := &world{
			t: t, dir: dir, store: &failing{Store: memory.New(), fuse: &fuse{}}, natives: n,
			sess: &sessions{}, trees: &worktrees{root: dir},
		}
		w.trees.fuse = w.store.fuse
		w.agents = map[string]thread.Agent{
			"claude": &fullAgent{plainAgent{"claude"}, n},
			"codex":  &fullAgent{plainAgent{"codex"}, n},
			"plain":  &plainAgent{"plain"},
		}
		w.cfg = thread.ManagerConfig{
			Project: dir, StateDir: dir + "/.state", Agents: agents(w.agents),
			Reader: reader{},
		}
		for _, c := range configure {
			c(w)
		}
		w.open()
		defer func() { w.close() }()
		test(w)
	})
}

// open makes a Manager over the stored things and opens it.
func (w *world) open() {
	w.t.Helper()
	cfg := w.cfg
	cfg.Store, cfg.Sessions = w.store, w.sess
	if cfg.Worktrees == nil && w.trees != nil {
		cfg.Worktrees = mortal{w.trees}
	}
	w.m = thread.New(cfg)
	w.m.Gateway = gateway{}
	ctx, stop := context.WithCancel(context.Background())
	w.stop = stop
	ch, err := w.m.Events(ctx)
	if err != nil {
		w.t.Fatal(err)
	}
	w.events = &log{}
	go w.events.read(ch)
	if err := w.m.Open(ctx); err != nil {
		w.t.Fatalf("Open: %v", err)
	}
	synctest.Wait()
}

func (w *world) close() {
	w.t.Helper()
	if err := w.m.Close(context.Background()); err != nil {
		w.t.Errorf("Close: %v", err)
	}
	w.stop()
	synctest.Wait()
}

// crash forgets the Manager as a kill -9 does: the store and the native files stay.
func (w *world) crash() {
	w.t.Helper()
	w.store.fuse.blow() // whatever the old one still does has no effect
	w.trees.fuse.blow()
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	_ = w.m.Close(cancelled)
	w.stop()
	synctest.Wait()
	w.store = &failing{Store: w.store.Store, fuse: &fuse{}}
	w.trees.fuse = w.store.fuse
	w.sess.forget()
	w.open()
}

// create makes a thread and starts it.
func (w *world) create(r thread.NewRequest) thread.Status {
	w.t.Helper()
	if r.Agent == "" {
		r.Agent = "claude"
	}
	s, err := w.m.New(context.Background(), r)
	if err != nil {
		w.t.Fatalf("New: %v", err)
	}
	synctest.Wait()
	return w.status(s.ID)
}

// status returns a thread as it is listed.
func (w *world) status(id thread.ID) thread.Status {
	w.t.Helper()
	list, err := w.m.List(context.Background())
	if err != nil {
		w.t.Fatal(err)
	}
	for _, s := range list {
		if s.ID == id {
			return s
		}
	}
	w.t.Fatalf("thread %s is not listed", id)
	return thread.Status{}
}

// turn lets a thread's agent take a prompt and answer it, with one tool call before the answer.
func (w *world) turn(id thread.ID, prompt string) {
	w.t.Helper()
	w.respond(id, prompt, "call", false)
	w.respond(id, prompt, "answer to "+prompt, true)
}

// respond lets a thread's agent get one model response.
func (w *world) respond(id thread.ID, prompt, text string, ends bool) {
	w.t.Helper()
	s := w.status(id)
	conv := w.natives.conversation(s.Session)
	items := append(conv, item("user", prompt))
	if n := len(conv); n > 0 && strings.Contains(string(conv[n-1].Raw), `"call"`) {
		items = append(conv, item("user", "result"))
	}
	w.m.RequestStarted(id, true, "m1")
	answer := item("assistant", text)
	w.natives.append(s.Session, append(items[len(conv):], answer))
	e := thread.Exchange{
		Main: true, Model: "m1", Session: s.Session, Status: 200, Started: time.Now(), Ended: time.Now(),
		Items: items, Answer: &answer, Prompt: prompt, Text: text, Stop: "tool_use",
		Usage: thread.Usage{Input: 10, Output: 5, CostUSD: 0.25, Priced: true}, Window: 200, EndsTurn: ends,
	}
	if ends {
		e.Stop = "end_turn"
	} else {
		e.Tools = []string{"Bash"}
	}
	w.m.ExchangeEnded(id, e)
	synctest.Wait()
}

func item(role, text string) thread.Item {
	raw, err := json.Marshal(map[string]string{"role": role, "text": text})
	if err != nil {
		panic(err)
	}
	return thread.Item{Wire: "test", Raw: raw}
}

// texts returns what a conversation says, for comparison.
func texts(items []thread.Item) string {
	var out []string
	for _, it := range items {
		var m map[string]string
		if err := json.Unmarshal(it.Raw, &m); err != nil {
			panic(err)
		}
		out = append(out, m["text"])
	}
	return strings.Join(out, "|")
}

// log collects events.
type log struct {
	mu   sync.Mutex // guards list
	list []thread.Event
}

func (l *log) read(ch <-chan thread.Event) {
	for e := range ch {
		l.mu.Lock()
		l.list = append(l.list, e)
		l.mu.Unlock()
	}
}

// of returns the events of a kind so far.
// offers returns the forks that threads were shown to be offered, each once.
func (l *log) offers() []*thread.Offer {
	var all []*thread.Offer
	for _, e := range l.of(thread.EventThread) {
		o := e.Status.Offer
		if o != nil && !slices.ContainsFunc(all, func(p *thread.Offer) bool { return p.ID == o.ID }) {
			all = append(all, o)
		}
	}
	return all
}

func (l *log) of(kind thread.EventKind) []thread.Event {
	synctest.Wait()
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []thread.Event
	for _, e := range l.list {
		if e.Kind == kind {
			out = append(out, e)
		}
	}
	return out
}

// notices returns the texts that people were told.
func (l *log) notices() string {
	var out []string
	for _, e := range l.of(thread.EventNotice) {
		out = append(out, e.Notice.Text)
	}
	return strings.Join(out, "\n")
}

// states returns the states a thread showed, one after the other.
func (l *log) states(id thread.ID) string {
	var out []string
	for _, e := range l.of(thread.EventThread) {
		if e.ThreadID != id {
			continue
		}
		if s := string(e.Status.State.State); len(out) == 0 || out[len(out)-1] != s {
			out = append(out, s)
		}
	}
	return strings.Join(out, " ")
}

// agents finds agents in a map.
type agents map[string]thread.Agent

func (a agents) Agent(name string) (thread.Agent, error) {
	if g := a[name]; g != nil {
		return g, nil
	}
	return nil, fmt.Errorf("agent %q: %w", name, thread.ErrNotFound)
}

func (a agents) Names() []string { return nil }

// plainAgent is an agent that can be started and nothing more.
type plainAgent struct{ name string }

func (a *plainAgent) Name() string { return a.name }

func (a *plainAgent) Upstreams([]string) map[string]string {
	return map[string]string{"": "http://up.invalid"}
}

func (a *plainAgent) Launch(_ context.Context, s thread.LaunchSpec) (thread.Launch, error) {
	session := s.Session
	if session == "" && a.name != "plain" {
		session = a.name + "-" + string(thread.NewID[thread.ID]())
	}
	args := []string{"--session", session}
	if s.Resume {
		args = []string{"--resume", session}
	}
	return thread.Launch{Path: "/bin/" + a.name, Args: append(args, s.Flags.Args...), Env: s.Env, Dir: s.Dir, Session: session}, nil
}

// fullAgent keeps native transcripts, which can be read, verified and rebuilt.
type fullAgent struct {
	plainAgent
	n *natives
}

// natives are the native files of all sessions: one JSON item a line.
type natives struct {
	mu      sync.Mutex // guards the fields
	files   map[string][]byte
	rebuilt int
	refuse  error // answer of Rebuild
}

func (n *natives) conversation(session string) []thread.Item {
	n.mu.Lock()
	defer n.mu.Unlock()
	var items []thread.Item
	for line := range strings.Lines(string(n.files[session])) {
		items = append(items, thread.Item{Wire: "test", Raw: json.RawMessage(strings.TrimSpace(line))})
	}
	return items
}

func (n *natives) append(session string, items []thread.Item) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, it := range items {
		n.files[session] = append(append(n.files[session], it.Raw...), '\n')
	}
}

func (n *natives) remove(session string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.files, session)
}

func (n *natives) bytes(session string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return string(n.files[session])
}

func (n *natives) set(session, content string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.files[session] = []byte(content)
}

func (a *fullAgent) ReadTranscript(_ context.Context, s thread.TranscriptSpec) ([]thread.Chunk, error) {
	data := a.n.bytes(s.Session)
	from := int64(0)
	for _, m := range s.Marks {
		sum := sha256.Sum256([]byte(data[:min(int(m.Size), len(data))]))
		if m.File == "main" && hex.EncodeToString(sum[:]) == m.SHA256 {
			from = m.Size
		}
	}
	if int(from) == len(data) {
		return nil, nil
	}
	return []thread.Chunk{{File: "main", Offset: from, Data: []byte(data[from:])}}, nil
}

func (a *fullAgent) Verify(_ context.Context, s thread.TranscriptSpec) (int64, bool, error) {
	data := a.n.bytes(s.Session)
	for _, m := range s.Marks {
		if int(m.Size) > len(data) {
			return int64(len(data)), false, nil
		}
		if sum := sha256.Sum256([]byte(data[:m.Size])); hex.EncodeToString(sum[:]) != m.SHA256 {
			return 0, false, nil
		}
	}
	return s.Marks[0].Size, true, nil
}

func (a *fullAgent) Rebuild(_ context.Context, s thread.RebuildSpec) (string, error) {
	a.n.mu.Lock()
	defer a.n.mu.Unlock()
	if a.n.refuse != nil {
		return "", a.n.refuse
	}
	session := s.Session
	if s.NewSession != "" {
		session = s.NewSession
	}
	if len(a.n.files[session]) > len(s.Files[0].Data) {
		return "", errors.New("the session has more")
	}
	a.n.rebuilt++
	a.n.files[session] = append([]byte(nil), s.Files[0].Data...)
	return session, nil
}

// gateway routes without carrying anything.
type gateway struct{}

func (gateway) Route(id thread.ID, _ string, _ map[string]string) (string, string, error) {
	return "http://127.0.0.1/t/" + string(id), "http://127.0.0.1/h/" + string(id), nil
}
func (gateway) Unroute(thread.ID) {}

// sessions starts fake processes.
type sessions struct {
	mu      sync.Mutex // guards the fields
	running []*session
	refuse  error
	started func(thread.SessionSpec) // sees every start
}

func (s *sessions) Start(_ context.Context, spec thread.SessionSpec) (thread.Session, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.started != nil {
		s.started(spec)
	}
	if s.refuse != nil {
		return nil, s.refuse
	}
	p := &session{spec: spec, done: make(chan struct{})}
	s.running = append(s.running, p)
	return p, nil
}

// of returns the newest process of a thread.
func (s *sessions) of(id thread.ID) *session {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := len(s.running) - 1; i >= 0; i-- {
		if s.running[i].spec.Thread == id {
			return s.running[i]
		}
	}
	return nil
}

// forget loses all processes as when their server dies.
func (s *sessions) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running = nil
}

// session is a fake process: its state is the newest evidence it was told.
type session struct {
	spec thread.SessionSpec
	once sync.Once
	done chan struct{}

	mu    sync.Mutex // guards the fields
	state thread.StateReport
	sent  []string
	heard []thread.Evidence
}

func (p *session) PID() int { return 42 }

func (p *session) State() thread.StateReport {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.state
}

func (p *session) Report(e thread.Evidence) {
	p.mu.Lock()
	p.heard = append(p.heard, e)
	p.state = thread.StateReport{State: e.State, Since: e.At, Evidence: []thread.Evidence{e}}
	r := p.state
	p.mu.Unlock()
	p.spec.OnState(r)
}

func (p *session) Send(_ context.Context, text string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.state.State == thread.StateApproval {
		return thread.ErrApproval
	}
	p.sent = append(p.sent, text)
	return nil
}

func (p *session) prompts() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Join(p.sent, "\n---\n")
}

func (p *session) Input([]byte) error    { return nil }
func (p *session) Resize(int, int) error { return nil }
func (p *session) Done() <-chan struct{} { return p.done }
func (p *session) exit(code int) {
	p.once.Do(func() { close(p.done); p.spec.OnExit(thread.Exit{Code: code}) })
}
func (p *session) Stop(context.Context, time.Duration) error {
	p.exit(143)
	return nil
}

// worktrees keeps folders' contents as strings: the snapshot's tree is the content itself.
type worktrees struct {
	mu      sync.Mutex // guards the fields
	root    string
	content map[string]string // by folder
	removed map[string]bool
	made    map[thread.ID]thread.Worktree
	fail    error
	fuse    *fuse // set anew for each run
	takes   int
	commits map[string]string // content by commit
}

func (w *worktrees) set(dir, content string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.init()
	w.content[dir] = content
}

func (w *worktrees) get(dir string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.content[dir]
}

func (w *worktrees) init() {
	if w.content == nil {
		w.content, w.removed, w.commits = map[string]string{}, map[string]bool{}, map[string]string{}
		w.made = map[thread.ID]thread.Worktree{}
	}
}

func (w *worktrees) Take(_ context.Context, id thread.ID, dir string, prev *thread.Snapshot) (thread.Snapshot, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.init()
	if w.fail != nil {
		return thread.Snapshot{}, w.fail
	}
	w.takes++
	c := w.content[dir]
	if prev != nil && prev.Tree == c {
		return *prev, nil
	}
	commit := fmt.Sprintf("%s-%d", id, w.takes)
	w.commits[commit] = c
	return thread.Snapshot{Commit: commit, Tree: c, Base: "base", Files: 1}, nil
}

func (w *worktrees) Add(_ context.Context, id thread.ID, _, name string, at thread.Snapshot) (thread.Worktree, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.init()
	if w.fail != nil {
		return thread.Worktree{}, w.fail
	}
	path := w.root + "/wt-" + name
	if err := mkdir(path); err != nil {
		return thread.Worktree{}, err
	}
	w.content[path] = w.commits[at.Commit]
	delete(w.removed, path)
	w.made[id] = thread.Worktree{Path: path, Branch: "orchestrator/" + name, Base: at.Base}
	return w.made[id], nil
}

func (w *worktrees) Remove(_ context.Context, id thread.ID, t thread.Worktree) (thread.Snapshot, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.init()
	w.commits["saved-"+string(id)] = w.content[t.Path]
	w.removed[t.Path] = true
	delete(w.content, t.Path)
	return thread.Snapshot{Commit: "saved-" + string(id)}, rmdir(t.Path)
}

func (w *worktrees) Restore(_ context.Context, id thread.ID, dir string, at thread.Snapshot) (thread.Snapshot, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.init()
	old := w.content[dir]
	w.takes++
	commit := fmt.Sprintf("safety-%s-%d", id, w.takes)
	w.commits[commit] = old
	w.content[dir] = w.commits[at.Commit]
	return thread.Snapshot{Commit: commit, Tree: old}, nil
}

func (w *worktrees) Drop(context.Context, thread.ID) error         { return nil }
func (w *worktrees) Repair(context.Context) ([]string, error)      { return nil, nil }
func (w *worktrees) Describe(_ context.Context, dir string) string { return "clean" }

// reader reads the test's wire format.
type reader struct{}

func (reader) Entries(items []thread.Item) []thread.Entry {
	var out []thread.Entry
	for _, it := range items {
		var m map[string]string
		if err := json.Unmarshal(it.Raw, &m); err != nil {
			out = append(out, thread.Entry{Kind: thread.EntryAnswer, Text: "unreadable"})
			continue
		}
		kind := thread.EntryAnswer
		switch {
		case m["role"] == "user" && (m["text"] == "result" || strings.HasPrefix(m["text"], "failed: ")):
			kind = thread.EntryResult
		case m["role"] == "user":
			kind = thread.EntryPrompt
		case m["text"] == "call":
			kind = thread.EntryCall
		}
		out = append(out, thread.Entry{Kind: kind, Text: m["text"], Tool: m["tool"], Error: strings.HasPrefix(m["text"], "failed: ")})
	}
	return out
}
