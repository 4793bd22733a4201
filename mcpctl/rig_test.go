package mcpctl_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"orchestrator/mcpctl"
	"orchestrator/mcpctl/discovery"
	"orchestrator/mcpctl/gateway"
	"orchestrator/mcpctl/hub"
	"orchestrator/mcpctl/manifest"
	"orchestrator/mcpctl/match"
	"orchestrator/mcpctl/mcptest"
	"orchestrator/mcpctl/process"
	"orchestrator/mcpctl/trust"
	"orchestrator/thread"
	"orchestrator/thread/frozen"
	"orchestrator/thread/frozen/frozentest"
	"orchestrator/thread/ground/await"
	"orchestrator/thread/private"
)

func TestMain(m *testing.M) {
	mcptest.Main()
	goleak.VerifyTestMain(m)
}

// rig is a Controller over real files, a real hub and real processes.
type rig struct {
	testing.TB
	*mcpctl.Controller
	project, home, state string
	word                 string // a file with what a server says
	threads              *threads
	agents               *agents
	trust                *trust.Store
	memory               *match.Memory
	log                  *syncBuffer
}

// conf are servers of a file, by name.
type conf map[string]map[string]any

// fake is a fake server with some modes. Its starts are in the file of its name.
func (r *rig) fake(name string, mode ...string) map[string]any {
	cmd, args, env := mcptest.Command(append([]string{"starts=" + r.witness(name)}, mode...)...)
	k, v, _ := strings.Cut(env[0], "=")
	return map[string]any{"command": cmd, "args": args, "env": map[string]any{k: v}}
}

// with returns a server with one more setting.
func with(server map[string]any, key string, value any) map[string]any {
	server[key] = value
	return server
}

// witness is the file with the pids of a fake server's starts.
func (r *rig) witness(name string) string { return filepath.Join(r.state, "starts-"+name) }

// starts returns the pids of a fake server's starts.
func (r *rig) starts(name string) (pids []int) {
	b, _ := os.ReadFile(r.witness(name))
	for _, line := range strings.Fields(string(b)) {
		pid, err := strconv.Atoi(line)
		if err != nil {
			r.Fatal(err)
		}
		pids = append(pids, pid)
	}
	return pids
}

