package mcpctl_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"orchestrator/mcpctl"
	"orchestrator/mcpctl/hub"
	"orchestrator/thread"
	"orchestrator/thread/ground/await"
)

// TestDefaults holds which servers are on for an agent before anything is decided.
func TestDefaults(t *testing.T) {
	r := newRig(t, func(r *rig, _ *mcpctl.Config) {
		r.own(conf{"mine": r.fake("mine"), "matched": with(r.fake("matched"), "taskPatterns", []string{"e2e"})})
		r.repository(conf{"repo": r.fake("repo"), "offered": with(r.fake("offered"), "taskPatterns", []string{"db"})})
		r.put(filepath.Join(r.home, ".codex", "config.toml"), []byte("[mcp_servers.codexonly]\ncommand = \"/bin/cat\"\n"))
		r.put(filepath.Join(r.home, ".claude.json"),
			[]byte(`{"mcpServers":{"claudeonly":{"command":"/bin/cat"}}}`))
	})
	r.threads.add("x", "codex", r.project)
	r.threads.add("c", "command", r.project)
	r.report("t1")
	r.approve("repo")
	r.approve("offered")
	for id, want := range map[string]string{
		"t1": "claudeonly mine repo", "x": "codexonly mine repo", "c": "mine repo",
	} {
		if got := r.on(id); got != want {
			t.Errorf("on for %s: %s, want %s", id, got, want)
		}
	}
	if s := r.server("t1", "repo"); s.By != thread.MCPDefault || s.Why != "" {
		t.Errorf("repo is on by %q as %q", s.By, s.Why)
	}
	if got := thread.MCPNames(r.Enabled("t1")); strings.Join(got, " ") != "claudeonly mine repo" {
		t.Errorf("enabled: %v", got)
	}
}

// TestSwitch switches servers and tools, and holds what is stored and who is told.
func TestSwitch(t *testing.T) {
	r := newRig(t, func(r *rig, _ *mcpctl.Config) {
		r.own(conf{"a": r.fake("a"), "b": with(r.fake("b"), "taskPatterns", []string{"zzz"})})
	})
	if got := r.on("t1"); got != "a" {
		t.Fatalf("on: %s", got)
	}
	told := r.agents.tellings("t1")
	r.mustFlip("t1", "b", true)
	if got := r.on("t1"); got != "a b" {
		t.Errorf("on: %s", got)
	}
	if r.agents.tellings("t1") == told {
		t.Error("the agent was not told")
	}
	if w, ok := r.threads.stores().Find("b"); !ok || w.By != thread.MCPPerson {
		t.Errorf("stored: %+v", r.threads.stores())
	}
	r.ready("b")
	if !slices.Contains(r.tools("t1"), "b/echo") {
		t.Fatalf("tools: %v", r.tools("t1"))
	}
	before := r.server("t1", "b")
	if _, err := r.Switch(context.Background(), thread.MCPChange{Thread: "t1", Server: "b", Tool: "echo"}); err != nil {
		t.Fatal(err)
	}
	if slices.Contains(r.tools("t1"), "b/echo") || !slices.Contains(r.tools("t1"), "b/again") {
		t.Errorf("tools: %v", r.tools("t1"))
	}
	if after := r.server("t1", "b"); after.ToolsOn != before.ToolsOn-1 || after.Tokens >= before.Tokens || after.Tools != before.Tools {
		t.Errorf("before %+v, after %+v", before, after)
	}
	if _, err := r.call("t1", "b", "echo"); err == nil || !strings.Contains(err.Error(), "switched off") {
		t.Errorf("a call of a tool that is off: %v", err)
	}
	if got := r.Enabled("t1"); !slices.Contains(got, "-b/echo") {
		t.Errorf("the checkpoint's list: %v", got)
	}
	_, err := r.Switch(context.Background(), thread.MCPChange{Thread: "t1", Server: "b", Tool: "ecko"})
	if !errors.Is(err, thread.ErrNotFound) {
		t.Errorf("a tool that there is not: %v", err)
	}
	if _, err := r.Switch(context.Background(), thread.MCPChange{Thread: "t1", Server: "b", Tool: "echo", On: true}); err != nil {
		t.Fatal(err)
	}
	r.must("t1", "b", "echo")
	r.mustFlip("t1", "b", false)
	if got := r.on("t1"); got != "a" {
		t.Errorf("on: %s", got)
	}
	if _, err := r.call("t1", "b", "echo"); err == nil {
		t.Error("a server that is off takes calls")
	}
	r.mustFlip("t1", "a", false)
	if got := r.on("t1"); got != "" {
		t.Errorf("on: %s", got)
	}
	for _, c := range []struct {
		r    thread.MCPChange
		want error
	}{
		{thread.MCPChange{Thread: "t1", Server: "c", On: true}, thread.ErrNotFound},
		{thread.MCPChange{Thread: "t9", Server: "a", On: true}, thread.ErrNotFound},
	} {
		if _, err := r.Switch(context.Background(), c.r); !errors.Is(err, c.want) {
			t.Errorf("%+v: %v", c.r, err)
		}
	}
}

