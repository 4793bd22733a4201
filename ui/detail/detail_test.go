package detail

import (
	"strings"
	"testing"

	"orchestrator/thread"
	"orchestrator/ui/intent"
	"orchestrator/ui/layout"
	"orchestrator/ui/theme"

	"github.com/charmbracelet/colorprofile"
)

func draw(m *Model, w, h int, s *thread.Status, parent string, sharing ...string) string {
	var c layout.Canvas
	c.Reset(w, h)
	m.Draw(&c, c.Bounds(), theme.New(colorprofile.ASCII, true), s, parent, sharing)
	return c.String()
}

func sample() *thread.Status {
	s := &thread.Status{Thread: thread.Thread{Name: "auth-a3f2", Title: "auth", Label: "log in with a token", Agent: "demo",
		Dir: "/work/shop", Turn: 3}}
	s.Gauge = thread.Gauge{Tokens: 84_000, Window: 200_000, Model: "demo-1", CostUSD: 1.5}
	s.Usage = thread.Usage{Input: 70_000, CacheRead: 10_000, Output: 4_000, CostUSD: 1.5, Priced: true}
	s.Worktree.Branch = "orchestrator/auth-a3f2"
	return s
}

func TestFacts(t *testing.T) {
	got := draw(New(), 80, 40, sample(), "main-1a2b", "docs-f9a0", "spike-0b1c")
	for _, want := range []string{
		"context       84k of 200k (42%), 116k free", "source        reported by the provider", "model         demo-1",
		"Usage", "input         70k", "cache read    10k", "output        4.0k", "cost          $1.50",
		"name          auth-a3f2 (for verbs and its branch)", "task          log in with a token", "turns         3",
		"parent        main-1a2b", "folder        /work/shop", "shared with   docs-f9a0, spike-0b1c",
		"branch        orchestrator/auth-a3f2", "grants        none (the agent sees only its own thread)",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
}

// TestRunFacts: a run shows its model with the reason, its calls, and what is missing.
func TestRunFacts(t *testing.T) {
	s := sample()
	s.Run = &thread.RunStatus{
		Tier: thread.TierFast, Model: "small", Chosen: "fast by --tier; tiers.demo.fast", Calls: 20, MaxCalls: 20, Rereads: 2, Gap: "the tests",
	}
	got := draw(New(), 80, 40, s, "")
	for _, want := range []string{"run's model   small (fast by --tier; tiers.demo.fast)", "run's calls   20 of 20, 2 files read again", "gap           the tests"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
	s.Run = &thread.RunStatus{Tier: thread.TierStandard, Chosen: "standard: the agent's own model"}
	if got := draw(New(), 80, 40, s, ""); !strings.Contains(got, "0, without a bound") || strings.Contains(got, "gap ") {
		t.Error(got)
	}
}

func TestWhatIsNotKnown(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*thread.Status)
		want   []string
		none   string
	}{
		{"new", func(s *thread.Status) { s.Gauge, s.Usage = thread.Gauge{}, thread.Usage{} },
			[]string{"no messages yet", "Thread"}, "Usage"},
		{"no window", func(s *thread.Status) { s.Gauge.Window = 0 }, []string{"84k tokens (context window unknown)"}, "free"},
		{"no price", func(s *thread.Status) { s.Usage.Priced, s.Usage.CostUSD, s.Gauge.CostUSD = false, 0, 0 },
			[]string{"unknown (no price for this model)"}, "$"},
		{"estimated", func(s *thread.Status) { s.Gauge.Estimated = true }, []string{"~84k", "the provider reports no usage"}, ""},
		{"transcript", func(s *thread.Status) { s.Gauge.Source = "transcript" }, []string{"bypass the gateway"}, ""},
		{"merged", func(s *thread.Status) {
			s.Outcome = thread.Outcome{Kind: thread.OutcomeMerged, Commit: "0123456789abcdef"}
		}, []string{"merged as 0123456789"}, "0123456789a"},
		{"abandoned", func(s *thread.Status) {
			s.Outcome = thread.Outcome{Kind: thread.OutcomeAbandoned, Reason: "too slow"}
		}, []string{"abandoned: too slow"}, ""},
		{"no gateway", func(s *thread.Status) { s.Launch.NoGateway = true }, []string{"off for this thread"}, ""},
	} {
		s := sample()
		c.change(s)
		got := draw(New(), 80, 40, s, "")
		for _, want := range c.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: %q is not in\n%s", c.name, want, got)
			}
		}
		if c.none != "" && strings.Contains(got, c.none) {
			t.Errorf("%s: %q is in\n%s", c.name, c.none, got)
		}
	}
}

// Long values are wrapped beside their labels, what comes from outside is cleaned, and all of it can be reached.
func TestLongFactsScroll(t *testing.T) {
	s := sample()
	s.Label = strings.Repeat("many words ", 20) + "\x1b[31mend"
	s.Prompts = []thread.Prompt{{Text: "then tidy up", State: thread.PromptQueued, Reason: "agent is busy"}}
	s.Queued = 1
	m := New()
	top := draw(m, 50, 12, s, "")
	if !strings.Contains(top, "▐") || !strings.Contains(top, "Unanswered prompts, 1 queued") ||
		!strings.Contains(top, "then tidy up (agent is busy)") {
		t.Errorf("top:\n%s", top)
	}
	if !m.Handle(intent.Last) || m.Handle(intent.Fork) {
		t.Error("takes the wrong intents")
	}
	if end := draw(m, 50, 12, s, ""); !strings.Contains(end, "grants") || strings.Contains(end, "reported by") {
		t.Errorf("end:\n%s", end)
	}
	m.Scroll(-5)
	if got := draw(m, 50, 12, s, ""); !strings.Contains(got, "␛[31mend") || strings.Contains(got, "\x1b[31m") {
		t.Errorf("scrolled back:\n%s", got)
	}
	if got := draw(New(), 50, 12, nil, ""); strings.TrimSpace(got) != "" {
		t.Errorf("without a thread: %q", got)
	}
}
