package mcpctl_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"orchestrator/mcpctl"
	"orchestrator/thread"
	"orchestrator/thread/ground/await"
)

// TestReport holds the numbers of a report.
func TestReport(t *testing.T) {
	r := newRig(t, func(r *rig, cfg *mcpctl.Config) {
		cfg.Tokens = func(string) int { return 10 }
		cfg.CacheCost = func(thread.ID) (int64, float64) { return 5000, 0.25 }
		r.own(conf{"a": r.fake("a", "tools=5"), "b": with(r.fake("b"), "taskPatterns", []string{"zzz"}),
			"shared": with(r.fake("shared"), "x-orchestrator", map[string]any{"share": "project"})})
	})
	before := r.report("t1")
	if before.Tokens != 0 || before.All != 0 || before.Takes != "" || len(before.Outside) != 1 {
		t.Errorf("%+v", before)
	}
	r.mustFlip("t1", "b", true)
	r.ready("a")
	r.ready("b")
	r.mustFlip("t1", "b", false)
	rep := r.report("t1")
	a, b := r.server("t1", "a"), r.server("t1", "b")
	if a.Tools != b.Tools+5 || a.Tokens != int64(10*a.ToolsOn) || a.ToolsOn != a.Tools-1 {
		t.Errorf("a has %d tools, %d on, %d tokens; b has %d", a.Tools, a.ToolsOn, a.Tokens, b.Tools)
	}
	if rep.Tokens != a.Tokens || rep.All != a.Tokens+b.Tokens {
		t.Errorf("tokens %d of %d; a %d, b %d", rep.Tokens, rep.All, a.Tokens, b.Tokens)
	}
	if a.Memory <= 0 || a.Starts != 1 || a.PID != r.starts("a")[0] || a.Called.IsZero() || a.CallMS <= 0 || a.State != "ready" || a.Share != "thread" {
		t.Errorf("a: %+v", a)
	}
	if s := r.server("t1", "shared"); s.Share != "project" || s.State != "cold" || s.Known {
		t.Errorf("shared: %+v", s)
	}
	// Another thread's process is not this one's.
	r.threads.add("t2", "claude", r.project)
	if s := r.server("t2", "a"); s.PID != 0 || s.State != "cold" || !s.Known {
		t.Errorf("a of t2: %+v", s)
	}
	for _, c := range []struct {
		reach       thread.MCPReach
		told, read  time.Duration // ago; 0 for never
		takes       string
		cacheTokens int64
	}{
		{thread.MCPReach{}, 0, 0, "", 0},
		{thread.MCPReach{Given: true}, 0, 0, "at the next resume", 5000},
		{thread.MCPReach{Given: true, Live: true}, 0, 0, "at once", 5000},
		{thread.MCPReach{Given: true, Live: true, Deferred: true}, 0, 0, "at once", 0},
		{thread.MCPReach{Given: true, Live: true}, time.Minute, 2 * time.Minute, "at the next resume", 5000},
		{thread.MCPReach{Given: true, Live: true}, time.Minute, time.Second, "at once", 5000},
		{thread.MCPReach{Given: true, Live: true}, time.Second, time.Minute, "at once", 5000},
	} {
		ago := func(d time.Duration) time.Time {
			if d == 0 {
				return time.Time{}
			}
			return time.Now().Add(-d)
		}
		r.agents.follow(ago(c.told), ago(c.read))
		c.reach.Outside = []string{"plugins"}
		r.Launched("t1", c.reach)
		rep, outside := r.report("t1"), []string{"plugins"}
		if c.takes == "" {
			outside = append(outside, "this agent does not use our MCP servers")
		}
		if rep.Takes != c.takes || rep.CacheTokens != c.cacheTokens || !slices.Equal(rep.Outside, outside) {
			t.Errorf("%+v: %q, %d tokens, %v", c, rep.Takes, rep.CacheTokens, rep.Outside)
		}
	}
	delete(r.threads.all, "t2")
	if _, err := r.Report(context.Background(), thread.MCPQuery{Thread: "t2"}); !errors.Is(err, thread.ErrNotFound) {
		t.Errorf("a thread that there is not: %v", err)
	}
}

