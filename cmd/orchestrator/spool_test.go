package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"orchestrator/checkpoint/postgres/pgtest"
	"orchestrator/cmd/orchestrator/exitcode"
	"orchestrator/thread"
)

// TestStoppedWhileTheDatabaseIsDown answers a prompt while the database is down, and ends the server in between.
func TestStoppedWhileTheDatabaseIsDown(t *testing.T) {
	manyStarts(t)
	t.Parallel()
	for how, end := range map[string]func(*rig){
		"stopped": func(r *rig) {
			if out := r.ok("stop"); !strings.Contains(out, "stored at the next start") {
				r.t.Errorf("stop printed %q", out)
			}
		},
		"killed": func(r *rig) {
			if err := syscall.Kill(r.serverPID(), syscall.SIGKILL); err != nil {
				r.t.Fatal(err)
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
			r := newRig(t)
			r.keepIn(db.Database(t, "down"))
			name := r.demo("kept")
			r.turn(name, "write notes.txt: one")
			db.Kill(t, syscall.SIGKILL)
			r.says(exitcode.Refused, []string{"not sent", "type it into the agent itself"}, "send", "-d", name, "write notes.txt: nothing")
			if err := typeIn(t.Context(), r.client(), r.status(name).ID, "write notes.txt: two"); err != nil {
				t.Fatal(err)
			}
			await(t, "the answer to be refused", func() bool {
				return strings.Contains(r.run("why", name).stdout, "not stored yet")
			})
			end(r)
			db.Start(t)
			r.awaitState(name, thread.StateExited, thread.StateInterrupted)
			if out := r.ok("checkpoint", "show", name, "2"); !strings.Contains(out, "write notes.txt: two") {
				t.Errorf("turn 2 is\n%s", out)
			}
			r.ok("resume", name)
			r.turn(name, "list files")
			if s := r.status(name); s.Turn != 3 {
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
	r := newRig(t)
	r.keepIn(db.Database(t, "unsaved"))
	name := r.demo("kept")
	r.turn(name, "write notes.txt: one")
	if err := os.Mkdir(filepath.Join(r.stateDir(), "spool", string(r.status(name).ID)+".spool"), 0o700); err != nil {
		t.Fatal(err)
	}
	db.Kill(t, syscall.SIGKILL)
	if err := typeIn(t.Context(), r.client(), r.status(name).ID, "write notes.txt: two"); err != nil {
		t.Fatal(err)
	}
	await(t, "the answer to be refused", func() bool {
		return strings.Contains(r.run("why", name).stdout, "not stored yet")
	})
	r.says(exitcode.Refused, []string{"not saved", "--force"}, "stop")
	if res := r.run("stop", "--force"); res.code != exitcode.Error || !strings.Contains(res.stdout, "could not be saved") {
		t.Errorf("stop --force: exit %d, %q", res.code, res.stdout)
	}
}
