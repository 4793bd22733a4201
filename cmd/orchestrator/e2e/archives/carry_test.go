package archives

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/cmd/orchestrator/exitcode"
	"orchestrator/contextmgr/masking"
	"orchestrator/contextmgr/masks"
	"orchestrator/thread"
)

// carried exports a thread that names staged data and has a mask.
func carried(r *e2e.Rig, secrets ...string) (file, name, token string, mask masks.Mask) {
	r.T.Helper()
	name = r.Demo("carry me")
	token = r.Stage("kept, with the key ghp_" + strings.Repeat("a1B2", 9) + "\n")
	r.Turn(name, "list files for "+token)
	mask = r.MaskResult(r.Status(name).ID, "a long result that names "+r.Stage("named by a result\n")+"\n")
	file = filepath.Join(r.Home, "carried")
	r.Ok(append([]string{"export", name, "-o", file}, secrets...)...)
	return file, name, token, mask
}

// TestExportCarriesStagedDataAndMasks: after an import the same tokens give the same bytes, and the masks name files
// that exist.
func TestExportCarriesStagedDataAndMasks(t *testing.T) {
	e2e.ManyStarts(t)
	t.Parallel()
	r := e2e.NewRig(t)
	file, name, token, mask := carried(r)

	there := e2e.NewRig(t)
	s := e2e.Get[thread.Status](there, "import", file)
	want := "kept, with the key "
	if got := there.Ok("retrieve", token); !strings.HasPrefix(got, want) || strings.Contains(got, "ghp_a1B2") {
		t.Errorf("the staged data is %q", got)
	}
	result := there.Ok("retrieve", string(mask.Token))
	if !strings.HasPrefix(result, "a long result that names max:") {
		t.Errorf("the masked result is %q", result)
	}
	if got := there.Ok("retrieve", strings.Fields(result)[5]); got != "named by a result" {
		t.Errorf("what the result names is %q", got)
	}
	if out := there.Ok("stage", "info", token); !strings.Contains(out, "Kept because of: turn 1 of "+s.Name) {
		t.Errorf("nothing keeps it:\n%s", out)
	}
	got, set := there.MaskOf(s.ID)
	if content, err := os.ReadFile(got.File); err != nil || strings.TrimSpace(string(content)) != result {
		t.Errorf("the file has %q, %v", content, err)
	}
	if want := masking.Stub("Read", 1, 500, got.File, string(mask.Token)); got.Stub != want || got.Token != mask.Token {
		t.Errorf("the text is %q, want %q", got.Stub, want)
	}
	if !set.Pinned("another") {
		t.Error("the pin is lost")
	}

	// Beside the original: the staged data is the same, the mask gets a token of its own.
	r.Ok("export", name, "-o", file+"2", "--with-secrets")
	again := e2e.Get[thread.Status](r, "import", file+"2")
	if out := r.Ok("checkpoint", "show", again.Name, "1"); !strings.Contains(out, token) {
		t.Errorf("the copy names another token than %s:\n%s", token, out)
	}
	beside, _ := r.MaskOf(again.ID)
	if beside.Token == mask.Token || !strings.Contains(beside.Stub, string(beside.Token)) {
		t.Errorf("%+v", beside)
	}
	if content, err := os.ReadFile(beside.File); err != nil || !strings.HasPrefix(string(content), "a long result") {
		t.Errorf("the file has %q, %v", content, err)
	}
	if got := r.Ok("retrieve", token); !strings.Contains(got, "ghp_a1B2") {
		t.Errorf("the original's data is %q", got)
	}
}

