//go:build linux

package process

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// begin starts a shell whose processes have a mark, and waits until it has printed a line.
func begin(t *testing.T, mark, script string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("/bin/sh", "-c", script)
	cmd.Env = append(os.Environ(), mark)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	return cmd
}

// TestEnd ends what asks for a moment, what does not listen, what forks on, what is stopped, and nothing else.
func TestEnd(t *testing.T) {
	for what, c := range map[string]struct {
		script string
		grace  time.Duration
		end    string
	}{
		"it cleans up": {"trap 'exit 3' TERM; echo; while :; do sleep .01; done", time.Minute, "exit status 3"},
		"it is deaf":   {"trap '' TERM; echo; while :; do sleep .01; done", 10 * time.Millisecond, "signal: killed"},
		"at once":      {"trap 'exit 3' TERM; echo; while :; do sleep .01; done", 0, "signal: killed"},
		"it forks on":  {"echo; f() { sleep .001; f & }; f & f & wait; while :; do sleep .01; done", 0, "signal: killed"},
		"it is stopped": {"trap 'exit 3' TERM; echo; kill -STOP $$; while :; do sleep .01; done",
			time.Minute, "exit status 3"},
	} {
		t.Run(what, func(t *testing.T) {
			mark := "END_TEST=" + strings.ReplaceAll(t.Name(), " ", "")
			cmd := begin(t, mark, c.script)
			ended := make(chan error, 1)
			go func() { ended <- cmd.Wait() }()
			find := Kin(func(p Info) bool { return Marked(p.PID, func(kv string) bool { return kv == mark }) })
			if found, left := End(t.Context(), c.grace, find); found == 0 || left != 0 {
				t.Errorf("found %d, left %d", found, left)
			}
			if err := <-ended; err == nil || err.Error() != c.end {
				t.Errorf("it ended with %v, want %s", err, c.end)
			}
		})
	}
}

// TestEndIsGivenUp: with its context, and it says what is left.
func TestEndIsGivenUp(t *testing.T) {
	mark := "END_TEST=" + t.Name()
	cmd := begin(t, mark, "trap '' TERM; echo; while :; do sleep .01; done")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	find := func() []Info { p, _ := Look(cmd.Process.Pid); cancel(); return []Info{p} }
	if found, left := End(ctx, time.Minute, find); found != 1 || left != 1 {
		t.Errorf("found %d, left %d", found, left)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // killed
	if found, left := End(t.Context(), 0, func() []Info { return nil }); found != 0 || left != 0 {
		t.Errorf("found %d, left %d of nothing", found, left)
	}
}
