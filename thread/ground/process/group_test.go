package process_test

import (
	"bufio"
	"context"
	"os/exec"
	"testing"
	"time"

	"orchestrator/thread/ground/process"
)

// TestGroup: what a command has started ends with its context.
func TestGroup(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-c", "sleep 600 & echo $!; wait")
	process.Group(cmd, time.Minute)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	cancel()
	if _, err := bufio.NewReader(out).ReadString('\n'); err == nil { // ends when nobody has it open any more
		t.Error("more was printed")
	}
	if err := cmd.Wait(); err == nil {
		t.Error("it ended by itself")
	}
}
