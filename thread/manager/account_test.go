package manager_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"

	"orchestrator/thread"
	exec "orchestrator/thread/work"
)

// payingAgent is a headlessAgent whose account is the key in its environment.
type payingAgent struct{ headlessAgent }

func (a *payingAgent) Account(spec thread.WorldSpec) (string, error) {
	key := ""
	for _, kv := range spec.Env {
		if v, ok := strings.CutPrefix(kv, "PAYS="); ok {
			key = v
		}
	}
	return thread.AccountName(thread.AccountKey, key), nil
}

// withAccounts has claude know who pays, one run at a time each.
func withAccounts(w *world) {
	withRuns(w)
	w.agents["claude"] = &payingAgent{headlessAgent{fullAgent{plainAgent{"claude"}, w.natives}}}
	w.cfg.Runs.Limits.Account = 1
}

// paidBy asks for a run in an environment with a key.
func (w *world) paidBy(key, prompt string) thread.ID {
	w.t.Helper()
	ctx := thread.WithEnviron(context.Background(), []string{"PAYS=" + key})
	s, err := w.m.Creation.New(ctx, thread.NewRequest{Agent: "claude", Prompt: prompt, Once: thread.Once{On: true}})
	if err != nil {
		w.t.Fatal(err)
	}
	return s.ID
}

// TestRunsByAccount: each account has its own limit, and what waits for it says so.
func TestRunsByAccount(t *testing.T) {
	inWorld(t, func(w *world) {
		mine, theirs := thread.AccountName(thread.AccountKey, "sk-mine-1"), thread.AccountName(thread.AccountKey, "sk-theirs-1")
		first, second, other := w.paidBy("sk-mine-1", "one"), w.paidBy("sk-mine-1", "two"), w.paidBy("sk-theirs-1", "three")
		if x := w.runIs(first, exec.Running); x.Account != mine {
			t.Errorf("the account of the first: %q", x.Account)
		}
		if x := w.runIs(other, exec.Running); x.Account != theirs {
			t.Errorf("another account: %q", x.Account)
		}
		if x := w.runIs(second, exec.Queued); x.Reason != "1 of 1 runs of the account "+mine+" are running" {
			t.Errorf("waits because %q", x.Reason)
		}
		unknown := w.once("nobody knows who pays")
		if x := w.runIs(unknown.ID, exec.Running); x.Account != "" {
			t.Errorf("nobody's account: %q", x.Account)
		}
		q, err := w.m.Executions.SetQueue(context.Background(), exec.QueueChange{Account: mine, Limit: 2})
		if err != nil {
			t.Fatal(err)
		}
		var seen []exec.QueueLimit
		for _, l := range q.Limits {
			if l.Account != "" {
				seen = append(seen, l)
			}
		}
		if len(seen) != 2 || q.Limits[0].Account != "" || q.Limits[0].Agent != "" {
			t.Errorf("limits: %+v", q.Limits)
		}
		for _, l := range seen {
			if l.Account == mine && l.Most != 2 || l.Account == theirs && (l.Most != 1 || l.Running != 1) {
				t.Errorf("limit %+v", l)
			}
		}
		w.runIs(second, exec.Running)
		for _, c := range []exec.QueueChange{{Account: mine, Pause: true}, {Account: mine, Agent: "claude", Limit: 1}, {Account: mine}} {
			if _, err := w.m.Executions.SetQueue(context.Background(), c); err == nil {
				t.Errorf("accepted: %+v", c)
			}
		}
	}, withAccounts)
}

// TestRunsOfAnotherAccount: a run that waits counts for the account that it starts with. What a person brought goes with
// the server.
func TestRunsOfAnotherAccount(t *testing.T) {
	inWorld(t, func(w *world) {
		mine, servers := thread.AccountName(thread.AccountKey, "sk-mine-1"), thread.AccountName(thread.AccountKey, "sk-server-1")
		if _, err := w.m.Executions.SetQueue(context.Background(), exec.QueueChange{Pause: true}); err != nil {
			t.Fatal(err)
		}
		prompts := []string{"one", "two"}
		one, two := w.paidBy("sk-mine-1", prompts[0]), w.paidBy("sk-mine-2", prompts[1])
		if x := w.runIs(one, exec.Queued); x.Account != mine {
			t.Errorf("queued with %q", x.Account)
		}
		w.close()
		w.cfg.Env = append(w.cfg.Env, "PAYS=sk-server-1")
		w.open()
		if _, err := w.m.Executions.SetQueue(context.Background(), exec.QueueChange{Resume: true}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if w.execution(one).State == exec.Queued { // both are decided again at once
			one, two, prompts[0], prompts[1] = two, one, prompts[1], prompts[0]
		}
		if x := w.runIs(one, exec.Running); x.Account != servers {
			t.Errorf("it began with %q", x.Account)
		}
		if x := w.runIs(two, exec.Queued); !strings.Contains(x.Reason, servers) {
			t.Errorf("waits with %q because %q", x.Account, x.Reason)
		}
		w.finish(one, prompts[0])
		if x := w.runIs(two, exec.Running); x.Account != servers {
			t.Errorf("the other began with %q", x.Account)
		}
	}, withAccounts)
}

// TestRunsKeepNoKeys: the key that pays is in nothing that the store of executions is given; its account is.
func TestRunsKeepNoKeys(t *testing.T) {
	const key = "sk-quite-a-secret-0123456789"
	inWorld(t, func(w *world) {
		id := w.paidBy(key, "one")
		w.runIs(id, exec.Running)
		w.finish(id, "one")
		x := w.runIs(id, exec.Completed)
		events, err := w.cfg.Runs.Store.Events(context.Background(), x.ID, 0, 0)
		if err != nil || len(events) == 0 {
			t.Fatalf("%v, %v", events, err)
		}
		row, _ := json.Marshal(x)
		record, _ := json.Marshal(events)
		if all := string(row) + string(record); strings.Contains(all, key) || !strings.Contains(all, thread.AccountName(thread.AccountKey, key)) {
			t.Errorf("stored: %s", all)
		}
	}, withAccounts)
}
