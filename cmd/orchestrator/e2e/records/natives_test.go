package records

import (
	"database/sql"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	_ "github.com/mattn/go-sqlite3"

	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/thread/work"
)

// sharing has the demo agent start two sub-agents, one of which starts another.
const sharing = "sub-agent explore: say: I found it\nsub-agent plan: sub-agent look: say: it is deep"

// natives are the rows of sub-agents, oldest first.
func natives(r *e2e.Rig) []work.Row {
	r.T.Helper()
	list := e2e.Get[[]work.Row](r, "exec", "query", "--origin", "native")
	slices.Reverse(list)
	return list
}

// find returns an execution.
func find(r *e2e.Rig, ref work.ID) work.Execution {
	r.T.Helper()
	return e2e.Get[work.Execution](r, "exec", "show", string(ref))
}

// TestNatives: what an agent starts by itself is recorded while it works, in a terminal and in a run, with who started it.
func TestNatives(t *testing.T) {
	t.Parallel()
	r := e2e.NewRig(t)
	name := r.Ok("new", "-a", "demo", "shares")
	r.Ok("send", name, sharing)
	r.Ok("run", "--once", "-a", "demo", "--no-worktree", sharing)
	var rows []work.Row
	e2e.Await(t, "the end of six sub-agents", func() bool {
		rows = natives(r)
		return len(rows) == 6 && !slices.ContainsFunc(rows, func(x work.Row) bool { return x.State != work.Completed })
	})
	for i, kind := range []work.Kind{work.KindTerminal, work.KindRun} {
		explore, plan, look := rows[3*i], rows[3*i+1], rows[3*i+2]
		if explore.AgentType != "explore" || explore.Scope != "say: I found it" || explore.Message != "I found it" || explore.Out == 0 ||
			plan.AgentType != "plan" || look.AgentType != "look" || look.Message != "it is deep" || look.Parent != plan.ID || explore.Parent != plan.Parent {
			t.Errorf("%+v", rows)
		}
		parent := find(r, plan.Parent)
		if parent.Kind != kind || parent.Usage.Output <= explore.Out+plan.Out+look.Out {
			t.Errorf("their parent: %+v", parent)
		}
	}
	r.Ok("stop", name)
	e2e.Await(t, "the end of the terminal", func() bool {
		x := find(r, rows[0].Parent)
		return x.State == work.Completed && x.Base != "" && x.Result != "" && x.Said > 0 && x.Given > 0
	})
	r.Ok("resume", name)
	again := e2e.Get[[]work.Row](r, "exec", "query", "--origin", "ours")
	if n := len(slices.DeleteFunc(again, func(x work.Row) bool { return x.Kind != work.KindTerminal })); n != 2 {
		t.Errorf("%d terminals after a resume", n)
	}
}

// TestNativesKilled kills the server, and then only the agent, while a sub-agent works: it is lost, and has its row.
func TestNativesKilled(t *testing.T) {
	t.Parallel()
	r := e2e.NewRig(t)
	name := r.Ok("new", "-a", "demo", "shares")
	atWork := func(n int) {
		r.Ok("send", "-d", name, "sub-agent explore: count to 5000")
		e2e.Await(t, "a sub-agent at work", func() bool {
			rows := natives(r)
			return len(rows) == n && rows[n-1].State == work.Running && rows[n-1].Scope == "count to 5000"
		})
	}
	lost := func(n int, parent work.State) {
		e2e.Await(t, "the row of what was killed", func() bool {
			rows := natives(r)
			return len(rows) == n && rows[n-1].State == work.Lost && find(r, rows[n-1].Parent).State == parent
		})
	}
	atWork(1)
	if err := syscall.Kill(r.ServerPID(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	lost(1, work.Lost)
	r.Ok("resume", name)
	atWork(2)
	if err := syscall.Kill(r.Status(name).Execution.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	lost(2, work.Failed)
}

// TestTerminalsWithoutRecord: while another program holds the record's database, a terminal starts and answers; its row is
// there once that is over.
func TestTerminalsWithoutRecord(t *testing.T) {
	t.Parallel()
	r := e2e.NewRig(t)
	name := r.Ok("new", "-a", "demo", "first")
	r.Ok("send", name, "hello")
	db, err := sql.Open("sqlite3", filepath.Join(r.StateDir(), "work.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	if _, err := db.Exec("BEGIN EXCLUSIVE"); err != nil {
		t.Fatal(err)
	}
	before := time.Now()
	other := r.Ok("new", "-a", "demo", "second")
	if out := r.Ok("send", other, sharing); out == "" {
		t.Error("no answer")
	}
	t.Logf("a terminal started and answered in %v", time.Since(before))
	if _, err := db.Exec("COMMIT"); err != nil {
		t.Fatal(err)
	}
	e2e.Await(t, "the rows", func() bool {
		ours := e2e.Get[[]work.Row](r, "exec", "query", "--origin", "ours")
		rows := natives(r)
		return len(ours) == 2 && len(rows) == 3 && strings.HasPrefix(ours[0].Execution, "term-") && ours[0].Message != "" && rows[2].State == work.Completed
	})
}
