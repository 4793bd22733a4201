package main

import (
	"errors"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"orchestrator/cmd/orchestrator/exitcode"
	"orchestrator/thread"
)

func TestExportAndImportElsewhere(t *testing.T) {
	manyStarts(t)
	t.Parallel()
	r := newRig(t)
	name := r.demo("carry me")
	r.turn(name, "write notes.txt: one")
	r.turn(name, "write notes.txt: two")
	file := filepath.Join(r.home, "carried")
	r.ok("export", name, "-o", file)
	r.says(exitcode.Error, []string{file + ": file already exists (choose another name)"}, "export", name, "-o", file)
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the archive: %v %v", info, err)
	}

	there := newRig(t)
	s := get[thread.Status](there, "import", file)
	if s.Turn != 2 || s.Agent != "demo" || !strings.HasPrefix(s.Name, "carry-me-") || s.Dir != there.project {
		t.Fatalf("the import: %+v", s.Thread)
	}
	if out := there.ok("checkpoint", "show", s.Name, "1"); !strings.Contains(out, "one") {
		t.Errorf("turn 1:\n%s", out)
	}
	there.ok("checkpoint", "restore", "--files", s.Name, "1")
	if got := there.read("notes.txt"); !strings.Contains(got, "one") {
		t.Errorf("the files of turn 1: %q", got)
	}
	there.ok("resume", s.Name)
	there.turn(s.Name, "list files")
	if s := there.status(s.Name); s.Turn != 3 {
		t.Errorf("turn %d after going on", s.Turn)
	}
	// A folder with other files: said by the verb, and no change of the next turn.
	again := get[thread.Imported](there, "import", file)
	if len(again.LeftOut) != 1 || again.LeftOut[0].Kind != thread.LeftFiles || again.LeftOut[0].Path != there.project ||
		!strings.Contains(again.LeftOut[0].Why, "restore --files "+again.Name+" 2") {
		t.Errorf("what the import left out: %+v", again.LeftOut)
	}
	there.ok("resume", again.Name)
	there.turn(again.Name, "write other.txt: one line")
	list := get[[]thread.Checkpoint](there, "checkpoint", "list", again.Name)
	if len(list) == 0 || list[0].Turn != 3 || list[0].Snapshot == nil || list[0].Snapshot.Files != 1 || list[0].Snapshot.Deletions != 0 {
		t.Errorf("the next turn: %+v", list[:min(len(list), 1)])
	}
	if out := there.ok("import", file); !strings.Contains(out, "left out: files "+there.project) {
		t.Errorf("the import says:\n%s", out)
	}
	there.says(exitcode.Usage, []string{"README.md", "not an exported archive", "invalid"}, "import", "README.md")
	there.says(exitcode.NotFound, []string{"missing.file"}, "import", "missing.file")
}

func TestCollect(t *testing.T) {
	manyStarts(t)
	t.Parallel()
	r := newRig(t)
	r.env = append(r.env, "ORCHESTRATOR_RETENTION_THREADS=1")
	var names []string
	for _, label := range []string{"first", "second", "third"} {
		name := r.demo(label)
		r.turn(name, "list files")
		r.ok("archive", name)
		names = append(names, name)
	}
	kept := r.demo("kept")
	r.turn(kept, "list files")
	if out := r.ok("gc", "--dry-run"); !strings.Contains(out, names[0]) || !strings.Contains(out, "2 thread(s), would free") {
		t.Errorf("what would go:\n%s", out)
	}
	if n := len(get[[]thread.Status](r, "threads", "--all")); n != 4 {
		t.Errorf("%d threads after a dry run", n)
	}
	r.ok("gc")
	var left []string
	for _, s := range get[[]thread.Status](r, "threads", "--all") {
		left = append(left, s.Name)
	}
	if len(left) != 2 || left[0] != names[2] || left[1] != kept {
		t.Errorf("left are %v", left)
	}
	if out := r.ok("doctor"); !strings.Contains(out, "2 threads") {
		t.Errorf("the doctor:\n%s", out)
	}
}

