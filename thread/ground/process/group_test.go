package process_test

import (
	"bufio"
	"context"
	"errors"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"orchestrator/thread/ground/process"
)

// TestGroup ends a command by its context: what it started ends too, although it ignores hangups and holds the output.
func TestGroup(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cmd := exec.CommandContext(ctx, "sh", "-c", `trap '' HUP TERM; sleep 1000 & echo $!; wait`)
	process.Group(cmd, time.Minute)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	child, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := cmd.Wait(); err == nil {
		t.Error("it ended by itself")
	}
	for end := time.Now().Add(time.Minute); !errors.Is(syscall.Kill(child, 0), syscall.ESRCH); time.Sleep(time.Millisecond) {
		if p, there := process.Look(child); there && p.Ended {
			break // whoever adopted it has not collected it yet
		}
		if time.Now().After(end) {
			t.Fatal("what it started lives on")
		}
	}
}