// TestOnlyAcceptedServersAreSwitchedOn refuses servers that are not accepted or cannot work.
func TestOnlyAcceptedServersAreSwitchedOn(t *testing.T) {
	r := newRig(t, func(r *rig, _ *mcpctl.Config) {
		r.repository(conf{"repo": r.fake("repo"), "broken": {"args": []string{"x"}}})
	})
	if err := r.flip("t1", "repo", true); !errors.Is(err, thread.ErrRefused) {
		t.Errorf("one that is not accepted: %v", err)
	}
	if err := r.flip("t1", "broken", true); !errors.Is(err, thread.ErrInvalid) {
		t.Errorf("one with a problem: %v", err)
	}
	if err := r.Take(context.Background(), "t1", "repo", "suggested"); !errors.Is(err, thread.ErrRefused) {
		t.Errorf("an offer of one that is not accepted: %v", err)
	}
	r.mustFlip("t1", "repo", false) // that is always possible
	if !r.threads.stores().IsZero() && len(r.threads.stores().On) > 0 || len(r.starts("repo")) > 0 {
		t.Errorf("stored %+v, %d starts", r.threads.stores(), len(r.starts("repo")))
	}
}

// TestOffWaitsForTheTurn keeps a server on until the running turn ends, unless it is forced.
func TestOffWaitsForTheTurn(t *testing.T) {
	r := newRig(t, func(r *rig, _ *mcpctl.Config) {
		r.own(conf{"a": r.fake("a"), "b": r.fake("b"), "never": with(r.fake("never"), "taskPatterns", []string{"zzz"})})
	})
	r.ready("a")
	r.ready("b")
	r.threads.work(true)
	r.mustFlip("t1", "never", false)
	if s := r.server("t1", "never"); s.On || s.Ending {
		t.Error("switching off what is not on switches it on")
	}
	r.mustFlip("t1", "a", false)
	if s := r.server("t1", "a"); !s.On || !s.Ending {
		t.Errorf("during the turn: on %v, ending %v", s.On, s.Ending)
	}
	r.must("t1", "a", "echo")
	if slices.Contains(thread.MCPNames(r.Enabled("t1")), "a") {
		t.Error("a checkpoint has what is to be off")
	}
	if !slices.Contains(r.threads.stores().Off, "a") {
		t.Error("it is not stored at once")
	}
	told := r.agents.tellings("t1")
	r.TurnEnded("t1")
	if s := r.server("t1", "a"); s.On || s.Ending {
		t.Errorf("after the turn: on %v, ending %v", s.On, s.Ending)
	}
	if r.agents.tellings("t1") == told {
		t.Error("the agent was not told at the turn's end")
	}
	if _, err := r.call("t1", "a", "echo"); err == nil {
		t.Error("it takes calls after the turn")
	}
	if _, err := r.Switch(context.Background(), thread.MCPChange{Thread: "t1", Server: "b", Force: true}); err != nil {
		t.Fatal(err)
	}
	if _, err := r.call("t1", "b", "echo"); err == nil {
		t.Error("it takes calls after it was forced off")
	}
	// Once more: on again during the turn, and off while nothing runs.
	r.mustFlip("t1", "a", true)
	r.mustFlip("t1", "a", false)
	r.mustFlip("t1", "a", true)
	r.TurnEnded("t1")
	if s := r.server("t1", "a"); !s.On || s.Ending {
		t.Errorf("on again: on %v, ending %v", s.On, s.Ending)
	}
	r.mustFlip("t1", "a", false)
	if _, err := r.Switch(context.Background(), thread.MCPChange{Thread: "t1", Server: "a", Force: true}); err != nil {
		t.Fatal(err)
	}
	if s := r.server("t1", "a"); s.On {
		t.Error("it cannot be forced off once it waits for the turn's end")
	}
	r.threads.work(false)
	r.mustFlip("t1", "a", true)
	r.mustFlip("t1", "a", false)
	if s := r.server("t1", "a"); s.On || s.Ending {
		t.Error("off waits for a turn that does not run")
	}
}

