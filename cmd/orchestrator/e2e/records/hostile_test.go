package records

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/thread/work"
)

// bare is what of the hostile text can be an argument.
var bare = strings.ReplaceAll(e2e.Hostile, "\x00", "") + " \xff\xfe the key " + testKey + " end"

// TestHostileTexts puts everything that a terminal would obey, a secret and invalid UTF-8 into each text that a record has,
// and looks at each output of each verb, at the report, the views and the log.
func TestHostileTexts(t *testing.T) {
	e2e.ManyStarts(t)
	t.Parallel()
	r := withFiles(t)
	try := func(args ...string) { r.Run(args...) } // what is refused is as good as what is made harmless
	r.Ok("session", "init", "ordinary", "--as", "s")
	try("session", "init", bare, "--as", "s2")
	try("session", "init", "x", "--as", bare)
	try("session", "init", "x", "--as", "s3", "--metadata", `{"about":"`+strings.ReplaceAll(strings.ReplaceAll(bare, "\\", ""), `"`, "")+`"}`)
	try("session", "task", "s", bare, "--body", bare)
	try("session", "task", "s", "plain", "--body", bare)
	r.Write("hostile.md", "# Title\n"+bare+"\n")
	try("bundle", "prepare", "--agent-type", bare, "--scope", bare, "--files", "hostile.md", "--session", "s")
	try("bundle", "prepare", "--agent-type", "debugger", "--scope", bare, "--files", "hostile.md", "--session", "s", "--id", "b1")
	r.Ok("exec", "init", "ordinary", "--as", "x1", "--type", "debugger", "--session", "s")
	try("exec", "init", bare, "--as", "x2", "--type", bare, "--session", "s", "--model", bare, "--agent", bare, "--prompt", bare, "--task", bare)
	try("exec", "init", bare, "--as", "x3", "--type", "debugger", "--session", "s", "--prompt", bare, "--bundle", "b1")
	for _, x := range []string{"x1", "x2", "x3"} {
		try("output", "collect", x, "--insights", bare, "--errors", bare, "--validation-results", "tests:"+bare)
		try("output", "collect", x, "--insights", bare)
		try("output", "collect", x, "--deliverables", bare+".go")
	}
	try("exec", "complete", "x1", "--message", bare)
	try("exec", "complete", "x2", "--message", bare)
	try("exec", "complete", "x3", "--error", bare)
	all := ""
	for _, args := range [][]string{
		{"session", "list"}, {"session", "show", "s"}, {"session", "show", "s2"}, {"session", "report", "s"}, {"exec", "query"}, {"exec", "list", "--all"},
		{"exec", "show", "x1"}, {"exec", "show", "x3"}, {"output", "query"}, {"output", "query", "--format", "markdown"}, {"bundle", "list"},
		{"bundle", "show", "b1"}, {"bundle", "explain", "b1"}, {"bundle", "brief", "b1"}, {"bundle", "budget", "--session", "s"},
		{"history", "key"}, {"history", "context", "debugger", "--full"}, {"history", "who", "s"}, {"history", "bundles"}, {"history", "trace", "x3"},
		{"stats"}, {"stats", "--by", "session"}, {"session", "show", bare}, {"exec", "query", "--type", bare}, {"history", bare},
	} {
		all += r.Clean(args...)
	}
	r.Ok("stop", "--force")
	log, _ := os.ReadFile(filepath.Join(r.StateDir(), "log", "server.log"))
	all += string(log)
	if bad := e2e.Harms(log); bad != "" {
		t.Errorf("the log has %s", bad)
	}
	if sqlite, err := exec.LookPath("sqlite3"); err == nil {
		for _, view := range []string{"sessions", "agent_executions", "outputs", "context_allocations"} {
			out, err := exec.Command(sqlite, "-readonly", filepath.Join(r.StateDir(), "work.db"), "SELECT * FROM "+view).CombinedOutput()
			if bad := e2e.Harms(out); err != nil || bad != "" {
				t.Errorf("the view %s has %s, %v: %q", view, bad, err, out)
			}
			all += string(out)
		}
	}
	if strings.Contains(all, testKey) {
		i := strings.Index(all, testKey)
		t.Errorf("a secret is shown: %q", all[max(0, i-200):i+40])
	}
	for _, of := range []string{"work.db", "work.db-wal"} {
		if b, err := os.ReadFile(filepath.Join(r.StateDir(), of)); err == nil && strings.Contains(string(b), testKey) {
			t.Errorf("a secret is in %s", of)
		}
	}
	if !strings.Contains(all, "ordinary") || !strings.Contains(all, "redacted") {
		t.Error("nothing was recorded")
	}
}

// TestSeedByAnAgent has an agent inside a thread run the shell of the document: its rows bear its thread, and a person sees
// them.
func TestSeedByAnAgent(t *testing.T) {
	e2e.ManyStarts(t)
	t.Parallel()
	r := withFiles(t)
	inside := r.AgentShell("an agent that keeps a record")
	bin := ""
	for _, v := range r.Env {
		if path, ok := strings.CutPrefix(v, "PATH="); ok {
			bin, _, _ = strings.Cut(path, ":")
		}
	}
	for i, block := range blocks(paper(t), "sh") {
		got := inside.Sh("set -e\nPATH='" + bin + "':$PATH\ncd '" + r.Project + "'\n" + block)
		if got.Code != 0 {
			t.Fatalf("phase %d: exit %d\n%s%s", i+1, got.Code, got.Stdout, got.Stderr)
		}
	}
	rows := e2e.Get[[]work.Row](r, "exec", "query", "--session", "orch-2025-01-17-001")
	id := r.Status(inside.Name).ID
	if len(rows) != 1 || rows[0].By != id || rows[0].Origin != work.OriginHand || rows[0].Status != "completed" {
		t.Errorf("%+v", rows)
	}
	outputs := e2e.Get[[]work.Output](r, "output", "query", "--execution", "exec-001")
	for _, o := range outputs {
		if o.By != id {
			t.Errorf("%+v", o)
		}
	}
	if len(outputs) != 3 {
		t.Errorf("%d outputs", len(outputs))
	}
	// What a person recorded, it neither changes nor sees.
	r.Ok("session", "init", "mine", "--as", "mine")
	r.Ok("exec", "init", "mine", "--as", "own", "--type", "person", "--session", "mine")
	for _, call := range []string{
		"session complete mine", "session phase mine 4", "exec complete own --message x", "output collect own --insights x",
		"session show mine", "session report mine", "bundle allocate own b --planned", "exec show own", "history trace own",
	} {
		if got := inside.Sh(r.Program + " --project '" + r.Project + "' " + call); got.Code == 0 {
			t.Errorf("%s: it was not refused: %s", call, got.Stdout)
		}
	}
	if got := inside.Sh(r.Program + " --project '" + r.Project + "' exec query"); strings.Contains(got.Stdout, "own") || !strings.Contains(got.Stdout, "exec-001") {
		t.Errorf("it sees\n%s", got.Stdout)
	}
}
