package verbs

import (
	"testing"
	"time"

	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/thread"
	"orchestrator/thread/api"
	"orchestrator/thread/ledger"
)

// TestAccount: what was spent and what the provider said of its limits is told, after a restart too.
func TestAccount(t *testing.T) {
	t.Parallel()
	r := e2e.NewRig(t)
	one, two := r.Demo("one"), r.Demo("two")
	r.Turn(one, "read README.md")
	r.Turn(two, "list files")
	r.Turn(two, "say done #429x1")
	read := func() ledger.Account {
		cl := r.Client()
		defer cl.Close()
		info, err := api.Info.Do(t.Context(), cl, api.InfoRequest{Sizes: true})
		if err != nil || info.Account == nil {
			t.Fatalf("account: %v, %v", info.Account, err)
		}
		return *info.Account
	}
	before := read()
	tokens := map[thread.ID]int64{}
	for _, s := range before.Spent {
		if s.Agent != "demo" || s.Model == "" || s.Day == "" || s.USD == nil && s.Unpriced != s.Answers || s.USD != nil && s.Unpriced == s.Answers {
			t.Errorf("a row is %+v", s)
		}
		tokens[s.Thread] += s.Input + s.CacheRead + s.CacheWrite + s.Output
	}
	for _, name := range []string{one, two} {
		if s := r.Status(name); tokens[s.ID] < s.Usage.Context() || tokens[s.ID] == 0 {
			t.Errorf("%s spent %d tokens by the account, %d by its own", name, tokens[s.ID], s.Usage.Context())
		}
	}
	if len(before.Quotas) != 1 || before.Quotas[0].Window != "retry" || before.Quotas[0].Thread != r.Status(two).ID ||
		before.Quotas[0].Upstream == "" || time.Since(before.Quotas[0].At) > time.Hour {
		t.Errorf("limits: %+v", before.Quotas)
	}
	r.Ok("stop", "--force")
	r.Ok("threads")
	after := read()
	if len(after.Spent) != len(before.Spent) || len(after.Quotas) != len(before.Quotas) {
		t.Errorf("after a restart: %+v, was %+v", after, before)
	}
	r.Ok("resume", one)
	r.Turn(one, "list files")
	if again := read(); len(again.Spent) != len(before.Spent) || again.Spent[0].Day != before.Spent[0].Day {
		t.Errorf("another turn makes %+v of %+v", again.Spent, before.Spent)
	}
}
