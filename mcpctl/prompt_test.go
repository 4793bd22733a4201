package mcpctl_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"orchestrator/mcpctl"
	"orchestrator/thread"
	"orchestrator/thread/ground/await"
)

// TestPatterns switches servers on by the words of a prompt, at once and with the reason.
func TestPatterns(t *testing.T) {
	r := newRig(t, func(r *rig, _ *mcpctl.Config) {
		r.own(conf{
			"web":  with(r.fake("web"), "taskPatterns", []string{"e2e", "!unit"}),
			"data": with(r.fake("data"), "taskPatterns", []string{"/sql|postgres/"}),
		})
		r.repository(conf{"repo": with(r.fake("repo"), "taskPatterns", []string{"e2e"})})
	})
	if got := r.on("t1"); got != "" {
		t.Fatalf("on before a prompt: %s", got)
	}
	told := r.agents.tellings("t1")
	r.Prompt("t1", "Run the e2e tests")
	// At once: an agent's next request may come right after.
	if got := r.on("t1"); got != "web" {
		t.Errorf("on: %s", got)
	}
	s := r.server("t1", "web")
	if s.By != thread.MCPPattern || !strings.Contains(s.Why, "e2e") {
		t.Errorf("on by %q: %q", s.By, s.Why)
	}
	await.Until(r, "the agent is told", func() bool { return r.agents.tellings("t1") > told })
	await.Until(r, "it is stored", func() bool { _, ok := r.threads.stores().Find("web"); return ok })
	await.Until(r, "it is started", func() bool { return len(r.starts("web")) == 1 })
	if n := len(r.starts("repo")) + len(r.starts("data")); n > 0 {
		t.Errorf("%d others were started", n)
	}
	r.mustFlip("t1", "web", false)
	r.Prompt("t1", "Run the e2e tests once more")
	if got := r.on("t1"); got != "" {
		t.Errorf("a pattern switched on what a person switched off: %s", got)
	}
	r.Prompt("t1", "run the unit e2e tests, and POSTGRES")
	if got := r.on("t1"); got != "data" {
		t.Errorf("on: %s", got)
	}
	r.Prompt("t9", "Run the e2e tests") // no such thread
	r.Prompt("t1", " ")
}

// TestEachPromptOnce looks at the words of a prompt once, by however many ways it is told.
func TestEachPromptOnce(t *testing.T) {
	about := func(server map[string]any, text string) map[string]any {
		return with(with(server, "taskPatterns", []string{"zzz"}), "x-orchestrator", map[string]any{"description": text})
	}
	r := newRig(t, func(r *rig, _ *mcpctl.Config) {
		r.own(conf{"tickets": about(r.fake("tickets"), "tickets, epics, sprints, boards and the backlog"),
			"maps": about(r.fake("maps"), "geographic maps and routes")})
	})
	r.Launched("t1", thread.MCPReach{Given: true})
	const task = "create tickets and epics in the backlog of the sprint board"
	for _, text := range []string{task, strings.ReplaceAll(task, " and ", "\nand  ") + " ", task} {
		r.Prompt("t1", text)
	}
	r.Prompt("t1", task+" of today")
	await.Until(r, "both are looked at", func() bool { return len(r.threads.offers()) >= 2 })
	time.Sleep(20 * time.Millisecond)
	if got := r.threads.offers(); len(got) != 2 {
		t.Errorf("%d offers: %q", len(got), got)
	}
}

// TestPatternDuringEnding leaves a server off that a person switches off, also if a prompt needs it before the turn ends.
func TestPatternDuringEnding(t *testing.T) {
	r := newRig(t, func(r *rig, _ *mcpctl.Config) {
		r.own(conf{"web": with(r.fake("web"), "taskPatterns", []string{"e2e"})})
	})
	r.Prompt("t1", "Run the e2e tests")
	r.threads.work(true)
	r.mustFlip("t1", "web", false)
	r.Prompt("t1", "more e2e tests")
	r.TurnEnded("t1")
	if got := r.on("t1"); got != "" {
		t.Errorf("on: %s", got)
	}
}

