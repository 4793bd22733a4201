package hub_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"orchestrator/mcpctl/definition"
	"orchestrator/mcpctl/hub"
	"orchestrator/mcpctl/manifest"
	"orchestrator/mcpctl/mcptest"
	"orchestrator/mcpctl/process"
	"orchestrator/thread"
)

// ownerVar makes the test binary a program with a hub, in that folder.
const ownerVar = "HUB_TEST_OWNER"

func TestMain(m *testing.M) {
	mcptest.Main()
	if dir := os.Getenv(ownerVar); dir != "" {
		runOwner(dir)
	}
	goleak.VerifyTestMain(m)
}

// client is a thread that calls.
type client struct {
	id  thread.ID
	dir string
	ask func(method string, params json.RawMessage) (json.RawMessage, error)

	mu       sync.Mutex
	progress []string
}

func (c *client) Thread() thread.ID { return c.id }
func (c *client) Dir() string       { return c.dir }
func (c *client) Progress(p json.RawMessage) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.progress = append(c.progress, string(p))
}
func (c *client) heard() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]string(nil), c.progress...)
}
func (c *client) Ask(_ context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	if c.ask == nil {
		return nil, fmt.Errorf("%s is asked for", method)
	}
	return c.ask(method, params)
}

// rig is a hub with what it needs, and what it has told.
type rig struct {
	testing.TB
	*hub.Hub
	host  *process.Host
	cache *manifest.Cache
	dir   string // of the project and the clients

	mu       sync.Mutex
	launches int
	events   []hub.State
	changed  []string
}