// newRig makes a rig. prepare writes the files that are there before the Controller is, and may change its configuration.
func newRig(t testing.TB, prepare func(*rig, *mcpctl.Config)) *rig {
	t.Helper()
	base := t.TempDir()
	r := &rig{TB: t, project: filepath.Join(base, "project"), home: filepath.Join(base, "home"),
		state: filepath.Join(base, "state"), threads: newThreads(), agents: &agents{}, log: &syncBuffer{}}
	for _, dir := range []string{r.project, r.home, r.state} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	frozentest.Removable(t, r.state)
	host, err := process.New(filepath.Join(r.state, "mcp"), 0)
	if err != nil {
		t.Fatal(err)
	}
	cache, err := manifest.OpenCache(filepath.Join(r.state, "mcp"))
	if err != nil {
		t.Fatal(err)
	}
	folder, err := private.Make(r.state, "tasks")
	if err != nil {
		t.Fatal(err)
	}
	if r.memory, err = match.OpenMemory(folder, "tasks"); err != nil {
		t.Fatal(err)
	}
	copies, err := frozen.Open(r.state, "accepted")
	if err != nil {
		t.Fatal(err)
	}
	r.trust = trust.Open(filepath.Join(r.state, "trust"))
	cfg := mcpctl.Config{
		Project: r.project, Places: discovery.Places{Project: r.project, Home: r.home},
		Trust: r.trust, Copies: copies, Threads: r.threads, Memory: r.memory,
		Env: []string{"PATH=/usr/bin:/bin", "HOME=" + r.home},
		Hub: hub.Config{Processes: host, Manifests: cache, Jitter: func() float64 { return 0 }},
		Log: slog.New(slog.NewTextHandler(r.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}
	if prepare != nil {
		prepare(r, &cfg)
	}
	r.Controller = mcpctl.New(cfg)
	r.Use(r.agents)
	t.Cleanup(func() {
		for _, err := range []error{r.Close(context.Background()), host.Close(), cache.Close(), folder.Close(), copies.Close()} {
			if err != nil {
				t.Error(err)
			}
		}
	})
	r.threads.add("t1", "claude", r.project)
	return r
}

// repository writes what the repository configures, own what the person does for all agents.
func (r *rig) repository(c conf) { r.write(filepath.Join(r.project, ".mcp.json"), c) }

func (r *rig) own(c conf) {
	r.write(filepath.Join(r.home, ".config", "orchestrator", "mcp.json"), c)
}

func (r *rig) write(path string, c conf) {
	r.Helper()
	b, err := json.MarshalIndent(map[string]any{"mcpServers": c}, "", " ")
	if err != nil {
		r.Fatal(err)
	}
	r.put(path, b)
}

func (r *rig) put(path string, content []byte) {
	r.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		r.Fatal(err)
	}
	if err := os.WriteFile(path, content, 0o600); err != nil {
		r.Fatal(err)
	}
}

func (r *rig) executable(path string) {
	r.Helper()
	if err := os.Chmod(path, 0o700); err != nil {
		r.Fatal(err)
	}
}

// look reads the files again, as the Controller does by itself after a while.
func (r *rig) look() { r.Launch(thread.Thread{ID: "nobody"}) }

// report returns the report for a thread.
func (r *rig) report(id string) thread.MCPReport {
	r.Helper()
	rep, err := r.Report(context.Background(), thread.MCPQuery{Thread: id})
	if err != nil {
		r.Fatal(err)
	}
	return rep
}

// server returns a server as a thread has it.
func (r *rig) server(id, server string) thread.MCPServer {
	r.Helper()
	for _, s := range r.report(id).Servers {
		if s.ID == server {
			return s
		}
	}
	r.Fatalf("no server %s", server)
	return thread.MCPServer{}
}

func (r *rig) detail(id, server string) thread.MCPDetail {
	r.Helper()
	d, err := r.Detail(context.Background(), thread.MCPAct{Server: server, Thread: id})
	if err != nil {
		r.Fatal(err)
	}
	return d
}

// approve accepts a server as it is.
func (r *rig) approve(server string) {
	r.Helper()
	if err := r.act(mcpctl.ActApprove, server, r.detail("", server).Hash); err != nil {
		r.Fatal(err)
	}
}

func (r *rig) act(act, server, hash string) error {
	_, err := r.Act(context.Background(), thread.MCPAct{Act: act, Server: server, Hash: hash})
	return err
}

// flip switches a server.
func (r *rig) flip(id, server string, on bool) error {
	_, err := r.Switch(context.Background(), thread.MCPChange{Thread: id, Server: server, On: on})
	return err
}

func (r *rig) mustFlip(id, server string, on bool) {
	r.Helper()
	if err := r.flip(id, server, on); err != nil {
		r.Fatal(err)
	}
}

// tools are the tools that an agent gets, as server/tool.
func (r *rig) tools(id thread.ID) (all []string) {
	for _, s := range r.On(id) {
		for _, t := range s.Tools {
			all = append(all, s.ID+"/"+t.Name)
		}
	}
	return all
}

// on are the servers that are on for a thread.
func (r *rig) on(id string) string {
	r.Helper()
	var on []string
	for _, s := range r.report(id).Servers {
		if s.On {
			on = append(on, s.ID)
		}
	}
	return strings.Join(on, " ")
}

// call calls a tool as a thread's agent does.
func (r *rig) call(id thread.ID, server, tool string) (string, error) {
	return r.callIn(id, r.project, server, tool)
}

// callIn is call for a thread with a folder of its own.
func (r *rig) callIn(id thread.ID, dir, server, tool string) (string, error) {
	if why := r.Off(id, server, tool); why != "" {
		return "", errors.New(why)
	}
	result, err := r.Call(context.Background(), server, caller{id, dir}, "tools/call",
		json.RawMessage(fmt.Sprintf(`{"name":%q,"arguments":{}}`, tool)))
	if err != nil {
		return "", err
	}
	var res struct{ Content []struct{ Text string } }
	if err := json.Unmarshal(result, &res); err != nil || len(res.Content) == 0 {
		return "", fmt.Errorf("result %s: %w", result, err)
	}
	return res.Content[0].Text, nil
}

func (r *rig) must(id thread.ID, server, tool string) string {
	r.Helper()
	text, err := r.call(id, server, tool)
	if err != nil {
		r.Fatalf("%s of %s: %v", tool, server, err)
	}
	return text
}

// ready starts a server for thread t1, and waits for its lists.
func (r *rig) ready(server string) {
	r.Helper()
	r.must("t1", server, "echo")
	await.Until(r, "the lists of "+server, func() bool { return r.server("t1", server).Known })
}

// alive reports whether a process runs.
func alive(pid int) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !strings.Contains(string(b), ") Z ") && !strings.Contains(string(b), ") X ")
}

