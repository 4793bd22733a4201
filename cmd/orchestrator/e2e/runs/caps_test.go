package runs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/cmd/orchestrator/exitcode"
	"orchestrator/thread"
	"orchestrator/thread/ground/sample"
	"orchestrator/thread/work"
)

// tiers configures models of the demo agent in the person's own file.
func tiers(r *e2e.Rig) {
	r.T.Helper()
	dir := filepath.Join(r.Home, ".config", "orchestrator")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		r.T.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "config.toml"), []byte("[tiers.demo]\nfast = \"demo-fast\"\n"), 0o600); err != nil {
		r.T.Fatal(err)
	}
}

// TestRunStopsAtItsBound: a run is stopped at its 20th call and reports how far it is, with a gap that lists and the
// record show; a cap that is stated, or none, is kept as well.
func TestRunStopsAtItsBound(t *testing.T) {
	t.Parallel()
	r := e2e.NewRig(t)
	got := r.Run("run", "--once", "-a", "demo", "read README.md #times:25")
	if got.Code != exitcode.Agent || !strings.Contains(got.Stdout, "Gap: ") || !strings.Contains(got.Stderr, "its 20 calls were used up") {
		t.Errorf("exit %d\n%s%s", got.Code, got.Stdout, got.Stderr)
	}
	nothingLeft(r)
	x := list(r)[0]
	if x.State != work.Failed || x.Calls != 20 || x.Rereads != 19 || x.Attempt != 2 || !x.Reporting || x.Gap == "" ||
		!strings.Contains(x.Answer, x.Gap) || x.Failure.Code != work.CodePerformance || x.Failure.Class != work.ClassAgent {
		t.Errorf("%+v", x)
	}
	s := r.Status(nameOf(r, x))
	if s.Turn != 2 || s.Label != "read README.md #times:25" || s.Run.Calls != 20 || s.Run.Gap != x.Gap {
		t.Errorf("turn %d, %q, %+v", s.Turn, s.Label, s.Run)
	}
	out := r.Ok("exec", "show", x.Name)
	for _, says := range []string{"20 of 20, 19 files read again", "gap        " + x.Gap, "standard: the agent's own model", "at most 500"} {
		if !strings.Contains(out, says) {
			t.Errorf("%q is not in\n%s", says, out)
		}
	}
	if out := r.Ok("exec", "list"); !strings.Contains(out, "20/20") {
		t.Errorf("listed as\n%s", out)
	}
	if log := r.Ok("exec", "logs", x.Name); strings.Count(log, "  tool ") != 20 {
		t.Errorf("its record has not 20 calls:\n%s", log)
	}
	// The next prompt is a run with bounds of its own.
	if out := r.Ok("exec", "send", x.Name, "read README.md #times:3"); out == "" {
		t.Error("no answer")
	}
	if x := list(r)[0]; x.State != work.Completed || x.Calls != 3 || x.Rereads != 2 || x.Reporting {
		t.Errorf("the next: %+v", x)
	}
	for _, c := range []struct {
		args  []string
		state work.State
		calls int
	}{
		{[]string{"--calls", "3"}, work.Failed, 3}, {[]string{"--read-only"}, work.Failed, 10},
		{[]string{"--explore"}, work.Failed, 10}, {[]string{"--calls", "none"}, work.Completed, 25},
	} {
		r.Run(append(append([]string{"run", "--once", "-a", "demo"}, c.args...), "read README.md #times:25")...)
		if x := list(r)[0]; x.State != c.state || x.Calls != c.calls || x.State == work.Failed && x.Gap == "" {
			t.Errorf("%v: %s (%s), %d calls, gap %q", c.args, x.State, x.Reason, x.Calls, x.Gap)
		}
	}
}

// TestCapsAreTold: the conversation has what the agent was told, and names, searches and prompts the person's words only.
func TestCapsAreTold(t *testing.T) {
	t.Parallel()
	r := e2e.NewRig(t)
	tiers(r)
	x := e2e.Get[work.Execution](r, "run", "--once", "-a", "demo", "--tier", "fast", "say the password is swordfish")
	if x.State != work.Completed || x.Tier != thread.TierFast || x.Model != "demo-fast" || x.Chosen != "fast by --tier; tiers.demo.fast" || x.Caps.Words != 100 {
		t.Errorf("%+v", x)
	}
	name := nameOf(r, x)
	if !strings.HasPrefix(name, "say-the-password-is-") || strings.Contains(name, "limits") {
		t.Errorf("named %s", name)
	}
	if s := r.Status(name); s.Label != "say the password is swordfish" || s.Gauge.Model != "demo-fast" {
		t.Errorf("%q with %q", s.Label, s.Gauge.Model)
	}
	for _, p := range e2e.Get[[]thread.Prompt](r, "prompts", name) {
		if p.Text != "say the password is swordfish" {
			t.Errorf("its prompt is %q", p.Text)
		}
	}
	if out := r.Run("find", "at most 100 words"); strings.Contains(out.Stdout, name) {
		t.Errorf("its bounds are found:\n%s", out.Stdout)
	}
	if out := r.Ok("find", "swordfish"); !strings.Contains(out, name) {
		t.Errorf("it is not found:\n%s", out)
	}
	if got := r.Run("run", "--once", "-a", "demo", "--tier", "strong", "x"); got.Code == exitcode.OK || !strings.Contains(got.Stderr, "tiers.demo.strong") {
		t.Errorf("a tier without a model: %d %s", got.Code, got.Stderr)
	}
	if got := r.Run("run", "--once", "-a", "demo", "--tier", "cheap", "x"); got.Code == exitcode.OK || !strings.Contains(got.Stderr, "fast, standard") {
		t.Errorf("no such tier: %d %s", got.Code, got.Stderr)
	}
	for _, args := range [][]string{{"--calls", "0"}, {"--words", "0"}, {"--calls", "-3"}, {"--calls", "x"}, {"--explore", "--words", "9"}} {
		if got := r.Run(append([]string{"run", "--once", "-a", "demo", "x"}, args...)...); got.Code != exitcode.Usage && got.Code != exitcode.Refused {
			t.Errorf("%v: %d %s", args, got.Code, got.Stderr)
		}
	}
	if n := len(list(r)); n != 1 {
		t.Errorf("%d executions", n)
	}
}

