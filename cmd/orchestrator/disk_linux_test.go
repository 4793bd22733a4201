package main

import (
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"orchestrator/cmd/orchestrator/exitcode"
	"orchestrator/thread"
)

// stateDisk gives the rig's state folder a small file system of its own, which takes root.
func (r *rig) stateDisk(flags uintptr) (dir string) {
	r.t.Helper()
	dir = r.claimed().StateDir()
	record, err := os.ReadFile(filepath.Join(dir, "project.json"))
	if err != nil {
		r.t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=8m,mode=0700"); err != nil {
		r.t.Skipf("SKIPPED: it needs a small file system of its own, and mounting one is not allowed (%v); as root `go test -run %s ./cmd/orchestrator` runs it", err, r.t.Name())
	}
	r.t.Cleanup(func() {
		r.run("stop", "--force")
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			r.t.Error(err)
		}
	})
	put(r.t, filepath.Join(dir, "project.json"), string(record))
	if err := syscall.Mount("", dir, "", syscall.MS_REMOUNT|flags, "size=8m,mode=0700"); err != nil {
		r.t.Fatal(err)
	}
	return dir
}

// fill leaves no room on the disk of a folder. What it returns frees it again.
func (r *rig) fill(dir string) (free func()) {
	r.t.Helper()
	f, err := os.CreateTemp(dir, "filler-")
	if err != nil {
		r.t.Fatal(err)
	}
	defer f.Close()
	for size := 1 << 20; size > 0 && err == nil; size /= 2 {
		for err == nil {
			_, err = f.Write(make([]byte, size))
		}
		if errors.Is(err, syscall.ENOSPC) && size > 1 {
			err = nil
		}
	}
	if !errors.Is(err, syscall.ENOSPC) {
		r.t.Fatalf("filled the disk: %v", err)
	}
	return func() {
		if err := os.Remove(f.Name()); err != nil {
			r.t.Error(err)
		}
	}
}

// TestReadOnlyStateFolder: a folder that cannot be written to is said, with what to do, by verbs and doctor.
func TestReadOnlyStateFolder(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.stateDisk(syscall.MS_RDONLY)
	r.says(exitcode.Error, []string{"state folder", "read-only", "mounted so that it can be written"}, "threads")
	res := r.run("doctor")
	if res.code != exitcode.Error || !strings.Contains(res.stdout, "→ have the file system") {
		t.Errorf("the doctor said (exit %d):\n%s%s", res.code, res.stdout, res.stderr)
	}
}

// TestExportFromAFullDisk writes a thread to another disk when that of the state folder is full.
func TestExportFromAFullDisk(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	disk := r.stateDisk(0)
	name := r.demo("kept")
	r.turn(name, "write b.txt: kept")
	free := r.fill(disk)
	file := filepath.Join(t.TempDir(), "kept.orchestrator")
	r.ok("export", name, "-o", file)
	free()
	other := newRig(t)
	other.ok("import", file)
	if refs := other.git("for-each-ref", "refs/orchestrator"); other.status(name).Turn != 1 || !strings.Contains(refs, "commit") {
		t.Errorf("imported %+v with the snapshots %q", other.status(name), refs)
	}
}

// TestStartOnAFullDisk starts a server whose disk is full: it shows the threads, says what it cannot do, and goes on by
// itself when there is room.
func TestStartOnAFullDisk(t *testing.T) {
	t.Parallel()
	for how, end := range map[string]func(*rig){
		"stopped": func(r *rig) { r.ok("stop") },
		"killed":  (*rig).killAll, // nothing is freed once they are gone
	} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			disk := r.stateDisk(0)
			name := r.demo("kept")
			r.turn(name, "list files")
			others := []string{r.ok("new", "-a", "demo", "second"), r.ok("new", "-a", "demo", "third"), r.ok("new", "-a", "demo", "fourth")}
			r.awaitState(name, thread.StateDone, thread.StateIdle)
			end(r)
			free := r.fill(disk)
			for _, other := range others {
				if s := r.status(other); s.State.State.Live() {
					t.Errorf("on a full disk: %+v", s)
				}
			}
			if s := r.status(name); s.Turn != 1 {
				t.Errorf("on a full disk: %+v", s)
			}
			res := r.run("doctor")
			for range 5 { // the start, or a server at rest, may have folded the log and freed its room: fill that too
				if strings.Contains(res.stdout, "→ free some space") {
					break
				}
				defer r.fill(disk)()
				res = r.run("doctor")
			}
			if res.code != exitcode.Error || !strings.Contains(res.stdout, "→ free some space") {
				t.Errorf("the doctor said (exit %d):\n%s%s", res.code, res.stdout, res.stderr)
			}
			if got := r.ok("checkpoint", "show", name, "1"); !strings.Contains(got, "list files") {
				t.Errorf("the turn on a full disk: %s", got)
			}
			r.says(exitcode.Error, []string{"disk is full", "free"}, "new", "-a", "demo", "more")
			if res := r.run("find", "files"); res.code != 0 && !strings.Contains(res.stderr, "disk is full") {
				t.Errorf("a search on a full disk: exit %d %s", res.code, res.stderr)
			}
			free()
			if got := r.ok("find", "files"); !strings.Contains(got, name) {
				t.Errorf("a search when there is room: %s", got)
			}
			r.awaitState(name, thread.StateInterrupted, thread.StateExited)
			r.ok("resume", name)
			r.ok("send", name, "list files")
			if s := r.status(name); s.Turn != 2 {
				t.Errorf("when there is room: %+v", s)
			}
		})
	}
}

// TestImportOnFullDisk: an import whose staged data has no room says so, and leaves nothing.
func TestImportOnFullDisk(t *testing.T) {
	manyStarts(t)
	r := newRig(t)
	name := r.demo("carry me")
	small := r.stage("small\n")
	data := make([]byte, 16<<20)
	if _, err := rand.Read(data); err != nil {
		t.Fatal(err)
	}
	large := r.stage("\x00" + string(data))
	r.turn(name, "list files for "+small+" and "+large)
	r.mask(r.status(name).ID, "a long result\n")
	file := filepath.Join(r.home, "carried")
	r.ok("export", name, "-o", file)

	there := newRig(t)
	dir := there.stateDisk(0)
	there.says(exitcode.Error, []string{"disk is full", "free some space"}, "import", file)
	if n := len(get[[]thread.Status](there, "threads", "--all")); n != 0 {
		t.Errorf("%d threads", n)
	}
	for _, folder := range []string{"staging", "masks"} {
		if left, err := os.ReadDir(filepath.Join(dir, folder)); err != nil || len(left) > 0 {
			t.Errorf("left in %s: %v, %v", folder, left, err)
		}
	}
}