func kill(t testing.TB, pid int) {
	t.Helper()
	if pid <= 1 {
		t.Fatalf("no process to kill: %d", pid)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
}

// caller is a thread's agent that calls.
type caller struct {
	id  thread.ID
	dir string
}

func (c caller) Thread() thread.ID        { return c.id }
func (c caller) Dir() string              { return c.dir }
func (c caller) Progress(json.RawMessage) {}
func (c caller) Ask(context.Context, string, json.RawMessage) (json.RawMessage, error) {
	return nil, errors.New("nobody is asked here")
}

var _ gateway.Caller = caller{}

// threads are the threads of the project, as far as the Controller sees them.
type threads struct {
	mu        sync.Mutex
	all       map[thread.ID]thread.Thread
	working   map[thread.ID]bool
	refusal   error  // of SetMCP
	storing   func() // called in SetMCP
	stored    int
	suggested []string // thread server why
	changed   int
	prompts   []string
	notices   []string
	environs  map[thread.ID][]string
}

func newThreads() *threads {
	return &threads{all: map[thread.ID]thread.Thread{}, working: map[thread.ID]bool{}}
}

func (t *threads) add(id thread.ID, agent, dir string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.all[id] = thread.Thread{ID: id, Agent: agent, Dir: dir}
}

// change changes a thread past the Controller.
func (t *threads) change(id thread.ID, s thread.MCPSwitches) {
	t.mu.Lock()
	defer t.mu.Unlock()
	one := t.all[id]
	one.MCP = s
	t.all[id] = one
}

// stores is what is stored for thread t1.
func (t *threads) stores() thread.MCPSwitches {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.all["t1"].MCP.Clone()
}

// work says whether a turn of thread t1 is running.
func (t *threads) work(working bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.working["t1"] = working
}

func (t *threads) refuse(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.refusal = err
}

func (t *threads) offers() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.suggested)
}

// Find implements mcpctl.Threads, and so do the methods below.
func (t *threads) Find(ref string) (thread.Thread, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	one, ok := t.all[thread.ID(ref)]
	if !ok {
		return thread.Thread{}, fmt.Errorf("thread %q: %w", ref, thread.ErrNotFound)
	}
	one.MCP = one.MCP.Clone()
	return one, nil
}

func (t *threads) Environ(id thread.ID) []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.environs[id]
}

// bring has the agent of a thread be started in an environment.
func (t *threads) bring(id thread.ID, env []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.environs == nil {
		t.environs = map[thread.ID][]string{}
	}
	t.environs[id] = env
}

func (t *threads) Working(id thread.ID) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.working[id]
}

func (t *threads) Running() (ids []thread.ID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for id := range t.all {
		ids = append(ids, id)
	}
	return ids
}

func (t *threads) SetMCP(_ context.Context, ref string, next func(thread.MCPSwitches) thread.MCPSwitches) error {
	t.mu.Lock()
	storing := t.storing
	t.mu.Unlock()
	if storing != nil {
		storing()
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.refusal != nil {
		return t.refusal
	}
	one := t.all[thread.ID(ref)]
	one.MCP = next(one.MCP.Clone()).Clone()
	t.all[thread.ID(ref)] = one
	t.stored++
	return nil
}

func (t *threads) Suggest(id thread.ID, server, why string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.suggested = append(t.suggested, fmt.Sprint(id, " ", server, " ", why))
}

func (t *threads) Changed(thread.ID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.changed++
}

func (t *threads) Notice(_ thread.ID, _ thread.Level, text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.notices = append(t.notices, text)
}

// noticed returns what people were told.
func (t *threads) noticed() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.notices)
}

func (t *threads) Prompts(_ context.Context, limit int) ([]string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.prompts[:min(limit, len(t.prompts))]), nil
}

// agents are told of changes. They also say how the agents follow them.
type agents struct {
	mu         sync.Mutex
	told       []thread.ID
	dropped    []thread.ID
	when, read time.Time
	reminded   int
	given      map[string]bool // tools, as server/tool, and servers with a tool
}

func (a *agents) Given(_ thread.ID, server, tool string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if tool != "" {
		server += "/" + tool
	}
	return a.given[server]
}

func (a *agents) give(names ...string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.given = map[string]bool{}
	for _, name := range names {
		a.given[name] = true
	}
}

func (a *agents) Changed(id thread.ID) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.told = append(a.told, id)
}

func (a *agents) Drop(id thread.ID) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.dropped = append(a.dropped, id)
}

func (a *agents) Followed(thread.ID) (told, read time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.when, a.read
}

func (a *agents) Current(thread.ID) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return !a.when.After(a.read)
}

func (a *agents) Remind(thread.ID) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.reminded++
}

func (a *agents) reminders() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.reminded
}

func (a *agents) follow(told, read time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.when, a.read = told, read
}

// tellings is how often a thread's agent was told.
func (a *agents) tellings(id thread.ID) (n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, one := range a.told {
		if one == id {
			n++
		}
	}
	return n
}

// syncBuffer is a buffer for a log.
type syncBuffer struct {
	mu sync.Mutex
	b  strings.Builder
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}