// TestFilesThatAreThere: what lies at the name of an export or a backup stays as it is, and nothing is left beside it.
func TestFilesThatAreThere(t *testing.T) {
	dir := t.TempDir()
	file, folder := filepath.Join(dir, "file"), filepath.Join(dir, "folder")
	if err := errors.Join(os.WriteFile(file, []byte("a person's own"), 0o600), os.Mkdir(folder, 0o700)); err != nil {
		t.Fatal(err)
	}
	for _, at := range []string{file, folder} {
		err := writeFile(at, func(w io.Writer) error { _, err := io.WriteString(w, "an export"); return err })
		if err == nil || err.Error() != at+": file already exists (choose another name)" || exitCode(err) != exitcode.Error {
			t.Errorf("%s: %v, exit code %d", at, err, exitCode(err))
		}
	}
	if b, err := os.ReadFile(file); err != nil || string(b) != "a person's own" {
		t.Errorf("the file holds %q, %v", b, err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 2 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// TestOnlyFilesAreImported: what is no file, such as a pipe that nobody writes to, is refused at once; a link to a file
// that the person names is that file.
func TestOnlyFilesAreImported(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := errors.Join(os.WriteFile(at("file"), []byte("x"), 0o600), os.Symlink("file", at("link")),
		syscall.Mkfifo(at("pipe"), 0o600), os.Symlink("pipe", at("link to a pipe")), os.Mkdir(at("folder"), 0o700),
		os.Symlink("/dev/zero", at("link to a device")), os.Symlink("nothing", at("link to nothing"))); err != nil {
		t.Fatal(err)
	}
	socket, err := net.Listen("unix", at("socket"))
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	for path, want := range map[string]error{
		at("file"): nil, at("link"): nil, at("pipe"): thread.ErrInvalid, at("link to a pipe"): thread.ErrInvalid,
		at("folder"): thread.ErrInvalid, at("socket"): thread.ErrInvalid, "/dev/zero": thread.ErrInvalid,
		"/dev/null": thread.ErrInvalid, at("link to a device"): thread.ErrInvalid, at("link to nothing"): fs.ErrNotExist,
	} {
		f, err := openRegular(path)
		if !errors.Is(err, want) {
			t.Errorf("%s: %v", path, err)
		}
		if err == nil {
			_ = f.Close()
		}
	}
}

// TestExportAfterAKilledOne leaves what a killed export does: it blocks nothing, and one that runs is not disturbed.
func TestExportAfterAKilledOne(t *testing.T) {
	manyStarts(t)
	t.Parallel()
	r := newRig(t)
	name := r.demo("carry me")
	r.turn(name, "list files")
	dir := t.TempDir()
	file := filepath.Join(dir, "carried")
	killed, err := beginFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := killed.WriteString(strings.Repeat("half an archive ", 10_000)); err != nil {
		t.Fatal(err)
	}
	r.says(exitcode.Refused, []string{"another export", "is running"}, "export", name, "-o", file)
	if err := killed.Close(); err != nil { // as its end does
		t.Fatal(err)
	}
	r.ok("export", name, "-o", file)
	if list, err := os.ReadDir(dir); err != nil || len(list) != 1 {
		t.Errorf("beside the archive there are %v, %v", list, err)
	}
	newRig(t).ok("import", file)
}

// TestListSaysThatThereIsMore lists fewer turns than there are.
func TestListSaysThatThereIsMore(t *testing.T) {
	manyStarts(t)
	t.Parallel()
	r := newRig(t)
	name := r.demo("long")
	for range 3 {
		r.turn(name, "list files")
	}
	for _, tc := range []struct {
		limit string
		rows  int
		more  bool
	}{{"2", 2, true}, {"3", 3, false}, {"50", 3, false}, {"0", 3, false}} {
		res := r.run("checkpoint", "list", name, "--limit", tc.limit)
		if rows := strings.Count(res.stdout, "\n") - 1; rows != tc.rows || strings.Contains(res.stderr, "--limit 0") != tc.more {
			t.Errorf("--limit %s: %d rows, %q", tc.limit, rows, res.stderr)
		}
	}
	r.says(exitcode.Usage, []string{"--limit -1"}, "checkpoint", "list", name, "--limit", "-1")
	for _, verb := range []string{"prompts", "find"} {
		args := []string{verb, name}
		if verb == "find" {
			args[1] = "files"
		}
		if res := r.run(append(args, "--limit", "2")...); !strings.Contains(res.stderr, "showing the 2 ") || !strings.Contains(res.stderr, verb+" --limit 0") {
			t.Errorf("%s --limit 2 says %q", verb, res.stderr)
		}
		if res := r.run(append(args, "--limit", "0")...); res.stderr != "" || res.code != 0 {
			t.Errorf("%s --limit 0 says %q", verb, res.stderr)
		}
	}
	if list := get[[]thread.Prompt](r, "prompts", name, "--limit", "2"); len(list) != 2 || list[1].Turn != 3 {
		t.Errorf("the newest prompts: %+v", list)
	}

	// What the shell can complete.
	first8 := string(get[[]thread.Checkpoint](r, "checkpoint", "list", name)[0].ID[:8])
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
		res := r.run(args...)
		for _, w := range want {
			if !strings.Contains(res.stdout, w) {
				t.Errorf("%q is completed by %q, without %q", line, res.stdout, w)
			}
		}
	}
}