// TestStoreRefuses changes nothing if the switches cannot be stored.
func TestStoreRefuses(t *testing.T) {
	full := errors.New("disk full")
	r := newRig(t, func(r *rig, _ *mcpctl.Config) {
		r.own(conf{"a": r.fake("a"), "b": with(r.fake("b"), "taskPatterns", []string{"zzz", "nightly"})})
	})
	r.threads.work(true)
	r.threads.refuse(full)
	for _, on := range []bool{false, true} {
		for _, server := range []string{"a", "b"} {
			if err := r.flip("t1", server, on); !errors.Is(err, full) {
				t.Errorf("%s: %v", server, err)
			}
		}
	}
	if a, b := r.server("t1", "a"), r.server("t1", "b"); !a.On || a.Ending || a.By != thread.MCPDefault || b.On || b.Ending {
		t.Errorf("a %+v\nb %+v", a, b)
	}
	if got := r.agents.tellings("t1"); got != 0 {
		t.Errorf("the agent was told %d times", got)
	}
	r.threads.refuse(nil)
	r.mustFlip("t1", "a", false) // it waits for the turn's end
	r.threads.refuse(full)
	if err := r.flip("t1", "a", true); !errors.Is(err, full) {
		t.Error(err)
	}
	if s := r.server("t1", "a"); !s.On || !s.Ending {
		t.Errorf("it was to be off at the turn's end: on %v, ending %v", s.On, s.Ending)
	}
	// A pattern fires while a switch is refused: what it did stays, and only that.
	r.threads.refuse(full)
	var once sync.Once
	r.threads.storing = func() { once.Do(func() { r.Prompt("t1", "run the nightly tests") }) }
	if err := r.flip("t1", "a", true); !errors.Is(err, full) {
		t.Error(err)
	}
	if s := r.server("t1", "a"); !s.Ending {
		t.Errorf("a: %+v", s)
	}
	if s := r.server("t1", "b"); !s.On || s.By != thread.MCPPattern {
		t.Errorf("b: %+v", s)
	}
}

// TestSwitchesDuringASwitch keeps what patterns decide while a person's switch is stored.
func TestSwitchesDuringASwitch(t *testing.T) {
	r := newRig(t, func(r *rig, _ *mcpctl.Config) {
		r.own(conf{"a": r.fake("a"), "b": with(r.fake("b"), "taskPatterns", []string{"nightly"})})
	})
	r.on("t1")
	var once sync.Once
	r.threads.storing = func() { once.Do(func() { r.Prompt("t1", "run the nightly tests") }) }
	r.mustFlip("t1", "a", false)
	if got := r.on("t1"); got != "b" {
		t.Errorf("on: %s", got)
	}
	await.Until(r, "both are stored", func() bool {
		s := r.threads.stores()
		_, on := s.Find("b")
		return on && slices.Contains(s.Off, "a")
	})
}

