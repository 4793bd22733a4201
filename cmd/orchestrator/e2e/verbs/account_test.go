package verbs

import (
	"math"
	"path/filepath"
	"strings"
	"testing"

	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/thread"
	"orchestrator/thread/spending"
)

// TestAccount: what was spent is told, by threads as they count it themselves, and after a restart too.
func TestAccount(t *testing.T) {
	t.Parallel()
	r := e2e.NewRig(t)
	e2e.Put(t, filepath.Join(r.Home, ".config", "orchestrator", "config.toml"),
		"[models]\n\"demo-1\" = { window = 32000, input = 3, output = 15 }\n")
	one, two := r.Demo("one"), r.Demo("two")
	r.Turn(one, "read README.md")
	r.Turn(two, "list files")
	r.Turn(two, "say done")
	read := func() spending.Report { return e2e.Get[spending.Report](r, "cost", "--by", "thread") }
	before := read()
	tokens := map[thread.ID]int64{}
	usd := 0.0
	for _, g := range before.Groups {
		s := g.Spent
		if s.Agent != "demo" || s.Model == "" || s.USD == nil || s.Unpriced > 0 || g.Name == "" {
			t.Errorf("a row is %+v", g)
			continue
		}
		tokens[s.Thread] += s.Tokens()
		usd += *s.USD
	}
	cost := 0.0 // by the threads' own account, at the demo's known prices
	for _, name := range []string{one, two} {
		c, known := r.Status(name).Cost()
		if !known || c <= 0 {
			t.Errorf("%s cost %v, known: %v", name, c, known)
		}
		cost += c
	}
	if math.Abs(usd-cost) > 1e-9 || before.Today.USD == nil || math.Abs(*before.Today.USD-cost) > 1e-9 {
		t.Errorf("it cost $%v by the account, today %v, $%v by the threads", usd, before.Today.USD, cost)
	}
	if said := r.Ok("cost"); !strings.Contains(said, "today "+thread.USD(cost)) || !strings.Contains(said, "AGENT") || !strings.Contains(said, "demo") {
		t.Errorf("it says\n%s", said)
	}
	for _, name := range []string{one, two} {
		if s := r.Status(name); tokens[s.ID] < s.Usage.Context() || tokens[s.ID] == 0 {
			t.Errorf("%s spent %d tokens by the account, %d by its own", name, tokens[s.ID], s.Usage.Context())
		}
	}
	r.Ok("stop", "--force")
	r.Ok("threads")
	after := read()
	if len(after.Groups) != len(before.Groups) {
		t.Errorf("after a restart: %+v, was %+v", after, before)
	}
	r.Ok("resume", one)
	r.Turn(one, "list files")
	if again := read(); len(again.Groups) != len(before.Groups) || again.Today.Tokens() <= before.Today.Tokens() {
		t.Errorf("another turn makes %+v of %+v", again, before)
	}
}
