package verb

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"orchestrator/cmd/orchestrator/client"
	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/cmd/orchestrator/exitcode"
	"orchestrator/thread/api"
)

// crashVariable has the test's own binary panic in a goroutine, with what a crash prints going to a file.
const crashVariable = "ORCHESTRATOR_TEST_CRASH"

func crashInto(path string) int {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return exitcode.Error
	}
	c := &cli{out: newOutput(os.Stdout, os.Stderr)}
	if err := c.catchCrash(f); err != nil {
		fmt.Fprintln(c.out.stderr, err)
		return exitcode.Error
	}
	fmt.Fprintln(c.out.stderr, "still said")
	go panic(e2e.Hostile)
	select {}
}

// TestCrashIsCaught: what the runtime prints of a panic goes past standard error, which still takes what we print.
func TestCrashIsCaught(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "crash")
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), crashVariable+"="+file)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	err := cmd.Run()
	if cmd.ProcessState.ExitCode() != 2 || stderr.String() != "still said\n" {
		t.Errorf("%v; standard error got %q", err, stderr.String())
	}
	if b, err := os.ReadFile(file); err != nil || !bytes.HasPrefix(b, []byte("panic: ")) || !bytes.Contains(b, []byte("crashInto")) {
		t.Errorf("the file got %q, %v", b, err)
	}
}

// TestCrashedServerIsNamed: the next server's log has what the last one printed, cleaned, and the verb that starts it says
// so.
func TestCrashedServerIsNamed(t *testing.T) {
	t.Parallel()
	r := e2e.NewRig(t)
	r.Ok("threads")
	cl := client.New(r.Claimed().Socket)
	info, err := api.Info.Do(t.Context(), cl, api.InfoRequest{})
	cl.Close()
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(info.PID, syscall.SIGABRT); err != nil { // the runtime prints that as it prints a panic
		t.Fatal(err)
	}
	crash, log := filepath.Join(r.StateDir(), "log", "crash"), filepath.Join(r.StateDir(), "log", "server.log")
	e2e.Await(t, "the server to print where it stands", func() bool {
		b, err := os.ReadFile(crash)
		return err == nil && bytes.Contains(b, []byte("SIGABRT")) && syscall.Kill(info.PID, 0) != nil
	})
	f, err := os.OpenFile(crash, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(e2e.Hostile); err != nil {
		t.Fatal(err)
	}
	f.Close()
	res := r.Run("threads")
	if res.Code != 0 || !strings.Contains(res.Stderr, "the last server crashed") || !strings.Contains(res.Stderr, "SIGABRT") || !strings.Contains(res.Stderr, log) {
		t.Errorf("exit %d, %q", res.Code, res.Stderr)
	}
	if b, err := os.ReadFile(log); err != nil || !bytes.Contains(b, []byte("SIGABRT")) || bytes.ContainsRune(b, 0x1b) || bytes.ContainsRune(b, 0x202e) {
		t.Errorf("the log has the crash: %v, and is clean: %v; %v", bytes.Contains(b, []byte("SIGABRT")), !bytes.ContainsRune(b, 0x1b), err)
	}
	r.Ok("stop")
	if res := r.Run("threads"); strings.Contains(res.Stderr, "crashed") {
		t.Errorf("after a stop: %q", res.Stderr)
	}
}