// TestRewindDuringASwitch stores a switch together with what a rewind restores meanwhile.
func TestRewindDuringASwitch(t *testing.T) {
	r := newRig(t, func(r *rig, _ *mcpctl.Config) { r.own(conf{"a": r.fake("a"), "b": r.fake("b")}) })
	r.on("t1")
	var once sync.Once
	r.threads.storing = func() {
		once.Do(func() {
			r.threads.change("t1", thread.MCPSwitches{}.At([]string{"a", "b"}, "on at turn 1"))
			r.Restored("t1")
		})
	}
	r.mustFlip("t1", "a", false)
	if got := r.on("t1"); got != "b" {
		t.Errorf("on: %s", got)
	}
	await.Until(r, "both are stored", func() bool {
		s := r.threads.stores()
		return s.Exact && len(s.On) == 1 && slices.Equal(s.Off, []string{"a"})
	})
}

// TestManySwitchesAtOnce loses none of them.
func TestManySwitchesAtOnce(t *testing.T) {
	const n = 20
	r := newRig(t, func(r *rig, _ *mcpctl.Config) {
		c := conf{}
		for i := range n {
			c[fmt.Sprintf("s%02d", i)] = map[string]any{"command": "/bin/cat"}
		}
		r.own(c)
	})
	r.on("t1")
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			if err := r.flip("t1", fmt.Sprintf("s%02d", i), false); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if got := r.on("t1"); got != "" {
		t.Errorf("still on: %s", got)
	}
	if got := len(r.threads.stores().Off); got != n {
		t.Errorf("%d are stored as off", got)
	}
}

// TestThreadsAreApart switches for one thread only.
func TestThreadsAreApart(t *testing.T) {
	r := newRig(t, func(r *rig, _ *mcpctl.Config) { r.own(conf{"a": r.fake("a")}) })
	r.threads.add("t2", "claude", r.project)
	r.ready("a")
	r.mustFlip("t2", "a", false)
	if r.on("t1") != "a" || r.on("t2") != "" || len(r.tools("t1")) == 0 || len(r.tools("t2")) != 0 {
		t.Errorf("t1 has %q, t2 has %q", r.on("t1"), r.on("t2"))
	}
	if r.Off("t1", "a", "echo") != "" || r.Off("t2", "a", "echo") == "" {
		t.Error("calls are not judged by thread")
	}
	if r.Off("t9", "a", "echo") == "" || len(r.On("t9")) > 0 || r.Enabled("t9") != nil {
		t.Error("a thread that there is not has servers")
	}
}

// TestRestored takes over what a rewind stored, and lets the same words switch on again.
func TestRestored(t *testing.T) {
	r := newRig(t, func(r *rig, _ *mcpctl.Config) {
		r.own(conf{"a": r.fake("a"), "b": with(r.fake("b"), "taskPatterns", []string{"e2e"}), "c": r.fake("c")})
	})
	r.Prompt("t1", "run the e2e tests")
	if got := r.on("t1"); got != "a b c" {
		t.Fatalf("on: %s", got)
	}
	r.threads.work(true)
	r.mustFlip("t1", "a", false)
	await.Until(r, "it is stored", func() bool { return len(r.threads.stores().On) == 1 })
	r.threads.change("t1", r.threads.stores().At([]string{"a", "-a/echo"}, "on at turn 1"))
	told := r.agents.tellings("t1")
	r.Restored("t1")
	if got := r.on("t1"); got != "a" {
		t.Errorf("on after the rewind: %s", got)
	}
	if s := r.server("t1", "a"); s.Ending || s.By != thread.MCPInherited || s.Why != "on at turn 1" {
		t.Errorf("a: %+v", s)
	}
	if r.agents.tellings("t1") == told {
		t.Error("the agent was not told")
	}
	if r.Off("t1", "a", "echo") == "" {
		t.Error("its tool is on")
	}
	r.Prompt("t1", "run the e2e tests")
	if got := r.on("t1"); got != "a b" {
		t.Errorf("the same prompt after a rewind: %s", got)
	}
}

