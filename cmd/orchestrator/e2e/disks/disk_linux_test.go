package disks

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/cmd/orchestrator/exitcode"
	"orchestrator/thread"
)

// TestReadOnlyStateFolder: a folder that cannot be written to is said, with what to do, by verbs and doctor.
func TestReadOnlyStateFolder(t *testing.T) {
	t.Parallel()
	r := e2e.NewRig(t)
	r.StateDisk(syscall.MS_RDONLY)
	r.Says(exitcode.Error, []string{"state folder", "read-only", "mounted so that it can be written"}, "threads")
	res := r.Run("doctor")
	if res.Code != exitcode.Error || !strings.Contains(res.Stdout, "→ have the file system") {
		t.Errorf("the doctor said (exit %d):\n%s%s", res.Code, res.Stdout, res.Stderr)
	}
}

// TestExportFromAFullDisk writes a thread to another disk when that of the state folder is full.
func TestExportFromAFullDisk(t *testing.T) {
	t.Parallel()
	r := e2e.NewRig(t)
	disk := r.StateDisk(0)
	name := r.Demo("kept")
	r.Turn(name, "write b.txt: kept")
	free := r.Fill(disk)
	file := filepath.Join(t.TempDir(), "kept.orchestrator")
	r.Ok("export", name, "-o", file)
	free()
	other := e2e.NewRig(t)
	other.Ok("import", file)
	if refs := other.Git("for-each-ref", "refs/orchestrator"); other.Status(name).Turn != 1 || !strings.Contains(refs, "commit") {
		t.Errorf("imported %+v with the snapshots %q", other.Status(name), refs)
	}
}

// TestStartOnAFullDisk starts a server whose disk is full: it shows the threads, says what it cannot do, and goes on by
// itself when there is room.
func TestStartOnAFullDisk(t *testing.T) {
	t.Parallel()
	for how, end := range map[string]func(*e2e.Rig){
		"stopped": func(r *e2e.Rig) { r.Ok("stop") },
		"killed":  (*e2e.Rig).KillAll, // nothing is freed once they are gone
	} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			r := e2e.NewRig(t)
			disk := r.StateDisk(0)
			name := r.Demo("kept")
			r.Turn(name, "list files")
			others := []string{r.Ok("new", "-a", "demo", "second"), r.Ok("new", "-a", "demo", "third"), r.Ok("new", "-a", "demo", "fourth")}
			r.AwaitState(name, thread.StateDone, thread.StateIdle)
			end(r)
			free := r.Fill(disk)
			for _, other := range others {
				if s := r.Status(other); s.State.State.Live() {
					t.Errorf("on a full disk: %+v", s)
				}
			}
			if s := r.Status(name); s.Turn != 1 {
				t.Errorf("on a full disk: %+v", s)
			}
			res := r.Run("doctor")
			for range 5 { // the start, or a server at rest, may have folded the log and freed its room: fill that too
				if strings.Contains(res.Stdout, "→ free some space") {
					break
				}
				defer r.Fill(disk)()
				res = r.Run("doctor")
			}
			if res.Code != exitcode.Error || !strings.Contains(res.Stdout, "→ free some space") {
				t.Errorf("the doctor said (exit %d):\n%s%s", res.Code, res.Stdout, res.Stderr)
			}
			if got := r.Ok("checkpoint", "show", name, "1"); !strings.Contains(got, "list files") {
				t.Errorf("the turn on a full disk: %s", got)
			}
			res = r.Run("new", "-a", "demo", "more")
			for range 5 { // a server at rest may have freed some more
				if res.Code != 0 {
					break
				}
				defer r.Fill(disk)()
				res = r.Run("new", "-a", "demo", "more")
			}
			if res.Code != exitcode.Error || !strings.Contains(res.Stderr, "disk is full") || !strings.Contains(res.Stderr, "free") {
				t.Errorf("a new thread on a full disk: exit %d %s%s", res.Code, res.Stdout, res.Stderr)
			}
			if res := r.Run("find", "files"); res.Code != 0 && !strings.Contains(res.Stderr, "disk is full") {
				t.Errorf("a search on a full disk: exit %d %s", res.Code, res.Stderr)
			}
			free()
			if got := r.Ok("find", "files"); !strings.Contains(got, name) {
				t.Errorf("a search when there is room: %s", got)
			}
			r.AwaitState(name, thread.StateInterrupted, thread.StateExited)
			r.Ok("resume", name)
			r.Ok("send", name, "list files")
			if s := r.Status(name); s.Turn != 2 {
				t.Errorf("when there is room: %+v", s)
			}
		})
	}
}
