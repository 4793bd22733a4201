package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"orchestrator/cmd/orchestrator/api"
	"orchestrator/cmd/orchestrator/client"
	"orchestrator/thread"
)

// TestDamagedLogIsNamed kills a server with three threads of four turns each before their turns are folded, and damages the
// log of its database: every thread is listed with all its turns, every verb and the doctor name the damage until it is
// dismissed, and a thread whose turns were lost goes on in its agent's own session.
func TestDamagedLogIsNamed(t *testing.T) {
	manyStarts(t)
	t.Parallel()
	for what, damage := range map[string]func(wal string) error{
		"a bit": func(wal string) error {
			b, err := os.ReadFile(wal)
			if err != nil {
				return err
			}
			b[min(8080, len(b)/2)] ^= 4
			return os.WriteFile(wal, b, 0o600)
		},
		"gone": os.Remove,
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			var names []string
			for i := range 3 {
				names = append(names, r.ok("new", "-a", "demo", fmt.Sprint("thread ", i)))
			}
			for turn := range 4 {
				for _, name := range names {
					r.ok("send", name, fmt.Sprint("list files ", turn))
				}
			}
			state := r.stateDir()
			log := filepath.Join(state, "state.db-wal")
			await(t, "a kill before the log is folded", func() bool {
				r.ok("threads") // starts a server where the last one was killed too late
				pid, cl := r.serverPID(), client.New(r.found().Socket)
				defer cl.Close()
				if err := errors.Join(api.Pin.Do(t.Context(), cl, api.PinRequest{Thread: names[0], On: true}), syscall.Kill(pid, syscall.SIGKILL)); err != nil {
					t.Fatal(err)
				}
				info, err := os.Stat(log)
				return err == nil && info.Size() > 0
			})
			if err := damage(log); err != nil {
				t.Fatal(err)
			}
			for _, verb := range [][]string{{"threads"}, {"checkpoint", "list", names[0]}, {"find", "files"}} {
				res := r.run(verb...)
				if res.code != 0 || !strings.Contains(res.stderr, "damaged") || !strings.Contains(res.stderr, "report.txt") || strings.Count(res.stderr, "\n") != 1 {
					t.Errorf("%v: exit %d, %q", verb, res.code, res.stderr)
				}
			}
			for _, name := range names {
				if s := r.status(name); s.Turn != 4 {
					t.Errorf("%s is at turn %d", name, s.Turn)
				}
			}
			if what == "gone" {
				r.awaitState(names[2], thread.StateInterrupted, thread.StateExited)
				r.ok("resume", names[2])
				r.ok("send", names[2], "list files again")
			}
			if res := r.run("doctor"); !strings.Contains(res.stdout, "report.txt") {
				t.Errorf("the doctor says nothing:\n%s", res.stdout)
			}
			finds, err := filepath.Glob(filepath.Join(state, "damaged-*"))
			if err != nil || len(finds) == 0 {
				t.Fatalf("nothing was put aside: %v", err)
			}
			for _, dir := range finds {
				if err := os.RemoveAll(dir); err != nil {
					t.Fatal(err)
				}
			}
			if res := r.run("threads"); res.stderr != "" {
				t.Errorf("after it is dismissed: %q", res.stderr)
			}
		})
	}
}