// TestBackupCarriesStagedDataAndMasks: after the loss of everything, and on another machine, the same tokens give the
// same bytes, forks share what is masked with their parents, and nothing is masked that was not.
func TestBackupCarriesStagedDataAndMasks(t *testing.T) {
	e2e.ManyStarts(t)
	t.Parallel()
	r := e2e.NewRig(t)
	_, name, token, mask := carried(r)
	own := r.Stage("the person's own\n")
	fork := e2e.Get[thread.Status](r, "fork", "another way", "-t", name)
	alone := r.Demo("nothing masked")
	id := r.Status(name).ID
	if m, set := r.MaskOf(fork.ID); m.Home != id || set.Empty() {
		t.Fatalf("the fork has %+v", m)
	}
	dir := t.TempDir()
	clean, whole := filepath.Join(dir, "clean"), filepath.Join(dir, "whole")
	if kept := e2e.Get[thread.BackupReport](r, "backup", clean); len(kept.Notes)+len(kept.LeftOut) != 0 {
		t.Errorf("left out: %+v", kept)
	}
	r.Ok("backup", "--with-secrets", whole)
	elsewhere := e2e.NewRig(t)
	for _, c := range []struct {
		rig     *e2e.Rig
		file    string
		secrets bool
	}{{r, whole, true}, {elsewhere, clean, false}} {
		there := c.rig
		if there == r {
			r.LoseState()
		}
		if back := e2e.Get[thread.BackupReport](there, "restore-backup", c.file); back.Threads != 3 || len(back.Notes) != 0 {
			t.Fatalf("what is back: %+v", back)
		}
		if got := there.Ok("retrieve", token); !strings.HasPrefix(got, "kept, with the key ") || c.secrets != strings.Contains(got, "ghp_a1B2") {
			t.Errorf("the staged data is %q", got)
		}
		if got := there.Ok("retrieve", own); got != "the person's own" {
			t.Errorf("the person's data is %q", got)
		}
		result := there.Ok("retrieve", string(mask.Token))
		if !strings.HasPrefix(result, "a long result that names max:") {
			t.Errorf("the masked result is %q", result)
		}
		if got := there.Ok("retrieve", strings.Fields(result)[5]); got != "named by a result" {
			t.Errorf("what the result names is %q", got)
		}
		if out := there.Ok("checkpoint", "show", name, "1"); !strings.Contains(out, token) {
			t.Errorf("turn 1 names another token than %s:\n%s", token, out)
		}
		got, set := there.MaskOf(id)
		if content, err := os.ReadFile(got.File); err != nil || strings.TrimSpace(string(content)) != result || !set.Pinned("another") {
			t.Errorf("the file has %q, %v; pinned %v", content, err, set.Pinned("another"))
		}
		if m, _ := there.MaskOf(fork.ID); m.Home != id || m.File != got.File || m.Token != mask.Token {
			t.Errorf("the fork has %+v, its parent %+v", m, got)
		}
		store := there.Masks()
		if none, err := store.Thread(there.Status(alone).ID, ""); err != nil || !none.Empty() {
			t.Errorf("of the other thread: %v", err)
		}
		_ = store.Close()
		for _, n := range []string{name, fork.Name} {
			if s := there.Status(n); s.Masks == nil || s.Masks.Lost != "" {
				t.Errorf("%s: %+v", n, s.Masks)
			}
		}
		there.Ok("resume", name)
		there.Turn(name, "list files")
	}
	if back := e2e.Get[thread.BackupReport](r, "restore-backup", clean); back.Threads != 0 || len(back.Existing) != 3 || len(back.Notes) != 0 {
		t.Errorf("restored over itself: %+v", back)
	}
}

// TestStagedDataIsKept: data that an answered turn names does not expire, gc and doctor say so, and it does once the
// thread is gone for good.
func TestStagedDataIsKept(t *testing.T) {
	e2e.ManyStarts(t)
	t.Parallel()
	r := e2e.NewRig(t)
	r.Env = append(r.Env, "ORCHESTRATOR_RETENTION_THREADS=1")
	kept, lost := r.Stage("kept\n", "--ttl", "1s"), r.Stage("lost\n", "--ttl", "1s")
	name := r.Demo("reader")
	r.Turn(name, "list files for "+kept)
	e2e.Await(t, "data that nothing needs to expire", func() bool { return r.Run("stage", "info", lost).Code == exitcode.NotFound })
	for _, c := range []struct{ verb, want string }{
		{"gc", kept + ", 5 B, is kept because of turn 1 of " + name},
		{"doctor", "1 of them, 5 B, kept because something names them"},
	} {
		if out := r.Ok(c.verb); !strings.Contains(out, c.want) || strings.Contains(out, lost) {
			t.Errorf("%s does not say %q:\n%s", c.verb, c.want, out)
		}
	}
	if got := r.Ok("retrieve", kept); got != "kept" {
		t.Errorf("it is %q", got)
	}
	r.Ok("archive", name)
	other := r.Demo("other")
	r.Turn(other, "list files")
	r.Ok("archive", other) // the older one is past the limit
	r.Ok("gc")
	e2e.Await(t, "data of a thread that is gone to expire", func() bool { return r.Run("stage", "info", kept).Code == exitcode.NotFound })
}