// TestKilledAtItsBound kills the server on the way from the last call to the report: the count holds, and there is one
// report at most.
func TestKilledAtItsBound(t *testing.T) {
	places := []string{
		"thread.exec.bound", "thread.exec.again", "thread.exec.ended", "thread.exec.claimed:2", "thread.start.started:2",
		"thread.ask.typing:2", "thread.exec.running:2", "thread.exec.ended:2",
	}
	for _, at := range sample.Of(t, 4, places) {
		for _, policy := range []work.Policy{work.PolicyAsk, work.PolicyResume} {
			t.Run(at+"/"+string(policy), func(t *testing.T) {
				t.Parallel()
				killedAtBound(e2e.NewRig(t), at, policy)
			})
		}
	}
}

func killedAtBound(r *e2e.Rig, at string, policy work.Policy) {
	r.T.Helper()
	r.Ok("threads") // a server starts before it may be killed
	r.Ok("stop")
	healthy := r.Env
	r.Env = append(append([]string(nil), healthy...), "ORCHESTRATOR_FAILPOINT="+at)
	r.Run("run", "--once", "-d", "-a", "demo", "--calls", "3", "--lost", string(policy), "read README.md #times:9")
	r.Env = healthy
	e2e.Await(r.T, "the server to be killed at "+at, func() bool { return len(r.Servers()) == 0 })
	settled := func() (x work.Execution) {
		e2e.Await(r.T, "it to have ended", func() bool {
			x = list(r)[0]
			return x.State.Final()
		})
		return x
	}
	x := settled()
	if x.State == work.Lost {
		r.Ok("exec", "resume", x.Name)
		e2e.Await(r.T, "it to go on", func() bool { return list(r)[0].State != work.Lost })
		x = settled()
	}
	nothingLeft(r)
	if x.State != work.Failed || x.Calls != 3 || !strings.HasPrefix(x.Reason, "its 3 calls were used up") {
		r.T.Errorf("%s (%s), %d calls", x.State, x.Reason, x.Calls)
	}
	if x.Gap == "" && !strings.Contains(x.Reason, "has not reported") {
		r.T.Errorf("no gap: %+v", x)
	}
	reports, all := 0, e2e.Get[[]thread.Prompt](r, "prompts", nameOf(r, x))
	for _, p := range all {
		if strings.HasPrefix(p.Text, work.ReportAsked) && p.State != thread.PromptCancelled && p.State != thread.PromptRefused { // it was given
			reports++
		}
	}
	if reports > 1 {
		r.T.Errorf("it was asked for %d reports: %+v", reports, all)
	}
}

// TestOverlongAnswerIsKept: an answer with more words than it may have is shown as it is, and kept whole under a token.
func TestOverlongAnswerIsKept(t *testing.T) {
	t.Parallel()
	r := e2e.NewRig(t)
	x := e2e.Get[work.Execution](r, "run", "--once", "-a", "demo", "--words", "100", "count to 3000")
	if x.State != work.Completed || x.Whole == "" || len(x.Answer) > thread.MaxExcerpt {
		t.Fatalf("%s (%s), whole %q, %d bytes", x.State, x.Reason, x.Whole, len(x.Answer))
	}
	whole := strings.Fields(r.Ok("retrieve", string(x.Whole)))
	if len(whole) < 3000 || whole[0] != "1" || whole[len(whole)-1] != "3000" {
		t.Errorf("%d words are kept, to %q", len(whole), whole[len(whole)-1])
	}
	if out := r.Ok("exec", "show", x.Name); !strings.Contains(out, string(x.Whole)+" has the whole") || !strings.Contains(out, "at most 100") {
		t.Errorf("shown as\n%s", out)
	}
	if log := r.Ok("exec", "logs", x.Name); !strings.Contains(log, "words, 100 are allowed: the whole is "+string(x.Whole)) {
		t.Errorf("its record does not say so:\n%s", log[max(0, len(log)-500):])
	}
}
