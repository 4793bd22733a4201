package records

import (
	"database/sql"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	_ "github.com/mattn/go-sqlite3" // the driver

	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/thread"
	"orchestrator/thread/api"
	"orchestrator/thread/orchestration"
	"orchestrator/thread/work"
)

// paper returns the document.
func paper(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../../../.github/RECORD.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// withFiles makes the files of the examples: those that agents are given, and those that they make.
func withFiles(t *testing.T) *e2e.Rig {
	t.Helper()
	r := e2e.NewRig(t)
	r.Write("spec/requirements.md", "# Requirements\n\nFind the nearest vectors.\n\n## Vector Search Requirements\n\nIn less than a second.\n")
	r.Write("lib/types.ts", "export type Vector = number[]\n")
	r.Write("references/hnsw-algorithm.md", "# HNSW\n\n## Algorithm Overview\n\nA graph in layers.\n\n## Implementation Notes\n\nKeep the layers small.\n")
	r.Git("add", ".")
	r.Git("commit", "-qm", "what agents are given")
	r.Write("lib/vector-search.ts", "export const search = () => []\n// two\n")
	r.Write("tests/vector-search.test.ts", "test('search', () => {})\n")
	r.Write("answer.txt", "The index is written.\n")
	r.Write("agent-final-output.txt", "The search is written.\n")
	r.Write("agent-output.txt", "The search is written.\n")
	bin := filepath.Join(t.TempDir(), "bin")
	if err := os.Mkdir(bin, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(r.Program, filepath.Join(bin, "orchestrator")); err != nil {
		t.Fatal(err)
	}
	for i, v := range r.Env {
		if path, ok := strings.CutPrefix(v, "PATH="); ok {
			r.Env[i] = "PATH=" + bin + ":" + path
		}
	}
	return r
}

// TestPhasesOfTheHelp runs the example of `orchestrator help phases`, as it is printed.
func TestPhasesOfTheHelp(t *testing.T) {
	e2e.ManyStarts(t)
	t.Parallel()
	r := withFiles(t)
	var script []string
	for line := range strings.Lines(r.Ok("help", "phases")) {
		if code, is := strings.CutPrefix(line, "  "); is {
			script = append(script, code)
		}
	}
	if n := strings.Count(strings.Join(script, ""), "orchestrator "); n < 15 {
		t.Fatalf("only %d commands:\n%s", n, strings.Join(script, ""))
	}
	t.Log(r.Shell("set -e\n" + strings.Join(script, "")))
	sessions := e2e.Get[[]work.Session](r, "session", "list")
	if len(sessions) != 1 || sessions[0].Status != work.SessionCompleted || sessions[0].Name != "search" {
		t.Errorf("%+v", sessions)
	}
	if report := r.Read("report.md"); !strings.Contains(report, "lib/vector-search.ts") || !strings.Contains(report, "task-implementor") {
		t.Errorf("the report:\n%s", report)
	}
}

// blocks returns the code of a language in the document.
func blocks(text, language string) []string {
	var all []string
	for _, m := range regexp.MustCompile("(?s)\n```"+language+"\n(.*?)```").FindAllStringSubmatch(text, -1) {
		all = append(all, m[1])
	}
	return all
}

// TestPaper runs the shell of the document, one block a phase, and then its queries with sqlite3 while the server has the
// record open; and compares its tables with the views.
func TestPaper(t *testing.T) {
	e2e.ManyStarts(t)
	t.Parallel()
	text := paper(t)
	r := withFiles(t)
	shell := blocks(text, "sh")
	if len(shell) != 5 {
		t.Fatalf("%d blocks of shell, want one a phase", len(shell))
	}
	for _, block := range shell {
		r.Shell("set -e\n" + block)
	}
	var rows []work.Row
	if err := json.Unmarshal([]byte(r.Shell("orchestrator execution_tracker query --session-id orch-2025-01-17-001 --format json")), &rows); err != nil || len(rows) != 1 {
		t.Fatalf("%+v %v", rows, err)
	}
	if x := rows[0]; x.Execution != "exec-001" || x.Status != "completed" || x.Context == 0 || x.Message != "The search is written." {
		t.Errorf("%+v", x)
	}
	file := filepath.Join(r.StateDir(), "work.db")
	sqlite, err := exec.LookPath("sqlite3")
	if err != nil {
		t.Skip("no sqlite3: the queries of the document did not run; install it")
	}
	for _, block := range blocks(text, "sql") {
		cmd := exec.Command(sqlite, "-readonly", "-bail", file)
		cmd.Stdin = strings.NewReader(block)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("%v: %s", err, out)
		}
		for _, want := range []string{"lib/vector-search.ts", "task-implementor|1|1"} {
			if !strings.Contains(string(out), want) {
				t.Errorf("no %q in the answers:\n%s", want, out)
			}
		}
	}
	checkViews(t, text, file)
}

// checkViews compares the tables of the document with the views and tables of a record.
func checkViews(t *testing.T, text, file string) {
	t.Helper()
	db, err := sql.Open("sqlite3", "file:"+file+"?mode=ro")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, m := range regexp.MustCompile("(?s)### View `([a-z_]+)`\n\n(.*?)\n\n").FindAllStringSubmatch(text+"\n\n", -1) {
		var told []string
		for _, c := range regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\|").FindAllStringSubmatch(m[2], -1) {
			told = append(told, c[1])
		}
		if is := names(t, db, "SELECT name FROM pragma_table_info('"+m[1]+"')"); !slices.Equal(is, told) {
			t.Errorf("view %s has %v, the document tells of %v", m[1], is, told)
		}
	}
	kept := text[strings.Index(text, "## What is kept"):]
	kept = kept[:strings.Index(kept, "\n- ")]
	for _, table := range names(t, db, "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name") {
		if !strings.Contains(kept, "`"+table+"`") {
			t.Errorf("the document does not tell how long table %s is kept", table)
		}
	}
}

