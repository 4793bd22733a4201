package agents

import (
	"net/http"
	"strings"
	"testing"

	"orchestrator/agent/agenttest/clis"
	"orchestrator/agent/agenttest/model"
	"orchestrator/agent/scripted"
	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/thread/work"
)

// TestRealRunsFallBack has the real Claude Code fail in the middle of its work, since its login is refused: the real Codex
// goes on with it once a person says so, as a permission mode was chosen for Claude Code, in the same folder and with what
// was said so far.
func TestRealRunsFallBack(t *testing.T) {
	of := map[string]clis.CLI{}
	for _, cli := range clis.All() {
		of[cli.Name] = cli
	}
	r := newScripted(t, of["claude"], func(turn model.Turn) scripted.Reply {
		if turn.Wire == scripted.Anthropic && !turn.Side && turn.Round >= 1 {
			return scripted.Reply{Status: http.StatusUnauthorized}
		}
		if turn.Wire == scripted.Responses && !turn.Side && turn.Round == 0 {
			return scripted.Reply{Calls: []scripted.Call{turn.Shell("cat half.txt && echo whole > whole.txt", false)}}
		}
		if turn.Wire == scripted.Responses && !turn.Side {
			return scripted.Reply{Text: "finished by the other"}
		}
		return model.Markers(turn)
	})
	r.setUp(of["codex"])
	r.Run(r.once("--on-fail", "fallback", "--fallback", "codex", "half the work. #bash:echo half > half.txt #say:never")...)
	r.awaitRun("exec-001", work.Failed)
	r.Ok("exec", "fallback", "exec-001")
	r.awaitRun("exec-002", work.Completed)
	x, y := r.execution("exec-001"), r.execution("exec-002")
	t.Logf("%s: %s\n%s: %s", x.Name, x.Reason, y.Name, y.Answer)
	if x.Instead != y.ID || y.For != x.ID || y.Agent != "codex" || x.Failure.Status != http.StatusUnauthorized {
		t.Errorf("%+v\n%+v", x, y)
	}
	s := r.Status(string(y.Thread))
	if got := strings.TrimSpace(r.left(s, "whole.txt")); got != "whole" || s.Dir != r.Status(string(x.Thread)).Dir {
		t.Errorf("it left %q in %s", got, s.Dir)
	}
	heard := false
	for _, q := range r.model.Main() {
		heard = heard || q.Turn.Wire == scripted.Responses && strings.Contains(string(q.Body), "half the work.")
	}
	if !heard {
		t.Error("the other never heard what was asked")
	}
	e2e.Await(t, "the end of both", func() bool { return r.Status(string(y.Thread)).Execution == nil })
}