// TestManifestKnownLater lists a server's tools after its first start, and then at once.
func TestManifestKnownLater(t *testing.T) {
	r := newRig(t, func(r *rig, _ *mcpctl.Config) {
		r.own(conf{"web": with(r.fake("web", "slow=50ms"), "taskPatterns", []string{"e2e"})})
	})
	r.Prompt("t1", "e2e")
	if len(r.tools("t1")) > 0 || r.server("t1", "web").Known {
		t.Error("its tools are known before it was started")
	}
	await.Until(r, "its tools are listed", func() bool { return slices.Contains(r.tools("t1"), "web/echo") })
	// For another thread they are there at once.
	r.threads.add("t2", "claude", r.project)
	told := r.agents.tellings("t2")
	r.Prompt("t2", "e2e")
	await.Until(r, "the agent is told", func() bool { return r.agents.tellings("t2") > told })
	if !slices.Contains(r.tools("t2"), "web/echo") {
		t.Error("known tools are not listed at once")
	}
}

// TestReady waits for the tools of a server that was never started, and for nothing else.
func TestReady(t *testing.T) {
	r := newRig(t, func(r *rig, _ *mcpctl.Config) {
		r.own(conf{
			"web":   with(r.fake("web", "slow=150ms"), "taskPatterns", []string{"e2e"}),
			"crash": with(r.fake("crash", "crash"), "taskPatterns", []string{"boom"}),
			"mute":  with(r.fake("mute", "silent"), "taskPatterns", []string{"mute"}),
		})
	})
	ready := func() time.Duration {
		began := time.Now()
		r.Ready(context.Background(), "t1")
		return time.Since(began)
	}
	if took := ready(); took > 2*time.Second { // less than any pause
		t.Errorf("with nothing to wait for: %v", took)
	}
	r.Prompt("t1", "e2e")
	go func() { // the agent reads its tools once they are known
		for len(r.tools("t1")) == 0 {
			time.Sleep(time.Millisecond)
		}
		now := time.Now()
		r.agents.follow(now, now.Add(time.Millisecond))
	}()
	if took := ready(); took < 100*time.Millisecond || took > 4*time.Second {
		t.Errorf("a first start: %v", took)
	}
	if !slices.Contains(r.tools("t1"), "web/echo") {
		t.Error("its tools are not there")
	}
	if took := ready(); took > 2*time.Second {
		t.Errorf("once more: %v", took)
	}
	r.Prompt("t1", "boom")
	if took := ready(); took > 9*time.Second {
		t.Errorf("a server that cannot start: %v", took)
	}
	r.Prompt("t1", "mute")
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	began := time.Now()
	r.Ready(ctx, "t1")
	if took := time.Since(began); took > 4*time.Second {
		t.Errorf("the context has ended: %v", took)
	}
	// An agent that was given our server is waited for until it has connected.
	r.agents.follow(time.Time{}, time.Time{})
	r.Launched("t1", thread.MCPReach{Given: true})
	time.AfterFunc(100*time.Millisecond, func() { r.agents.follow(time.Time{}, time.Now()) })
	if took := ready(); took < 80*time.Millisecond || took > 2500*time.Millisecond {
		t.Errorf("an agent that connects: %v", took)
	}
}

// TestSwitchIsInForce holds a prompt until the agent has read what was switched, reminds it, and says so if it does not.
func TestSwitchIsInForce(t *testing.T) {
	for _, test := range []struct {
		name     string
		reads    time.Duration // after what time the agent reads its tools; 0 for never
		from, to time.Duration // how long the prompt waits
		atTurn   bool          // it reads them when its turn begins
		reminded bool
		notice   string
	}{
		{"nothing was switched", -1, 0, 2 * time.Second, false, false, ""},
		{"soon", 200 * time.Millisecond, 150 * time.Millisecond, 2500 * time.Millisecond, false, false, ""},
		{"after it is reminded", 1500 * time.Millisecond, 1400 * time.Millisecond, 2900 * time.Millisecond, false, true, ""},
		{"never", 0, 2900 * time.Millisecond, 10 * time.Second, false, true, "has not read that within 3s"},
		{"when its turn begins", 0, 0, 2500 * time.Millisecond, true, false, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, func(*rig, *mcpctl.Config) {})
			r.Launched("t1", thread.MCPReach{Given: true, AtTurn: test.atTurn})
			now := time.Now()
			r.agents.follow(now, now)
			if test.reads >= 0 {
				r.agents.follow(now.Add(time.Millisecond), now)
			}
			if test.reads > 0 {
				time.AfterFunc(test.reads, func() { r.agents.follow(now, now) })
			}
			told := r.agents.tellings("t1")
			r.Ready(context.Background(), "t1")
			if took := time.Since(now); took < test.from || took > test.to {
				t.Errorf("the prompt waited for %v", took)
			}
			if r.agents.tellings("t1") == told {
				t.Error("the agent was not told")
			}
			if got := r.agents.reminders() > 0; got != test.reminded {
				t.Errorf("reminded: %v", got)
			}
			if got := strings.Join(r.threads.noticed(), "; "); !strings.Contains(got, test.notice) || (got == "") != (test.notice == "") {
				t.Errorf("people are told %q", got)
			}
		})
	}
}