// newRig makes a hub. change may change its configuration.
func newRig(t testing.TB, change func(*hub.Config)) *rig {
	t.Helper()
	state := t.TempDir()
	host, err := process.New(filepath.Join(state, "processes"), 0)
	if err != nil {
		t.Fatal(err)
	}
	cache, err := manifest.OpenCache(filepath.Join(state, "manifests"))
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{TB: t, host: host, cache: cache, dir: t.TempDir()}
	cfg := hub.Config{
		Processes: host, Manifests: cache, Dir: r.dir,
		Launch: launch,
		Event: func(s hub.State) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.events = append(r.events, s)
		},
		Changed: func(hash string) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.changed = append(r.changed, hash)
		},
		Jitter: func() float64 { return 0 },
	}
	if change != nil {
		change(&cfg)
	}
	given := cfg.Launch
	cfg.Launch = func(ctx context.Context, s hub.Server, id thread.ID, dir string) (definition.Launch, []string, error) {
		r.mu.Lock()
		r.launches++
		r.mu.Unlock()
		return given(ctx, s, id, dir)
	}
	r.Hub = hub.New(cfg)
	t.Cleanup(func() {
		if err := r.Close(context.Background()); err != nil {
			t.Error(err)
		}
		if err := host.Close(); err != nil {
			t.Error(err)
		}
		if err := cache.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// launch starts a definition as it is.
func launch(_ context.Context, s hub.Server, _ thread.ID, _ string) (definition.Launch, []string, error) {
	d := s.Definition
	_, _, env := mcptest.Command()
	return definition.Launch{Transport: d.Transport, Command: d.Command, Args: d.Args}, append(env, "PATH=/usr/bin:/bin"), nil
}

func (r *rig) seen() (launches int, events []hub.State, changed []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.launches, append([]hub.State(nil), r.events...), append([]string(nil), r.changed...)
}

// statuses are the statuses that were told of a hash.
func (r *rig) statuses(hash string) string {
	_, events, _ := r.seen()
	var all []string
	for _, e := range events {
		if e.Hash == hash {
			all = append(all, string(e.Status))
		}
	}
	return strings.Join(all, " ")
}

// server is a fake server with some modes.
func server(mode ...string) hub.Server {
	cmd, args, _ := mcptest.Command(mode...)
	return hub.Server{
		ID: "fake", Hash: strings.Join(mode, " "),
		Definition: definition.Definition{ID: "fake", Transport: definition.Stdio, Command: cmd, Args: args},
	}
}

func shared(s hub.Server) hub.Server {
	s.Definition.Options.Share = definition.ByProject
	return s
}

func trusted(s hub.Server) hub.Server {
	s.Trusted = true
	return s
}

// by is a client of a thread.
func (r *rig) by(id thread.ID) *client { return &client{id: id, dir: r.dir} }

// call calls a tool.
func (r *rig) call(ctx context.Context, s hub.Server, c hub.Client, tool, args string) (string, error) {
	result, err := r.Call(ctx, s, c, "tools/call", json.RawMessage(fmt.Sprintf(`{"name":%q,"arguments":%s}`, tool, args)))
	if err != nil {
		return "", err
	}
	var res struct{ Content []struct{ Text string } }
	if err := json.Unmarshal(result, &res); err != nil || len(res.Content) == 0 {
		return "", fmt.Errorf("result %s: %w", result, err)
	}
	return res.Content[0].Text, nil
}

// must calls a tool that answers.
func (r *rig) must(s hub.Server, c hub.Client, tool, args string) string {
	r.Helper()
	text, err := r.call(context.Background(), s, c, tool, args)
	if err != nil {
		r.Fatalf("%s: %v", tool, err)
	}
	return text
}

// state returns the only state of a hash.
func (r *rig) state(hash string) hub.State {
	r.Helper()
	for _, s := range r.States() {
		if s.Hash == hash {
			return s
		}
	}
	return hub.State{}
}

// linesIn returns the lines of a file, none if it is missing.
func linesIn(file string) []string {
	b, _ := os.ReadFile(file)
	return strings.FieldsFunc(string(b), func(r rune) bool { return r == '\n' })
}

// running returns how many of the pids in a file run.
func running(file string) (n int) {
	for _, line := range linesIn(file) {
		pid, _ := strconv.Atoi(line)
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err == nil && !strings.Contains(string(b), ") Z ") && !strings.Contains(string(b), ") X ") {
			n++
		}
	}
	return n
}

// stopped reports whether all threads of a process have been stopped by a signal.
func stopped(t testing.TB, pid int) bool {
	t.Helper()
	tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
	if err != nil || len(tasks) == 0 {
		t.Fatalf("%d has no threads: %v", pid, err)
	}
	for _, file := range tasks {
		b, err := os.ReadFile(file)
		if err == nil && !strings.Contains(string(b), ") T ") {
			return false
		}
	}
	return true
}

func kill(t testing.TB, pid int, sig syscall.Signal) {
	t.Helper()
	if pid <= 1 {
		t.Fatalf("no process to signal: %d", pid)
	}
	if err := syscall.Kill(pid, sig); err != nil {
		t.Fatal(err)
	}
}

// clock is a time that a test advances.
type clock struct {
	mu     sync.Mutex
	now    time.Time
	timers []timer
}

type timer struct {
	at time.Time
	c  chan time.Time
}

func newClock() *clock { return &clock{now: time.Unix(1e9, 0)} }

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) After(d time.Duration) <-chan time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := timer{c.now.Add(d), make(chan time.Time, 1)}
	if d <= 0 {
		t.c <- c.now
	} else {
		c.timers = append(c.timers, t)
	}
	return t.c
}

// advance advances the time in small steps, between which others can act on it.
func (c *clock) advance(d time.Duration) {
	const steps = 4
	for range steps {
		c.mu.Lock()
		c.now = c.now.Add(d / steps)
		kept := c.timers[:0]
		for _, t := range c.timers {
			if t.at.After(c.now) {
				kept = append(kept, t)
			} else {
				t.c <- c.now
			}
		}
		c.timers = kept
		c.mu.Unlock()
		time.Sleep(time.Millisecond)
	}
}

// touch makes a file.
func touch(t testing.TB, file string) {
	t.Helper()
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
}

// runOwner is a program with a hub that does not end by itself.
func runOwner(dir string) {
	host, err := process.New(filepath.Join(dir, "processes"), 0)
	if err != nil {
		panic(err)
	}
	cache, err := manifest.OpenCache(filepath.Join(dir, "manifests"))
	if err != nil {
		panic(err)
	}
	h := hub.New(hub.Config{Processes: host, Manifests: cache, Dir: dir, Launch: launch})
	for i := range 3 {
		c := &client{id: thread.ID(fmt.Sprint("t", i)), dir: dir}
		s := server("stubborn", "fork", "starts="+filepath.Join(dir, "starts"))
		if _, err := h.Call(context.Background(), s, c, "ping", nil); err != nil {
			panic(err)
		}
	}
	fmt.Println("started")
	time.Sleep(time.Minute)
	os.Exit(1)
}
