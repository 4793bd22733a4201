package outputs

import (
	"strings"
	"testing"

	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/cmd/orchestrator/exitcode"
	"orchestrator/thread"
)

// TestNamesAreTheServers has an archived thread and a running one with the same beginning: every verb means the one
// that is not put away.
func TestNamesAreTheServers(t *testing.T) {
	t.Parallel()
	r := e2e.NewRig(t)
	old := r.Demo("auth")
	r.Ok("archive", old)
	name := r.Demo("auth")
	if got := e2e.Get[e2e.Answer](r, "send", "auth", "list files").Thread; got != name {
		t.Errorf("send auth went to %s, not to %s", got, name)
	}
	if got := e2e.Get[e2e.Exported](r, "export", "auth").Thread; got != name {
		t.Errorf("export auth took %s, not %s", got, name)
	}
	if res := r.Run("attach", "auth"); res.Code != exitcode.Error || !strings.Contains(res.Stderr, "terminal") {
		t.Errorf("attach auth: exit %d, %s", res.Code, res.Stderr)
	}
}

// TestPromptsThatHaveEnded: to change one, or send it again, is asked rightly and not possible as things are.
func TestPromptsThatHaveEnded(t *testing.T) {
	t.Parallel()
	r := e2e.NewRig(t)
	name := r.Demo("ended")
	r.Turn(name, "list files")
	answered := e2e.Get[[]thread.Prompt](r, "prompts", name)[0].ID
	for _, verb := range [][]string{{"edit", string(answered), "x"}, {"cancel", string(answered)}, {"again", string(answered)}} {
		r.Says(exitcode.Refused, []string{"answered"}, append([]string{"prompts"}, verb...)...)
	}
	r.Says(exitcode.Usage, []string{"empty"}, "prompts", "edit", string(answered), " ")
	r.Ok("stop", name)
	r.Says(exitcode.Refused, []string{"answered"}, "prompts", "again", string(answered))
}