// TestAgentThatTakesNone: nothing is on, priced or started for it, and the report says so.
func TestAgentThatTakesNone(t *testing.T) {
	r := newRig(t, func(r *rig, cfg *mcpctl.Config) {
		r.own(conf{"web": with(r.fake("web"), "taskPatterns", []string{"e2e"}), "always": r.fake("always")})
		cfg.Takes = func(agent string) bool { return agent == "claude" }
	})
	r.threads.add("t2", "command", r.project)
	r.Prompt("t2", "run the e2e tests")
	r.mustFlip("t2", "always", true)
	report, err := r.Report(context.Background(), thread.MCPQuery{Thread: "t2"})
	if err != nil || !report.None || report.Takes != "" || report.Tokens+report.All != 0 || r.on("t2") != "" {
		t.Errorf("on %q, %v, %+v", r.on("t2"), err, report)
	}
	if n := len(r.starts("web")) + len(r.starts("always")); n != 0 {
		t.Errorf("%d processes were started", n)
	}
	r.Prompt("t1", "run the e2e tests")
	await.Until(r, "it is started for another agent", func() bool { return len(r.starts("web")) == 1 })
}

// TestAgentThatIsOffered takes servers from its first connection on, and none before.
func TestAgentThatIsOffered(t *testing.T) {
	r := newRig(t, func(r *rig, cfg *mcpctl.Config) {
		r.own(conf{"web": with(r.fake("web"), "taskPatterns", []string{"e2e"}), "always": r.fake("always")})
		cfg.Takes = func(agent string) bool { return agent == "claude" }
	})
	r.threads.add("t2", "command", r.project)
	r.Launched("t2", thread.MCPReach{Offered: true, Live: true})
	r.Prompt("t2", "run the e2e tests")
	before := r.report("t2")
	if !before.None || before.Takes != "" || len(before.Outside) != 1 || !strings.Contains(before.Outside[0], "ORCHESTRATOR_MCP_CONFIG") {
		t.Errorf("before it connects: %+v", before)
	}
	if n := len(r.starts("web")) + len(r.starts("always")); n != 0 {
		t.Errorf("%d processes were started", n)
	}
	await.Until(r, "it gets its tools", func() bool { return slices.Contains(r.tools("t2"), "always/echo") })
	if after := r.report("t2"); after.None || after.Takes != "at once" || len(after.Outside) > 0 || r.on("t2") != "always" {
		t.Errorf("connected: on %q, %+v", r.on("t2"), after)
	}
	await.Until(r, "it is stored", func() bool {
		stored, err := r.threads.Find("t2")
		return err == nil && stored.MCP.Taken
	})
	r.Prompt("t2", "run the e2e tests once more")
	await.Until(r, "prompts switch for it", func() bool { return r.on("t2") == "always web" })
}

