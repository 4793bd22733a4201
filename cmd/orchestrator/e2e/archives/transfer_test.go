package archives

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/cmd/orchestrator/exitcode"
	"orchestrator/thread"
)

func TestExportAndImportElsewhere(t *testing.T) {
	e2e.ManyStarts(t)
	t.Parallel()
	r := e2e.NewRig(t)
	name := r.Demo("carry me")
	r.Turn(name, "write notes.txt: one")
	r.Turn(name, "write notes.txt: two")
	file := filepath.Join(r.Home, "carried")
	r.Ok("export", name, "-o", file)
	r.Says(exitcode.Error, []string{file + ": file already exists. Choose another name"}, "export", name, "-o", file)
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the archive: %v %v", info, err)
	}

	there := e2e.NewRig(t)
	s := e2e.Get[thread.Status](there, "import", file)
	if s.Turn != 2 || s.Agent != "demo" || !strings.HasPrefix(s.Name, "carry-me-") || s.Dir != there.Project {
		t.Fatalf("the import: %+v", s.Thread)
	}
	if out := there.Ok("checkpoint", "show", s.Name, "1"); !strings.Contains(out, "one") {
		t.Errorf("turn 1:\n%s", out)
	}
	there.Ok("checkpoint", "restore", "--files", s.Name, "1")
	if got := there.Read("notes.txt"); !strings.Contains(got, "one") {
		t.Errorf("the files of turn 1: %q", got)
	}
	there.Ok("resume", s.Name)
	there.Turn(s.Name, "list files")
	if s := there.Status(s.Name); s.Turn != 3 {
		t.Errorf("turn %d after going on", s.Turn)
	}
	// A folder with other files: said by the verb, and no change of the next turn.
	again := e2e.Get[thread.Imported](there, "import", file)
	if len(again.LeftOut) != 1 || again.LeftOut[0].Kind != thread.LeftFiles || again.LeftOut[0].Path != there.Project ||
		!strings.Contains(again.LeftOut[0].Why, "restore --files "+again.Name+" 2") {
		t.Errorf("what the import left out: %+v", again.LeftOut)
	}
	there.Ok("resume", again.Name)
	there.Turn(again.Name, "write other.txt: one line")
	list := e2e.Get[[]thread.Checkpoint](there, "checkpoint", "list", again.Name)
	if len(list) == 0 || list[0].Turn != 3 || list[0].Snapshot == nil || list[0].Snapshot.Files != 1 || list[0].Snapshot.Deletions != 0 {
		t.Errorf("the next turn: %+v", list[:min(len(list), 1)])
	}
	if out := there.Ok("import", file); !strings.Contains(out, "left out: files "+there.Project) {
		t.Errorf("the import says:\n%s", out)
	}
	there.Says(exitcode.Usage, []string{"README.md", "not an orchestrator export"}, "import", "README.md")
	there.Says(exitcode.NotFound, []string{"missing.file"}, "import", "missing.file")
}

func TestCollect(t *testing.T) {
	e2e.ManyStarts(t)
	t.Parallel()
	r := e2e.NewRig(t)
	r.Env = append(r.Env, "ORCHESTRATOR_RETENTION_THREADS=1")
	var names []string
	for _, label := range []string{"first", "second", "third"} {
		name := r.Demo(label)
		r.Turn(name, "list files")
		r.Ok("archive", name)
		names = append(names, name)
	}
	kept := r.Demo("kept")
	r.Turn(kept, "list files")
	if out := r.Ok("gc", "--dry-run"); !strings.Contains(out, names[0]) || !strings.Contains(out, "2 thread(s), would free") {
		t.Errorf("what would go:\n%s", out)
	}
	if n := len(e2e.Get[[]thread.Status](r, "threads", "--all")); n != 4 {
		t.Errorf("%d threads after a dry run", n)
	}
	r.Ok("gc")
	var left []string
	for _, s := range e2e.Get[[]thread.Status](r, "threads", "--all") {
		left = append(left, s.Name)
	}
	if len(left) != 2 || left[0] != names[2] || left[1] != kept {
		t.Errorf("left are %v", left)
	}
	if out := r.Ok("doctor"); !strings.Contains(out, "2 threads") {
		t.Errorf("the doctor:\n%s", out)
	}
}

// TestListSaysThatThereIsMore lists fewer turns than there are.
func TestListSaysThatThereIsMore(t *testing.T) {
	e2e.ManyStarts(t)
	t.Parallel()
	r := e2e.NewRig(t)
	name := r.Demo("long")
	for range 3 {
		r.Turn(name, "list files")
	}
	for _, tc := range []struct {
		limit string
		rows  int
		more  bool
	}{{"2", 2, true}, {"3", 3, false}, {"50", 3, false}, {"0", 3, false}} {
		res := r.Run("checkpoint", "list", name, "--limit", tc.limit)
		if rows := strings.Count(res.Stdout, "\n") - 1; rows != tc.rows || strings.Contains(res.Stderr, "--limit 0") != tc.more {
			t.Errorf("--limit %s: %d rows, %q", tc.limit, rows, res.Stderr)
		}
	}
	r.Says(exitcode.Usage, []string{"--limit -1"}, "checkpoint", "list", name, "--limit", "-1")
	for _, verb := range []string{"prompts", "find"} {
		args := []string{verb, name}
		if verb == "find" {
			args[1] = "files"
		}
		if res := r.Run(append(args, "--limit", "2")...); !strings.Contains(res.Stderr, "showing the 2 ") || !strings.Contains(res.Stderr, verb+" --limit 0") {
			t.Errorf("%s --limit 2 says %q", verb, res.Stderr)
		}
		if res := r.Run(append(args, "--limit", "0")...); res.Stderr != "" || res.Code != 0 {
			t.Errorf("%s --limit 0 says %q", verb, res.Stderr)
		}
	}
	if list := e2e.Get[[]thread.Prompt](r, "prompts", name, "--limit", "2"); len(list) != 2 || list[1].Turn != 3 {
		t.Errorf("the newest prompts: %+v", list)
	}

	// What the shell can complete.
	first8 := string(e2e.Get[[]thread.Checkpoint](r, "checkpoint", "list", name)[0].ID[:8])
	for line, want := range map[string][]string{
		"new -a cl":                              {"claude"},
		"fork -a de":                             {"demo"},
		"fork --at ":                             {"3\tlist files", "1\tlist files"},
		"fork -t " + name + " --at 2":            {"2\tlist files"},
		"fork -t lo":                             {name},
		"checkpoint restore lo":                  {name},
		"checkpoint restore " + name + " ":       {"3\tlist files"},
		"checkpoint diff " + name + " 1 ":        {"2\tlist files", "now"},
		"checkpoint diff " + name + " b":         {"base"},
		"checkpoint show " + name + " " + first8: {first8 + "\tturn 3"},
	} {
		args := append([]string{"__complete"}, strings.Split(line, " ")...)
		res := r.Run(args...)
		for _, w := range want {
			if !strings.Contains(res.Stdout, w) {
				t.Errorf("%q is completed by %q, without %q", line, res.Stdout, w)
			}
		}
	}
}
