package damage

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"orchestrator/cmd/orchestrator/client"
	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/thread"
	"orchestrator/thread/api"
	"orchestrator/thread/ground/sample"
)

// TestDamagedLogIsNamed kills a server with three threads of four turns each before their turns are folded, and damages the
// log of its database: every thread is listed with all its turns, every verb and the doctor name the damage until it is
// dismissed, and a thread whose turns were lost goes on in its agent's own session.
func TestDamagedLogIsNamed(t *testing.T) {
	e2e.ManyStarts(t)
	t.Parallel()
	for what, damage := range sample.In(t, 2, map[string]func(wal string) error{
		"a bit": func(wal string) error {
			b, err := os.ReadFile(wal)
			if err != nil {
				return err
			}
			b[min(8080, len(b)/2)] ^= 4
			return os.WriteFile(wal, b, 0o600)
		},
		"gone": os.Remove,
	}) {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			r := e2e.NewRig(t)
			var names []string
			for i := range 3 {
				names = append(names, r.Ok("new", "-a", "demo", fmt.Sprint("thread ", i)))
			}
			for turn := range 4 {
				for _, name := range names {
					r.Ok("send", name, fmt.Sprint("list files ", turn))
				}
			}
			state := r.StateDir()
			log := filepath.Join(state, "state.db-wal")
			e2e.Await(t, "a kill before the log is folded", func() bool {
				r.Ok("threads") // starts a server where the last one was killed too late
				pid, cl := r.ServerPID(), client.New(r.Found().Socket)
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
				res := r.Run(verb...)
				if res.Code != 0 || !strings.Contains(res.Stderr, "damaged") || !strings.Contains(res.Stderr, "report.txt") || strings.Count(res.Stderr, "\n") != 1 {
					t.Errorf("%v: exit %d, %q", verb, res.Code, res.Stderr)
				}
			}
			for _, name := range names {
				if s := r.Status(name); s.Turn != 4 {
					t.Errorf("%s is at turn %d", name, s.Turn)
				}
			}
			if what == "gone" {
				r.AwaitState(names[2], thread.StateInterrupted, thread.StateExited)
				r.Ok("resume", names[2])
				r.Ok("send", names[2], "list files again")
			}
			if res := r.Run("doctor"); !strings.Contains(res.Stdout, "report.txt") {
				t.Errorf("the doctor says nothing:\n%s", res.Stdout)
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
			if res := r.Run("threads"); res.Stderr != "" {
				t.Errorf("after it is dismissed: %q", res.Stderr)
			}
		})
	}
}
