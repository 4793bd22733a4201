package main

import (
	"fmt"
	neturl "net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"

	"orchestrator/checkpoint/postgres/pgtest"
	"orchestrator/cmd/orchestrator/exitcode"
	"orchestrator/thread"
)

// database is the PostgreSQL server of the test run, started by the first test that wants it; testMain ends it.
var database pgtest.Server

// keepIn has the program keep its threads in a database from now on.
func (r *rig) keepIn(url string) {
	r.t.Helper()
	put(r.t, filepath.Join(r.home, ".config", "orchestrator", "config.toml"), fmt.Sprintf("store = %q\n", url))
}

// noSecret looks for a database's password in everything that the program wrote or handed on.
func (r *rig) noSecret() {
	r.t.Helper()
	log, err := os.ReadFile(filepath.Join(r.stateDir(), "log", "server.log"))
	if err != nil {
		r.t.Error(err)
	}
	for what, text := range map[string]string{"the log": string(log), "the doctor": r.run("doctor").stdout} {
		if strings.Contains(text, "hunter2") {
			r.t.Errorf("%s shows the password:\n%s", what, text)
		}
	}
}

// TestOnPostgres is a whole life of threads whose store is PostgreSQL.
func TestOnPostgres(t *testing.T) {
	t.Parallel()
	url := database.Database(t, "life")
	r := newRig(t)
	r.keepIn(url)
	parent := r.demo("parent")
	for _, n := range []string{"one", "two", "three"} {
		r.turn(parent, "write notes.txt: "+n)
	}
	fork := r.forkAt(parent)
	r.rewindAndUndo(parent)

	if err := os.Remove(filepath.Join(r.project, "notes.txt")); err != nil { // not committed, and the fork's differs
		t.Fatal(err)
	}
	if report := get[thread.MergeReport](r, "merge", "--no-tell", fork); report.Commit == "" {
		t.Errorf("merge: %+v", report)
	}
	if report := get[thread.MergeReport](r, "finish", fork); !report.Finished {
		t.Errorf("finish: %+v", report)
	}
	if got := r.read("better.txt"); !strings.Contains(got, "yes") {
		t.Errorf("better.txt after the merge: %q", got)
	}

	file := filepath.Join(r.home, "carried")
	r.ok("export", parent, "-o", file)
	imported := get[thread.Status](r, "import", file)
	if imported.Turn != 3 || imported.Name == parent {
		t.Errorf("the import: %+v", imported.Thread)
	}
	r.lifeCycle(imported.Name)

	r.ok("threads") // starts the server
	r.sizes(url)
	r.killedAndResumed(parent)
	r.noSecret()
	if _, err := os.Stat(filepath.Join(r.stateDir(), "state.db")); !os.IsNotExist(err) {
		t.Errorf("there is a SQLite database beside it: %v", err)
	}
}

// forkAt forks a thread of three turns at its first and works in the fork.
func (r *rig) forkAt(parent string) string {
	r.t.Helper()
	fork := get[thread.Status](r, "fork", "another way", "-t", parent, "--at", "1")
	b, err := os.ReadFile(filepath.Join(fork.Dir, "notes.txt"))
	if err != nil || !strings.Contains(string(b), "one") {
		r.t.Errorf("the fork's notes.txt: %q, %v", b, err)
	}
	r.turn(fork.Name, "write better.txt: yes")
	turns := get[[]thread.Checkpoint](r, "checkpoint", "list", fork.Name)
	if len(turns) != 2 || turns[1].Prompt != "write notes.txt: one" || turns[0].Snapshot == nil {
		r.t.Errorf("the fork's turns: %+v", turns)
	}
	if shown := r.ok("checkpoint", "show", fork.Name, "2"); strings.Contains(shown, "three") {
		r.t.Errorf("the fork knows of turn 3:\n%s", shown)
	}
	if found := r.ok("find", "better yes"); !strings.Contains(found, fork.Name) || strings.Contains(found, parent) {
		r.t.Errorf("find: %s", found)
	}
	return fork.Name
}