// TestMemory remembers at a turn's end what its task used, and suggests it for a similar one, once.
func TestMemory(t *testing.T) {
	r := newRig(t, func(r *rig, _ *mcpctl.Config) {
		r.own(conf{
			"tickets": with(with(r.fake("tickets"), "taskPatterns", []string{"zzz"}), "x-orchestrator",
				map[string]any{"description": "issue tracker: tickets, sprints, boards"}),
			"maps": with(with(r.fake("maps"), "taskPatterns", []string{"zzz"}), "x-orchestrator",
				map[string]any{"description": "geographic maps and routes"}),
		})
	})
	r.Launched("t1", thread.MCPReach{Given: true})
	const task = "plan the quarterly offsite in the mountains"
	r.Prompt("t1", task)
	r.mustFlip("t1", "maps", true)
	r.ready("maps")
	if r.memory.Len() != 0 {
		t.Fatal("it is remembered before the turn's end")
	}
	r.TurnEnded("t1")
	await.Until(r, "it is remembered", func() bool { return r.memory.Len() == 1 })
	r.TurnEnded("t1")
	r.Prompt("t1", "a task that uses nothing")
	r.TurnEnded("t1")
	r.threads.add("t2", "claude", r.project)
	r.Launched("t2", thread.MCPReach{Given: true})
	r.Prompt("t2", "create tickets for the next sprint on the board")
	await.Until(r, "tickets are suggested", func() bool {
		return slices.ContainsFunc(r.threads.offers(), func(s string) bool { return strings.HasPrefix(s, "t2 tickets ") })
	})
	if r.on("t2") != "" {
		t.Error("a suggestion switched on by itself")
	}
	if err := r.Take(context.Background(), "t2", "tickets", "similar tasks used it"); err != nil {
		t.Fatal(err)
	}
	if s := r.server("t2", "tickets"); !s.On || s.By != thread.MCPOffer || s.Why != "similar tasks used it" {
		t.Errorf("taken: %+v", s)
	}
	n := len(r.threads.offers())
	r.Prompt("t2", "create tickets for the next sprint on the board")
	r.Prompt("t2", "create more tickets for the next sprint on the board")
	r.threads.add("t3", "claude", r.project) // its agent takes none of our servers
	r.Prompt("t3", "create tickets for the next sprint on the board")
	r.threads.add("t4", "claude", r.project)
	r.Launched("t4", thread.MCPReach{Given: true})
	r.mustFlip("t4", "tickets", false)
	r.Prompt("t4", "create tickets for the next sprint on the board")
	time.Sleep(30 * time.Millisecond)
	for _, s := range r.threads.offers()[n:] {
		if !strings.Contains(s, " maps ") {
			t.Errorf("offered: %s", s)
		}
	}
	if r.memory.Len() != 1 {
		t.Errorf("%d tasks are remembered", r.memory.Len())
	}
}

// TestWhy explains what words would do, and does nothing.
func TestWhy(t *testing.T) {
	r := newRig(t, func(r *rig, _ *mcpctl.Config) {
		r.own(conf{"web": with(r.fake("web"), "taskPatterns", []string{"e2e", "browser*"})})
		r.repository(conf{"repo": with(r.fake("repo"), "taskPatterns", []string{"e2e"})})
		r.threads.prompts = []string{"e2e", "unit", "browsers and e2e", "docs"}
	})
	why := func(id, text string) map[string]thread.MCPWhy {
		list, err := r.Why(context.Background(), thread.MCPTask{Thread: id, Text: text})
		if err != nil {
			t.Fatal(err)
		}
		all := map[string]thread.MCPWhy{}
		for _, w := range list {
			all[w.Server] = w
		}
		return all
	}
	got := why("", "the e2e tests")
	if w := got["web"]; !w.On || w.Blocked != "" || !strings.Contains(w.Why, "e2e") {
		t.Errorf("web: %+v", w)
	}
	if w := got["repo"]; w.On || !strings.Contains(w.Blocked, "accepted") {
		t.Errorf("repo: %+v", w)
	}
	if r.on("t1") != "" {
		t.Error("why switched something on")
	}
	r.mustFlip("t1", "web", false)
	if w := why("t1", "the e2e tests")["web"]; w.On || !strings.Contains(w.Blocked, "switched it off") {
		t.Errorf("web: %+v", w)
	}
	if _, err := r.Why(context.Background(), thread.MCPTask{Thread: "t9", Text: "x"}); err == nil {
		t.Error("a thread that there is not")
	}
	rates := r.detail("", "web").Rates
	if len(rates) != 2 || rates[0].Fired != 2 || rates[1].Fired != 1 || rates[0].Of != 4 {
		t.Errorf("rates: %+v", rates)
	}
}

// TestPromptAfterClose begins nothing that nobody would wait for.
func TestPromptAfterClose(t *testing.T) {
	r := newRig(t, func(r *rig, _ *mcpctl.Config) {
		r.own(conf{"web": with(r.fake("web"), "taskPatterns", []string{"e2e"})})
	})
	r.on("t1")
	if err := r.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	r.Prompt("t1", "run e2e")
	r.Ready(context.Background(), "t1")
	time.Sleep(20 * time.Millisecond)
	if s := r.threads.stores(); !s.IsZero() || len(r.starts("web")) > 0 {
		t.Errorf("stored %+v, %d starts", s, len(r.starts("web")))
	}
}