// TestHostileArchive: an archive whose masks are not what was exported is refused as a whole.
func TestHostileArchive(t *testing.T) {
	e2e.ManyStarts(t)
	t.Parallel()
	r := e2e.NewRig(t)
	file, _, _, _ := carried(r)
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	b[len(b)/2] ^= 0xff
	if err := os.WriteFile(file, b, 0o600); err != nil {
		t.Fatal(err)
	}
	there := e2e.NewRig(t)
	there.Says(exitcode.Usage, []string{file}, "import", file)
	if n := len(e2e.Get[[]thread.Status](there, "threads", "--all")); n != 0 {
		t.Errorf("%d threads", n)
	}
	if found, err := filepath.Glob(filepath.Join(there.StateDir(), "*", "*", "log")); err != nil || len(found) > 0 {
		t.Errorf("left are %v, %v", found, err)
	}
}

// TestImportOfPartsKilled kills the server while it imports staged data and masks: nothing of the thread is left, and
// the import works again.
func TestImportOfPartsKilled(t *testing.T) {
	r := e2e.NewRig(t)
	file, _, token, mask := carried(r, "--with-secrets")
	for _, point := range []string{"staging.import.entry", "archive.import.part", "masks.import.batch", "archive.import.part:2",
		"archive.import.record"} {
		t.Run(point, func(t *testing.T) {
			there := e2e.NewRig(t)
			there.Ok("threads")
			there.Ok("stop")
			healthy := there.Env
			there.Env = append(append([]string(nil), healthy...), "ORCHESTRATOR_FAILPOINT="+point)
			if res := there.Run("import", file); res.Code == 0 {
				t.Fatalf("it was not killed: %s", res.Stdout)
			}
			there.Env = healthy
			e2e.Await(t, "a new server", func() bool { return there.Run("threads", "--json").Code == 0 })
			if n := len(e2e.Get[[]thread.Status](there, "threads", "--all")); n != 0 {
				t.Errorf("%d threads", n)
			}
			e2e.Await(t, "the masks to be removed", func() bool {
				left, err := os.ReadDir(filepath.Join(there.StateDir(), "masks"))
				return err == nil && len(left) == 0
			})
			s := e2e.Get[thread.Status](there, "import", file)
			if got := there.Ok("retrieve", token); !strings.HasPrefix(got, "kept, ") {
				t.Errorf("the staged data is %q", got)
			}
			if got := there.Ok("retrieve", string(mask.Token)); !strings.HasPrefix(got, "a long result") {
				t.Errorf("the masked result is %q", got)
			}
			there.MaskOf(s.ID)
		})
	}
}

// TestLargeHandoff: what is too large for a handoff is staged and kept, and is the file that the agent reads. It goes
// with the thread to another machine.
func TestLargeHandoff(t *testing.T) {
	e2e.ManyStarts(t)
	t.Parallel()
	r := e2e.NewRig(t)
	large := strings.Repeat("a line of the file\n", 1500)
	r.Write("large.txt", large)
	parent := r.Demo("parent")
	r.Turn(parent, "read large.txt")
	name := strings.Fields(r.Ok("fork", "child", "-t", parent, "--fresh"))[0]
	r.Turn(name, "list files")
	s := r.Status(name)
	if s.Handoff == nil || len(s.Handoff.Staged) != 1 {
		t.Fatalf("the handoff is %+v", s.Handoff)
	}
	token := string(s.Handoff.Staged[0])
	if got := r.Ok("retrieve", token); !strings.Contains(got, strings.TrimSpace(large)) {
		t.Errorf("%d bytes are staged", len(got))
	}
	info := e2e.Get[thread.StagedInfo](r, "stage", "info", token)
	if !slices.Contains(info.Pins, "the handoff to "+name) || info.Thread != s.ID || info.Source != "handoff of "+parent {
		t.Errorf("%+v", info)
	}
	files, err := filepath.Glob(filepath.Join(r.StateDir(), "threads", string(s.ID), "read", "handoff-*", "turn-*"))
	if err != nil || len(files) != 1 {
		t.Fatalf("the agent can read %v, %v", files, err)
	}
	staged, err1 := os.Stat(info.File)
	read, err2 := os.Stat(files[0])
	if err1 != nil || err2 != nil || !os.SameFile(staged, read) {
		t.Errorf("it is there twice: %v, %v", err1, err2)
	}
	file := filepath.Join(r.Home, "carried")
	r.Ok("export", name, "-o", file)
	there := e2e.NewRig(t)
	there.Ok("import", file)
	if got := there.Ok("retrieve", token); !strings.Contains(got, strings.TrimSpace(large)) {
		t.Errorf("elsewhere it has %d bytes", len(got))
	}
	r.Ok("unstage", token)
	if b, err := os.ReadFile(files[0]); err != nil || !strings.Contains(string(b), "a line of the file") {
		t.Errorf("the agent's file is gone: %v", err)
	}
}
