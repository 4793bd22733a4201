package records

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"

	"orchestrator/checkpoint/postgres/pgtest"
	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/cmd/orchestrator/exitcode"
	"orchestrator/thread"
	"orchestrator/thread/work"
)

// script returns a shell session of instructions for agents, as they print it, with this program in the place of their
// scripts and nothing else changed.
func script(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name+".sh"))
	if err != nil {
		t.Fatal(err)
	}
	return "set -e\n" + regexp.MustCompile(`python scripts/([a-z_]+)\.py`).ReplaceAllString(string(text), "orchestrator $1")
}

// withBundles is withFiles with the bundles that the instructions take for granted.
func withBundles(t *testing.T, names ...string) *e2e.Rig {
	t.Helper()
	r := withFiles(t)
	for _, name := range names {
		r.Ok("bundle", "prepare", "--agent-type", "tester", "--scope", "Test the search", "--files", map[bool]string{true: "spec/requirements.md", false: "spec/requirements.md,lib/types.ts"}[name == "bundle-001.json"], "--output", name)
	}
	return r
}

// TestTheirShellSession runs the shell sessions of the instructions: typed by a person, run by an agent inside a thread,
// and by the demo agent on a prompt. Then the views say what they have done, read while the server writes.
func TestTheirShellSession(t *testing.T) {
	e2e.ManyStarts(t)
	t.Parallel()
	for _, name := range []string{"usage", "phases"} {
		bundles := []string{"bundle-002.json"}
		if name == "usage" {
			bundles = []string{"bundle-001.json", "bundle-002.json"}
		}
		for who, run := range map[string]func(*testing.T, *e2e.Rig, string) thread.ID{"a person": typed, "an agent": inside, "the demo": asked} {
			t.Run(name+" by "+who, func(t *testing.T) {
				t.Parallel()
				r := withBundles(t, bundles...)
				by := run(t, r, script(t, name))
				checkSession(t, r, name, by)
			})
		}
	}
}

func typed(_ *testing.T, r *e2e.Rig, script string) thread.ID {
	r.Shell(script)
	return ""
}

func inside(t *testing.T, r *e2e.Rig, script string) thread.ID {
	in := r.AgentShell("inside")
	if res := in.Sh("cd " + r.Project + "\n" + script); res.Code != exitcode.OK {
		t.Fatalf("exit %d\n%s%s", res.Code, res.Stdout, res.Stderr)
	}
	return r.Status(in.Name).ID
}

func asked(t *testing.T, r *e2e.Rig, script string) thread.ID {
	r.Write("session.sh", script)
	name := r.Demo("-p", "run sh session.sh >session.out 2>&1 && touch session.done", "recorder")
	r.AwaitState(name, thread.StateDone)
	if _, err := os.Stat(filepath.Join(r.Project, "session.done")); err != nil {
		t.Fatalf("it did not end well:\n%s", r.Read("session.out"))
	}
	return r.Status(name).ID
}

// checkSession holds what the views and the verbs tell of a session.
func checkSession(t *testing.T, r *e2e.Rig, name string, by thread.ID) {
	t.Helper()
	file := filepath.Join(r.StateDir(), "work.db")
	status, phase, scope := "completed", "5", "Implement vector search"
	if name == "usage" { // which does not complete it
		status, phase, scope = "executing", "3", "Implement vector search feature"
	}
	for query, want := range map[string]string{
		"SELECT session_id, scope, phase, status, coalesce(recorded_by, '') FROM sessions":                                                                                                      "orch-2025-01-17-001|" + scope + "|" + phase + "|" + status + "|" + string(by),
		"SELECT execution_id, session_id, agent_type, status, success, final_message, origin, completed_at >= deployed_at, coalesce(recorded_by, '') FROM agent_executions WHERE kind = 'hand'": "exec-001|orch-2025-01-17-001|task-implementor|completed|1|The search is written.|hand|1|" + string(by),
		"SELECT count(DISTINCT path) FROM outputs WHERE execution_id = 'exec-001' AND output_type = 'deliverable'":                                                                              "2",
		"SELECT count(*) FROM outputs WHERE output_type = 'validation_result'":                                                                                                                  "1",
	} {
		if got := readView(t, file, query); got != want {
			t.Errorf("%s:\n%s\nwant\n%s", query, got, want)
		}
	}
	if name == "phases" {
		got := readView(t, file, "SELECT context_source, included_in_deployment, claimed, token_count > 0 FROM context_allocations ORDER BY 1")
		if want := "lib/types.ts|1|1|1\nspec/requirements.md|1|1|1"; got != want {
			t.Errorf("it was given\n%s\nwant\n%s", got, want)
		}
	}
	if report := r.Read("report.md"); !strings.Contains(report, "lib/vector-search.ts") {
		t.Errorf("the report says\n%s", report)
	}
}

