package databases

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"orchestrator/checkpoint/postgres/pgtest"
	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/cmd/orchestrator/exitcode"
	"orchestrator/thread"
)

// TestStoppedWhileTheDatabaseIsDown answers a prompt while the database is down, and ends the server in between.
func TestStoppedWhileTheDatabaseIsDown(t *testing.T) {
	e2e.ManyStarts(t)
	t.Parallel()
	for how, end := range map[string]func(*e2e.Rig){
		"stopped": func(r *e2e.Rig) {
			if out := r.Ok("stop"); !strings.Contains(out, "stored at the next start") {
				r.T.Errorf("stop printed %q", out)
			}
		},
		"killed": func(r *e2e.Rig) {
			if err := syscall.Kill(r.ServerPID(), syscall.SIGKILL); err != nil {
				r.T.Fatal(err)
			}
		},
	} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			var db pgtest.Server
			t.Cleanup(func() {
				if err := db.Close(); err != nil {
					t.Error(err)
				}
			})
			r := e2e.NewRig(t)
			r.KeepIn(db.Database(t, "down"))
			name := r.Demo("kept")
			r.Turn(name, "write notes.txt: one")
			db.Kill(t, syscall.SIGKILL)
			r.Says(exitcode.Refused, []string{"not sent", "type it into the agent itself"}, "send", "-d", name, "write notes.txt: nothing")
			if err := e2e.TypeIn(t.Context(), r.Client(), r.Status(name).ID, "write notes.txt: two"); err != nil {
				t.Fatal(err)
			}
			e2e.Await(t, "the answer to be refused", func() bool {
				return strings.Contains(r.Run("why", name).Stdout, "not stored yet")
			})
			end(r)
			db.Start(t)
			r.AwaitState(name, thread.StateExited, thread.StateInterrupted)
			if out := r.Ok("checkpoint", "show", name, "2"); !strings.Contains(out, "write notes.txt: two") {
				t.Errorf("turn 2 is\n%s", out)
			}
			r.Ok("resume", name)
			r.Turn(name, "list files")
			if s := r.Status(name); s.Turn != 3 {
				t.Errorf("turn %d after going on", s.Turn)
			}
		})
	}
}

// TestStopRefusesWhileAnswersAreUnsaved has neither the database nor the spool take an answer.
func TestStopRefusesWhileAnswersAreUnsaved(t *testing.T) {
	t.Parallel()
	var db pgtest.Server
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	r := e2e.NewRig(t)
	r.KeepIn(db.Database(t, "unsaved"))
	name := r.Demo("kept")
	r.Turn(name, "write notes.txt: one")
	if err := os.Mkdir(filepath.Join(r.StateDir(), "spool", string(r.Status(name).ID)+".spool"), 0o700); err != nil {
		t.Fatal(err)
	}
	db.Kill(t, syscall.SIGKILL)
	if err := e2e.TypeIn(t.Context(), r.Client(), r.Status(name).ID, "write notes.txt: two"); err != nil {
		t.Fatal(err)
	}
	e2e.Await(t, "the answer to be refused", func() bool {
		return strings.Contains(r.Run("why", name).Stdout, "not stored yet")
	})
	r.Says(exitcode.Refused, []string{"not saved", "--force"}, "stop")
	if res := r.Run("stop", "--force"); res.Code != exitcode.Error || !strings.Contains(res.Stdout, "could not be saved") {
		t.Errorf("stop --force: exit %d, %q", res.Code, res.Stdout)
	}
}