// TestEnded stops the servers of a thread with its agent, and those only.
func TestEnded(t *testing.T) {
	r := newRig(t, func(r *rig, _ *mcpctl.Config) {
		r.own(conf{"own": r.fake("own"), "shared": with(r.fake("shared"), "x-orchestrator", map[string]any{"share": "project"})})
	})
	r.threads.add("t2", "claude", r.project)
	r.must("t1", "own", "echo")
	r.must("t2", "own", "echo")
	r.must("t1", "shared", "echo")
	r.must("t2", "shared", "echo")
	own, shared := r.starts("own"), r.starts("shared")
	if len(own) != 2 || len(shared) != 1 {
		t.Fatalf("%d own and %d shared processes", len(own), len(shared))
	}
	r.Ended("t1")
	await.Until(r, "one process has ended", func() bool { return alive(own[0]) != alive(own[1]) })
	if !alive(shared[0]) {
		t.Error("the shared process has ended too")
	}
	if len(r.agents.dropped) != 1 || r.agents.dropped[0] != "t1" {
		t.Errorf("dropped: %v", r.agents.dropped)
	}
	r.must("t2", "own", "echo")
	if got := len(r.starts("own")); got != 2 {
		t.Errorf("%d starts", got)
	}
}

// TestThreadsThatEndedAreForgotten: of threads that ended or are gone nothing stays in memory, and what was decided for
// them is as it was when they come back.
func TestThreadsThatEndedAreForgotten(t *testing.T) {
	r := newRig(t, func(r *rig, _ *mcpctl.Config) {
		r.own(conf{"own": r.fake("own"), "broken": {"command": "no-such-program"}})
	})
	var ids []thread.ID
	for i := range 30 {
		id := thread.ID("many" + strconv.Itoa(i))
		ids = append(ids, id)
		r.threads.add(id, "claude", r.project)
		r.Launched(id, thread.MCPReach{Given: true})
		r.mustFlip(string(id), "own", i%2 == 0)
		_, _ = r.call(id, "broken", "echo")
		if i%6 == 0 {
			r.must(id, "own", "echo")
		}
	}
	for _, id := range ids {
		r.Ended(id)
	}
	await.Until(r, "they are forgotten", func() bool {
		threads, states := r.Held()
		return threads == 0 && states == 0
	})
	r.ServerChanged(hub.State{Hash: "late", Thread: ids[0], Status: hub.Ready}) // told late
	if _, states := r.Held(); states != 0 {
		t.Errorf("%d states of threads that are forgotten", states)
	}
	for i, id := range ids {
		if s := r.server(string(id), "own"); s.On != (i%2 == 0) {
			t.Errorf("%s is switched otherwise than it was: %+v", id, s)
		}
	}
	for _, id := range ids {
		r.Forget(id)
	}
	await.Until(r, "they are forgotten again", func() bool {
		threads, states := r.Held()
		return threads == 0 && states == 0
	})
	// One that runs again meanwhile keeps what it has.
	r.Launched("t1", thread.MCPReach{Given: true})
	r.Ended("t1")
	r.Launched("t1", thread.MCPReach{Given: true, Live: true})
	r.must("t1", "own", "echo")
	if got := r.report("t1").Takes; got != "at once" {
		t.Errorf("a switch takes effect %q", got)
	}
}

// TestBrokenIsNotSwitchedOn: a server whose program is not there is not said to be switched on.
func TestBrokenIsNotSwitchedOn(t *testing.T) {
	r := newRig(t, func(r *rig, _ *mcpctl.Config) {
		r.own(conf{"broken": {"command": "no-such-program"}, "gone": {"command": "/nowhere/srv"}, "whole": r.fake("whole")})
	})
	for _, server := range []string{"broken", "gone"} {
		err := r.flip("t1", server, true)
		if !errors.Is(err, thread.ErrRefused) || !strings.Contains(err.Error(), "cannot start") {
			t.Errorf("%s: %v", server, err)
		}
		r.mustFlip("t1", server, false) // off is always possible
	}
	r.mustFlip("t1", "whole", true)
}