// rewindAndUndo sets a thread of three turns back to its first, and forth again.
func (r *rig) rewindAndUndo(name string) {
	r.t.Helper()
	report := get[thread.RewindReport](r, "checkpoint", "restore", name, "1")
	if s := r.status(name); s.Turn != 1 || !strings.Contains(r.read("notes.txt"), "one") {
		r.t.Errorf("turn %d after the rewind, notes.txt %q", s.Turn, r.read("notes.txt"))
	}
	r.ok("checkpoint", "restore", name, string(report.Safety))
	if s := r.status(name); s.Turn != 3 || !strings.Contains(r.read("notes.txt"), "three") {
		r.t.Errorf("turn %d after the undo, notes.txt %q", s.Turn, r.read("notes.txt"))
	}
}

// lifeCycle renames, archives, restores, deletes, undeletes and collects a thread.
func (r *rig) lifeCycle(name string) {
	r.t.Helper()
	name = r.ok("rename", name, "carried over")
	r.ok("archive", name)
	if s := r.status(name); s.Archived.IsZero() {
		r.t.Errorf("not archived: %+v", s.Thread)
	}
	r.ok("restore", name)
	r.ok("delete", name)
	if strings.Contains(r.ok("threads", "--all"), name) {
		r.t.Errorf("%s is listed after its deletion", name)
	}
	r.ok("undelete", name)
	r.ok("resume", name)
	r.turn(name, "list files")
	if s := r.status(name); s.Turn != 4 {
		r.t.Errorf("the import stands at turn %d after going on", s.Turn)
	}
	r.ok("archive", name)
	r.ok("stop")
	env := r.env
	r.env = append(append([]string(nil), env...), "ORCHESTRATOR_RETENTION_SIZE_MB=0", "ORCHESTRATOR_RETENTION_THREADS=1")
	if out := r.ok("gc"); !strings.Contains(out, "1 thread(s)") { // the merged fork is older
		r.t.Errorf("gc: %s", out)
	}
	r.ok("stop")
	r.env = env
}

// sizes compares what the doctor says with what the database holds.
func (r *rig) sizes(url string) {
	r.t.Helper()
	c, err := pgx.Connect(r.t.Context(), url)
	if err != nil {
		r.t.Fatal(err)
	}
	defer func() { _ = c.Close(r.t.Context()) }()
	var threads, checkpoints int
	var content, packed int64
	row := c.QueryRow(r.t.Context(), `SELECT (SELECT count(*) FROM orchestrator.thread), count(*), sum(raw), sum(length(data)) FROM orchestrator.checkpoint`)
	if err := row.Scan(&threads, &checkpoints, &content, &packed); err != nil {
		r.t.Fatal(err)
	}
	want := fmt.Sprintf("%d threads here, %d checkpoints in the whole project: %s in %s; database", threads, checkpoints, thread.Bytes(content), thread.Bytes(packed))
	if out := r.ok("doctor"); !strings.Contains(out, want) || !strings.Contains(out, "PostgreSQL life") {
		r.t.Errorf("the doctor does not say %q:\n%s", want, out)
	}
}

// killedAndResumed kills our server in the middle of an answer.
func (r *rig) killedAndResumed(name string) {
	r.t.Helper()
	if r.status(name).Execution == nil {
		r.ok("resume", name)
	}
	r.ok("send", "-d", name, "#slow:30s list files")
	r.awaitState(name, thread.StateWorking)
	if err := syscall.Kill(r.serverPID(), syscall.SIGKILL); err != nil {
		r.t.Fatal(err)
	}
	if s := r.status(name); s.State.State != thread.StateInterrupted || s.Turn != 3 {
		r.t.Errorf("after the kill: %s, turn %d", s.State.State, s.Turn)
	}
	r.ok("resume", name)
	r.turn(name, "list files")
	if s := r.status(name); s.Turn < 4 || s.Interrupted {
		r.t.Errorf("after the resume: turn %d, interrupted %v", s.Turn, s.Interrupted)
	}
	if out := r.ok("checkpoint", "show", name, "3"); !strings.Contains(out, "three") {
		r.t.Errorf("turn 3 after the resume:\n%s", out)
	}
}