// readView returns the rows of a query as sqlite3 prints them to a person, read-only beside the server; without that
// program, as the driver reads them.
func readView(t *testing.T, file, query string) string {
	t.Helper()
	if sqlite, err := exec.LookPath("sqlite3"); err == nil {
		out, err := exec.Command(sqlite, "-readonly", file, query).CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v %s", query, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	db, err := sql.Open("sqlite3", "file:"+file+"?mode=ro")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	rows, err := db.QueryContext(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for rows.Next() {
		cells, into := make([]sql.NullString, len(columns)), make([]any, len(columns))
		for i := range cells {
			into[i] = &cells[i]
		}
		if err := rows.Scan(into...); err != nil {
			t.Fatal(err)
		}
		words := make([]string, len(cells))
		for i, c := range cells {
			words[i] = c.String
		}
		lines = append(lines, strings.Join(words, "|"))
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return strings.Join(lines, "\n")
}

// TestKilledBetweenTwoVerbs kills the server after every step of the session: each row that a verb has told of is there.
func TestKilledBetweenTwoVerbs(t *testing.T) {
	e2e.ManyStarts(t)
	t.Parallel()
	r := withBundles(t, "bundle-002.json")
	steps := regexp.MustCompile(`(?m)^orchestrator (?:.*\\\n)*.*$`).FindAllString(script(t, "phases"), -1)
	if len(steps) != 12 {
		t.Fatalf("%d steps: %q", len(steps), steps)
	}
	for _, step := range steps {
		r.Shell(step)
		for _, pid := range r.Servers() { // some steps need none
			if err := syscall.Kill(pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
				t.Fatal(err)
			}
		}
	}
	r.Ok("exec", "query") // a server that has rescued what there is
	checkSession(t, r, "phases", "")
}

// TestTwoAtOnce has several people write down the same things at once: each thing is there once.
func TestTwoAtOnce(t *testing.T) {
	t.Parallel()
	r := withFiles(t)
	r.Ok("version")
	var wait sync.WaitGroup
	var mu sync.Mutex
	ended := map[int]int{}
	for range 6 {
		wait.Go(func() {
			a := r.Run("session", "init", "the same", "--as", "same")
			b := r.Run("exec", "init", "the same", "--type", "t", "--as", "exec-001")
			mu.Lock()
			defer mu.Unlock()
			ended[a.Code]++
			ended[b.Code]++
		})
	}
	wait.Wait()
	if ended[exitcode.OK] != 2 || ended[exitcode.Refused] != 10 {
		t.Errorf("they ended with %v", ended)
	}
	if rows := e2e.Get[[]work.Row](r, "exec", "query"); len(rows) != 1 {
		t.Errorf("%+v", rows)
	}
}

// TestRecordInPostgres runs the session on a database, which goes away in its middle: a verb says so, and once it is back
// the session goes on. A person reads the views beside the server.
func TestRecordInPostgres(t *testing.T) {
	e2e.ManyStarts(t)
	t.Parallel()
	own := new(pgtest.Server)
	t.Cleanup(func() {
		if err := own.Close(); err != nil {
			t.Error(err)
		}
	})
	url := own.Database(t, "record")
	r := withFiles(t)
	r.KeepIn(url)
	r.Ok("bundle", "prepare", "--agent-type", "tester", "--scope", "Test the search", "--files", "lib/types.ts", "--output", "bundle-002.json")
	before, after, found := strings.Cut(script(t, "phases"), "# AFTER completion")
	if !found {
		t.Fatal("the session is another")
	}
	r.Shell(before)
	own.Kill(t, syscall.SIGKILL)
	for _, verb := range [][]string{{"exec", "complete", "exec-001"}, {"session", "init", "another"}, {"exec", "query"}} {
		if res := r.Run(verb...); res.Code != exitcode.Refused || !strings.Contains(res.Stderr, "Is the database running") {
			t.Errorf("%v without its store: exit %d: %s%s", verb, res.Code, res.Stdout, res.Stderr)
		}
	}
	own.Start(t)
	e2e.Await(t, "the server to go on by itself", func() bool { return r.Run("exec", "query").Code == exitcode.OK })
	r.Shell("set -e\n#" + after)
	db, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close(context.Background()) //nolint:errcheck // it was read only
	var sessions, executions, outputs, allocations string
	err = db.QueryRow(t.Context(), `SELECT (SELECT session_id || ' ' || status || ' ' || phase FROM orchestrator.sessions), (SELECT execution_id || ' ' || status || ' ' || final_message FROM orchestrator.agent_executions),
		(SELECT string_agg(DISTINCT output_type, ' ' ORDER BY output_type) FROM orchestrator.outputs), (SELECT string_agg(context_source, ' ' ORDER BY context_source) FROM orchestrator.context_allocations)`).Scan(
		&sessions, &executions, &outputs, &allocations)
	got := []string{sessions, executions, outputs, allocations}
	if want := []string{
		"orch-2025-01-17-001 completed 5", "exec-001 completed The search is written.", "deliverable validation_result", "lib/types.ts spec/requirements.md",
	}; err != nil || !slices.Equal(got, want) {
		t.Errorf("the views have %q, %v, want %q", got, err, want)
	}
}
