package databases

import (
	"fmt"
	neturl "net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"

	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/cmd/orchestrator/exitcode"
	"orchestrator/thread"
)

// TestOnPostgres is a whole life of threads whose store is PostgreSQL.
func TestOnPostgres(t *testing.T) {
	t.Parallel()
	url := e2e.Database.Database(t, "life")
	r := e2e.NewRig(t)
	r.KeepIn(url)
	parent := r.Demo("parent")
	for _, n := range []string{"one", "two", "three"} {
		r.Turn(parent, "write notes.txt: "+n)
	}
	fork := forkAt(r, parent)
	rewindAndUndo(r, parent)

	if err := os.Remove(filepath.Join(r.Project, "notes.txt")); err != nil { // not committed, and the fork's differs
		t.Fatal(err)
	}
	if report := e2e.Get[thread.MergeReport](r, "merge", "--no-tell", fork); report.Commit == "" {
		t.Errorf("merge: %+v", report)
	}
	if report := e2e.Get[thread.MergeReport](r, "finish", fork); !report.Finished {
		t.Errorf("finish: %+v", report)
	}
	if got := r.Read("better.txt"); !strings.Contains(got, "yes") {
		t.Errorf("better.txt after the merge: %q", got)
	}

	file := filepath.Join(r.Home, "carried")
	r.Ok("export", parent, "-o", file)
	imported := e2e.Get[thread.Status](r, "import", file)
	if imported.Turn != 3 || imported.Name == parent {
		t.Errorf("the import: %+v", imported.Thread)
	}
	lifeCycle(r, imported.Name)

	r.Ok("threads") // starts the server
	sizes(r, url)
	killedAndResumed(r, parent)
	r.NoSecret()
	if _, err := os.Stat(filepath.Join(r.StateDir(), "state.db")); !os.IsNotExist(err) {
		t.Errorf("there is a SQLite database beside it: %v", err)
	}
}

// forkAt forks a thread of three turns at its first and works in the fork.
func forkAt(r *e2e.Rig, parent string) string {
	r.T.Helper()
	fork := e2e.Get[thread.Status](r, "fork", "another way", "-t", parent, "--at", "1")
	b, err := os.ReadFile(filepath.Join(fork.Dir, "notes.txt"))
	if err != nil || !strings.Contains(string(b), "one") {
		r.T.Errorf("the fork's notes.txt: %q, %v", b, err)
	}
	r.Turn(fork.Name, "write better.txt: yes")
	turns := e2e.Get[[]thread.Checkpoint](r, "checkpoint", "list", fork.Name)
	if len(turns) != 2 || turns[1].Prompt != "write notes.txt: one" || turns[0].Snapshot == nil {
		r.T.Errorf("the fork's turns: %+v", turns)
	}
	if shown := r.Ok("checkpoint", "show", fork.Name, "2"); strings.Contains(shown, "three") {
		r.T.Errorf("the fork knows of turn 3:\n%s", shown)
	}
	if found := r.Ok("find", "better yes"); !strings.Contains(found, fork.Name) || strings.Contains(found, parent) {
		r.T.Errorf("find: %s", found)
	}
	return fork.Name
}

// rewindAndUndo sets a thread of three turns back to its first, and forth again.
func rewindAndUndo(r *e2e.Rig, name string) {
	r.T.Helper()
	report := e2e.Get[thread.RewindReport](r, "checkpoint", "restore", name, "1")
	if s := r.Status(name); s.Turn != 1 || !strings.Contains(r.Read("notes.txt"), "one") {
		r.T.Errorf("turn %d after the rewind, notes.txt %q", s.Turn, r.Read("notes.txt"))
	}
	r.Ok("checkpoint", "restore", name, string(report.Safety))
	if s := r.Status(name); s.Turn != 3 || !strings.Contains(r.Read("notes.txt"), "three") {
		r.T.Errorf("turn %d after the undo, notes.txt %q", s.Turn, r.Read("notes.txt"))
	}
}

// lifeCycle renames, archives, restores, deletes, undeletes and collects a thread.
func lifeCycle(r *e2e.Rig, name string) {
	r.T.Helper()
	name = r.Ok("rename", name, "carried over")
	r.Ok("archive", name)
	if s := r.Status(name); s.Archived.IsZero() {
		r.T.Errorf("not archived: %+v", s.Thread)
	}
	r.Ok("restore", name)
	r.Ok("delete", name)
	if strings.Contains(r.Ok("threads", "--all"), name) {
		r.T.Errorf("%s is listed after its deletion", name)
	}
	r.Ok("undelete", name)
	r.Ok("resume", name)
	r.Turn(name, "list files")
	if s := r.Status(name); s.Turn != 4 {
		r.T.Errorf("the import stands at turn %d after going on", s.Turn)
	}
	r.Ok("archive", name)
	r.Ok("stop")
	env := r.Env
	r.Env = append(append([]string(nil), env...), "ORCHESTRATOR_RETENTION_SIZE_MB=0", "ORCHESTRATOR_RETENTION_THREADS=1")
	if out := r.Ok("gc"); !strings.Contains(out, "1 thread(s)") { // the merged fork is older
		r.T.Errorf("gc: %s", out)
	}
	r.Ok("stop")
	r.Env = env
}

