package screens

import (
	"errors"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"

	"orchestrator/cmd/orchestrator/e2e"
)

// TestScreenEndsWithItsTerminal closes the terminal of a screen that does not control it, as below `su -c` or setsid:
// no signal says so, and the screen must not stay behind.
func TestScreenEndsWithItsTerminal(t *testing.T) {
	t.Parallel()
	r := e2e.NewRig(t)
	r.Ok("threads") // the server runs
	master, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	if err := pty.Setsize(master, &pty.Winsize{Cols: 100, Rows: 30}); err != nil {
		t.Fatal(err)
	}
	cmd := r.Command()
	cmd.Stdin, cmd.Stdout, cmd.Stderr = tty, tty, tty
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // and no Setctty
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	tty.Close()
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	shown := make([]byte, 4096)
	if _, err := master.Read(shown); err != nil {
		t.Fatal(err)
	}
	time.Sleep(pace) // it draws
	master.Close()
	select {
	case err := <-ended:
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			t.Error(err)
		}
	case <-time.After(e2e.Patience / 3):
		_ = cmd.Process.Kill()
		t.Errorf("the screen runs on without its terminal; killed: %v", <-ended)
	}
}