func names(t *testing.T, db *sql.DB, query string) (all []string) {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			t.Fatal(err)
		}
		all = append(all, name)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

// TestExampleSession runs the example of the Go package against a server, and compares what it prints and what is recorded
// then. A completion without a start is refused.
func TestExampleSession(t *testing.T) {
	e2e.ManyStarts(t)
	r := withFiles(t)
	r.Ok("threads") // starts the server
	server := r.Client()
	connected = func() (api.Doer, fs.FS) { return server, os.DirFS(r.Project) }
	printed, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	out := os.Stdout
	os.Stdout = w
	func() {
		defer func() { os.Stdout = out }()
		ExampleSession()
	}()
	_ = w.Close()
	got, err := io.ReadAll(printed)
	want := "exec-001 lib/vector-search.ts version 1\nexec-001 tests/vector-search.test.ts version 1\ntrue\n" +
		"orch-2025-01-17-001 completed 0\nexec-001 task-implementor completed true The search is written.\n"
	if err != nil || string(got) != want {
		t.Errorf("it prints %v\n%swant\n%s", err, got, want)
	}
	if s := r.Ok("session", "show", "orch-2025-01-17-001"); !strings.Contains(s, "exec-001") {
		t.Errorf("a person sees\n%s", s)
	}
	s, err := orchestration.New(t.Context(), server, orchestration.Options{Scope: "Another", ID: "another"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Execution(t.Context(), "exec-002"); !errors.Is(err, thread.ErrNotFound) {
		t.Errorf("an execution that was never begun: %v", err)
	}
	begun, err := orchestration.Open(t.Context(), server, "orch-2025-01-17-001", nil)
	if err != nil {
		t.Fatal(err)
	}
	x, err := begun.Execution(t.Context(), "exec-001")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := x.RecordCompletion(t.Context(), orchestration.Completion{Success: true}); err == nil {
		t.Error("it was completed twice")
	}
	if _, err := orchestration.Open(t.Context(), server, "none", nil); !errors.Is(err, thread.ErrNotFound) {
		t.Errorf("a work session that there is not: %v", err)
	}
}