// TestSharedDatabase has two projects and two servers of one project in one database.
func TestSharedDatabase(t *testing.T) {
	t.Parallel()
	url := database.Database(t, "several")
	a, b, other := newRig(t), newRig(t), newRig(t)
	for r, project := range map[*rig]string{a: "ours", b: "ours", other: "theirs"} {
		r.keepIn(url)
		r.env = append(r.env, "ORCHESTRATOR_PROJECT="+project)
	}
	name := a.demo("same name")
	a.turn(name, "write notes.txt: mine")
	file := filepath.Join(a.home, "carried")
	a.ok("export", name, "-o", file)

	if s := get[thread.Status](other, "import", file); s.Name != name {
		t.Errorf("another project has its own names, but the import is called %s", s.Name)
	}
	here := get[thread.Status](b, "import", file)
	if here.Name == name {
		t.Errorf("two threads of one project are called %s", name)
	}
	for _, r := range []*rig{a, b, other} {
		if list := get[[]thread.Status](r, "threads", "--all"); len(list) != 1 {
			t.Errorf("%d threads are listed, want one's own", len(list))
		}
	}
	b.ok("resume", here.Name)
	b.turn(here.Name, "list files")
	if s := a.status(name); s.Turn != 1 || s.Execution == nil {
		t.Errorf("a neighbour's start or turn changed %+v", s.Thread)
	}
	a.ok("delete", name)
	if out := b.ok("checkpoint", "show", here.Name, "1"); !strings.Contains(out, "mine") {
		t.Errorf("the neighbour's thread after the deletion:\n%s", out)
	}
}

// TestBadDatabase has the configuration name databases that cannot be used.
func TestBadDatabase(t *testing.T) {
	t.Parallel()
	url := database.Database(t, "bad")
	r := newRig(t)
	for _, bad := range []struct {
		url   string
		words []string
	}{
		{strings.Replace(url, "hunter2.", "hunter2.not", 1), []string{"password authentication failed", "PGPASSWORD"}},
		{strings.Replace(url, "?", "missing?", 1), []string{"does not exist", "createdb"}},
		{"postgres://ann:hunter2@127.0.0.1:1/db", []string{"cannot be reached", "connection refused", "is the database running"}},
		{url + "&options=-c%20default_transaction_read_only%3Don", []string{"read-only", "primary"}},
		{"postgres://ann:hunter2@127.0.0.1:port/db", []string{"is not valid", "%40"}},
	} {
		r.keepIn(bad.url)
		r.says(exitcode.Error, bad.words, "threads")
		res := r.run("doctor")
		for _, w := range append(bad.words, "✗ store") {
			if !strings.Contains(res.stdout, w) {
				t.Errorf("the doctor does not say %q:\n%s", w, res.stdout)
			}
		}
		if res := r.run("threads"); strings.Contains(res.stdout+res.stderr, "hunter2") {
			t.Errorf("the password is shown: %s", res.stderr)
		}
		r.noSecret()
	}

	// The password may come from elsewhere; and an agent is not told the way into the store.
	u, err := neturl.Parse(url)
	if err != nil {
		t.Fatal(err)
	}
	password, _ := u.User.Password()
	u.User = neturl.User(u.User.Username())
	r.keepIn("")
	r.env = append(r.env, "PGPASSWORD="+password, "ORCHESTRATOR_STORE="+u.String())
	name := r.demo("told little")
	r.turn(name, "run env")
	if out := r.ok("checkpoint", "show", name, "1"); !strings.Contains(out, "HOME=") || strings.Contains(out, "ORCHESTRATOR_STORE") {
		t.Errorf("the agent's environment:\n%s", out)
	}
}