// TestKeptTools: where an agent goes on showing its model what it has shown it, a server that is off says so, and one of
// which tools are off, but only if the agent was given them.
func TestKeptTools(t *testing.T) {
	const keeps = "it goes on showing them"
	r := newRig(t, func(r *rig, _ *mcpctl.Config) { r.own(conf{"a": r.fake("a")}) })
	r.ready("a")
	for _, c := range []struct {
		name  string
		keeps string
		given []string
		on    bool
		tool  string // that is off
		want  string
	}{
		{"off, never given", keeps, nil, false, "", ""},
		{"off, given", keeps, []string{"a", "a/echo"}, false, "", keeps},
		{"off, of an agent that drops them", "", []string{"a", "a/echo"}, false, "", ""},
		{"on, given", keeps, []string{"a", "a/echo"}, true, "", ""},
		{"a tool is off, given", keeps, []string{"a", "a/echo"}, true, "echo", keeps},
		{"a tool is off, never given", keeps, []string{"a", "a/large"}, true, "echo", ""},
		{"another server was given", keeps, []string{"b", "b/echo"}, false, "", ""},
		{"off, and a tool was off before it was given", keeps, []string{"a", "a/large"}, false, "echo", keeps},
	} {
		r.Launched("t1", thread.MCPReach{Given: true, Live: true, Keeps: c.keeps})
		r.agents.give(c.given...)
		r.mustFlip("t1", "a", true)
		if c.tool != "" {
			if _, err := r.Switch(context.Background(), thread.MCPChange{Thread: "t1", Server: "a", Tool: c.tool}); err != nil {
				t.Fatal(err)
			}
		}
		r.mustFlip("t1", "a", c.on)
		if got := r.server("t1", "a").Kept; got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
		if c.tool != "" {
			if _, err := r.Switch(context.Background(), thread.MCPChange{Thread: "t1", Server: "a", Tool: c.tool, On: true}); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestHealthDoesNotChangeLists kills a server: its tools stay, and the next call is answered by a new process.
func TestHealthDoesNotChangeLists(t *testing.T) {
	r := newRig(t, func(r *rig, _ *mcpctl.Config) { r.own(conf{"a": r.fake("a")}) })
	r.ready("a")
	before := r.tools("t1")
	told := r.agents.tellings("t1")
	kill(t, r.starts("a")[0])
	await.Until(r, "the panel says so", func() bool { return r.server("t1", "a").State != "ready" })
	if now := r.tools("t1"); !slices.Equal(now, before) {
		t.Errorf("tools: %v", now)
	}
	if s := r.server("t1", "a"); !s.On || s.Tokens == 0 || s.Reason == "" {
		t.Errorf("a: %+v", s)
	}
	began := time.Now()
	r.must("t1", "a", "echo")
	if took := time.Since(began); took > 2*time.Second {
		t.Errorf("the next call took %v", took)
	}
	if now := r.tools("t1"); !slices.Equal(now, before) || r.agents.tellings("t1") != told {
		t.Errorf("told %d times; tools: %v", r.agents.tellings("t1")-told, now)
	}
}

// TestFilesChange reads files again that change, break and go.
func TestFilesChange(t *testing.T) {
	r := newRig(t, func(r *rig, _ *mcpctl.Config) { r.own(conf{"a": r.fake("a"), "b": r.fake("b")}) })
	own := filepath.Join(r.home, ".config", "orchestrator", "mcp.json")
	if got := r.on("t1"); got != "a b" {
		t.Fatalf("on: %s", got)
	}
	r.ready("a")
	told := r.agents.tellings("t1")
	r.look()
	if r.agents.tellings("t1") != told {
		t.Error("the agent is told of no change")
	}
	r.put(own, []byte(`{"mcpServers": {"a": `))
	r.look()
	if rep := r.report("t1"); len(rep.Problems) != 1 || rep.Problems[0].File != own || rep.Problems[0].Line != 1 {
		t.Errorf("problems: %+v", rep.Problems)
	}
	if r.agents.tellings("t1") == told {
		t.Error("the agent is not told")
	}
	r.own(conf{"a": r.fake("a"), "b": r.fake("b"), "late": r.fake("late")})
	r.look()
	if got := r.on("t1"); got != "a b" { // what is added later is asked about
		t.Errorf("on: %s", got)
	}
	r.must("t1", "a", "echo")
	if err := os.Remove(own); err != nil {
		t.Fatal(err)
	}
	r.look()
	if got := r.on("t1"); got != "" || len(r.tools("t1")) > 0 {
		t.Errorf("on: %s", got)
	}
	if _, err := r.call("t1", "a", "echo"); err == nil {
		t.Error("a server that is not configured any more takes calls")
	}
	if err := os.MkdirAll(own, 0o700); err != nil { // a folder of that name
		t.Fatal(err)
	}
	r.look()
	r.report("t1")
}

// TestManyServers stays usable with a file of 10,000 servers.
func TestManyServers(t *testing.T) {
	const n = 10_000
	r := newRig(t, func(r *rig, _ *mcpctl.Config) {
		c := conf{}
		for i := range n {
			c[fmt.Sprintf("s%05d", i)] = map[string]any{"command": "/bin/cat", "taskPatterns": []string{fmt.Sprintf("word%05d", i)}}
		}
		r.repository(c)
	})
	began := time.Now()
	rep := r.report("t1")
	first := time.Since(began)
	if len(rep.Servers) == 0 || len(rep.Servers) < n && len(rep.Problems) == 0 {
		t.Fatalf("%d servers, %d problems", len(rep.Servers), len(rep.Problems))
	}
	began = time.Now()
	r.report("t1")
	again := time.Since(began)
	began = time.Now()
	r.Prompt("t1", strings.Repeat("word00007 and others ", 100))
	prompt := time.Since(began)
	t.Logf("%d servers, %d problems; first %v, again %v, prompt %v", len(rep.Servers), len(rep.Problems), first, again, prompt)
	if first > 5*time.Second || again > time.Second || prompt > 2*time.Second {
		t.Error("too slow")
	}
}