// sizes compares what the doctor says with what the database holds.
func sizes(r *e2e.Rig, url string) {
	r.T.Helper()
	c, err := pgx.Connect(r.T.Context(), url)
	if err != nil {
		r.T.Fatal(err)
	}
	defer func() { _ = c.Close(r.T.Context()) }()
	var threads, checkpoints int
	var content, packed int64
	row := c.QueryRow(r.T.Context(), `SELECT (SELECT count(*) FROM orchestrator.thread), count(*), sum(raw), sum(length(data)) FROM orchestrator.checkpoint`)
	if err := row.Scan(&threads, &checkpoints, &content, &packed); err != nil {
		r.T.Fatal(err)
	}
	want := fmt.Sprintf("%d threads here, %d checkpoints in the whole project: %s in %s; database", threads, checkpoints, thread.Bytes(content), thread.Bytes(packed))
	if out := r.Ok("doctor"); !strings.Contains(out, want) || !strings.Contains(out, "PostgreSQL life") {
		r.T.Errorf("the doctor does not say %q:\n%s", want, out)
	}
}

// killedAndResumed kills our server in the middle of an answer.
func killedAndResumed(r *e2e.Rig, name string) {
	r.T.Helper()
	if r.Status(name).Execution == nil {
		r.Ok("resume", name)
	}
	r.Ok("send", "-d", name, "#slow:30s list files")
	r.AwaitState(name, thread.StateWorking)
	if err := syscall.Kill(r.ServerPID(), syscall.SIGKILL); err != nil {
		r.T.Fatal(err)
	}
	if s := r.Status(name); s.State.State != thread.StateInterrupted || s.Turn != 3 {
		r.T.Errorf("after the kill: %s, turn %d", s.State.State, s.Turn)
	}
	r.Ok("resume", name)
	r.Turn(name, "list files")
	if s := r.Status(name); s.Turn < 4 || s.Interrupted {
		r.T.Errorf("after the resume: turn %d, interrupted %v", s.Turn, s.Interrupted)
	}
	if out := r.Ok("checkpoint", "show", name, "3"); !strings.Contains(out, "three") {
		r.T.Errorf("turn 3 after the resume:\n%s", out)
	}
}

// TestSharedDatabase has two projects and two servers of one project in one database.
func TestSharedDatabase(t *testing.T) {
	t.Parallel()
	url := e2e.Database.Database(t, "several")
	a, b, other := e2e.NewRig(t), e2e.NewRig(t), e2e.NewRig(t)
	for r, project := range map[*e2e.Rig]string{a: "ours", b: "ours", other: "theirs"} {
		r.KeepIn(url)
		r.Env = append(r.Env, "ORCHESTRATOR_PROJECT="+project)
	}
	name := a.Demo("same name")
	a.Turn(name, "write notes.txt: mine")
	file := filepath.Join(a.Home, "carried")
	a.Ok("export", name, "-o", file)

	if s := e2e.Get[thread.Status](other, "import", file); s.Name != name {
		t.Errorf("another project has its own names, but the import is called %s", s.Name)
	}
	here := e2e.Get[thread.Status](b, "import", file)
	if here.Name == name {
		t.Errorf("two threads of one project are called %s", name)
	}
	for _, r := range []*e2e.Rig{a, b, other} {
		if list := e2e.Get[[]thread.Status](r, "threads", "--all"); len(list) != 1 {
			t.Errorf("%d threads are listed, want one's own", len(list))
		}
	}
	b.Ok("resume", here.Name)
	b.Turn(here.Name, "list files")
	if s := a.Status(name); s.Turn != 1 || s.Execution == nil {
		t.Errorf("a neighbour's start or turn changed %+v", s.Thread)
	}
	a.Ok("delete", name)
	if out := b.Ok("checkpoint", "show", here.Name, "1"); !strings.Contains(out, "mine") {
		t.Errorf("the neighbour's thread after the deletion:\n%s", out)
	}
}

// TestBadDatabase has the configuration name databases that cannot be used.
func TestBadDatabase(t *testing.T) {
	t.Parallel()
	url := e2e.Database.Database(t, "bad")
	r := e2e.NewRig(t)
	for _, bad := range []struct {
		url   string
		words []string
	}{
		{strings.Replace(url, "hunter2.", "hunter2.not", 1), []string{"password authentication failed", "PGPASSWORD"}},
		{strings.Replace(url, "?", "missing?", 1), []string{"does not exist", "createdb"}},
		{"postgres://ann:hunter2@127.0.0.1:1/db", []string{"cannot be reached", "connection refused", "Is the database running"}},
		{url + "&options=-c%20default_transaction_read_only%3Don", []string{"read-only", "primary"}},
		{"postgres://ann:hunter2@127.0.0.1:port/db", []string{"is not valid", "%40"}},
	} {
		r.KeepIn(bad.url)
		r.Says(exitcode.Error, bad.words, "threads")
		res := r.Run("doctor")
		for _, w := range append(bad.words, "× store") {
			if !strings.Contains(res.Stdout, w) {
				t.Errorf("the doctor does not say %q:\n%s", w, res.Stdout)
			}
		}
		if res := r.Run("threads"); strings.Contains(res.Stdout+res.Stderr, "hunter2") {
			t.Errorf("the password is shown: %s", res.Stderr)
		}
		r.NoSecret()
	}

	// The password may come from elsewhere; and an agent is not told the way into the store.
	u, err := neturl.Parse(url)
	if err != nil {
		t.Fatal(err)
	}
	password, _ := u.User.Password()
	u.User = neturl.User(u.User.Username())
	r.KeepIn("")
	r.Env = append(r.Env, "PGPASSWORD="+password, "ORCHESTRATOR_STORE="+u.String())
	name := r.Demo("told little")
	r.Turn(name, "run env")
	if out := r.Ok("checkpoint", "show", name, "1"); !strings.Contains(out, "HOME=") || strings.Contains(out, "ORCHESTRATOR_STORE") {
		t.Errorf("the agent's environment:\n%s", out)
	}
}
