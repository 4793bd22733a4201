package screens

import (
	"path/filepath"
	"strings"
	"testing"

	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/thread"
)

// TestMoneyOnTheScreen: the head line says what today cost and the limit that the provider reported, $ lists both, and
// the context is shown after a restart as it was.
func TestMoneyOnTheScreen(t *testing.T) {
	t.Parallel()
	r := e2e.NewRig(t)
	e2e.Put(t, filepath.Join(r.Home, ".config", "orchestrator", "config.toml"),
		"[models]\n\"demo-1\" = { window = 32000, input = 3000, output = 15000 }\n")
	name := r.Demo("docs")
	r.Turn(name, "say hello #limit:61")
	usd, known := r.Status(name).Cost()
	if !known || usd < 0.01 {
		t.Fatalf("it cost %v, known: %v", usd, known)
	}
	s := r.Open(120, 36)
	s.See(thread.USD(usd)+" today", "5h ", "61%")
	r.Turn(name, "say more")
	usd, _ = r.Status(name).Cost()
	s.See(thread.USD(usd) + " today")
	s.Press("$")
	s.See("▸today "+thread.USD(usd), "demo-1", "1 thread", "5h", "61%", "in 1h")
	s.Press("\t")
	s.See("▸agent")
	s.Press("\t")
	s.See("▸thread", "docs")
	s.Press("\x1b")
	e2e.Await(t, "the panel's end", func() bool { return !strings.Contains(s.Text(), "┌ money") })
	s.Press("\t")
	s.See("R rewind")
	s.Press("\t")
	s.See("system", "messages", "Results 0", "Growth over")
	s.Press("\x1b")
	s.See("n new")
	s.Press("q")
	s.End()
	r.Ok("stop", "--force")
	r.Ok("threads")
	if now := e2e.Get[thread.ContextReport](r, "context", "show", name); len(now.Parts) == 0 || now.Tokens == 0 {
		t.Errorf("after a restart the context is %+v", now)
	}
}
