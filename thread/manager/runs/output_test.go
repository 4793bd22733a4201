package runs_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/manager/runs"
)

// TestOutput stages what is written, and says what went wrong.
func TestOutput(t *testing.T) {
	var staged strings.Builder
	var about thread.StageRequest
	keeps := func(_ context.Context, r thread.StageRequest, data io.Reader) (thread.Token, error) {
		about = r
		_, err := io.Copy(&staged, data)
		return "at:1", err
	}
	ctx := context.Background()
	o := runs.NewOutput(ctx, keeps, "t", "exec-001")
	for _, piece := range []string{"one ", "two"} {
		if n, err := o.Writer().Write([]byte(piece)); n != len(piece) || err != nil {
			t.Fatal(n, err)
		}
	}
	for range 2 {
		if token, err := o.End(ctx); token != "at:1" || err != nil || staged.String() != "one two" {
			t.Errorf("%q, %v: %q", token, err, staged.String())
		}
	}
	if _, err := o.Write([]byte("late")); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("written after the end: %v", err)
	}
	if about.Source != "exec-001" || about.Thread != "t" {
		t.Errorf("about %+v", about)
	}

	quiet := runs.NewOutput(ctx, keeps, "t", "exec-002")
	if token, err := quiet.End(ctx); token != "" || err != nil {
		t.Errorf("nothing was written: %q, %v", token, err)
	}
	none := runs.NewOutput(ctx, nil, "t", "exec-003")
	if token, err := none.End(ctx); none.Writer() != nil || token != "" || err != nil {
		t.Errorf("no stage: %q, %v", token, err)
	}

	full := errors.New("disk is full")
	fails := runs.NewOutput(ctx, func(_ context.Context, _ thread.StageRequest, data io.Reader) (thread.Token, error) {
		_, _ = io.ReadFull(data, make([]byte, 2))
		return "", full
	}, "t", "exec-004")
	if _, err := fails.Write([]byte("more than that")); !errors.Is(err, full) {
		t.Errorf("the disk is full: %v", err)
	}
	if _, err := fails.Write([]byte("more")); !errors.Is(err, full) {
		t.Errorf("the disk is still full: %v", err)
	}
	if token, err := fails.End(ctx); token != "" || !errors.Is(err, full) {
		t.Errorf("the disk was full: %q, %v", token, err)
	}

	ends, end := context.WithCancel(ctx)
	gone := runs.NewOutput(ends, keeps, "t", "exec-006")
	if _, err := gone.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	end()
	for err := error(nil); err == nil; {
		_, err = gone.Write([]byte("x"))
	}
	if _, err := gone.End(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("the server has ended: %v", err)
	}

	stays, begun := make(chan struct{}), make(chan struct{})
	stuck := runs.NewOutput(ctx, func(context.Context, thread.StageRequest, io.Reader) (thread.Token, error) {
		close(begun)
		<-stays
		return "", nil
	}, "t", "exec-005")
	go func() { _, _ = stuck.Write([]byte("x")) }() // it ends with the output
	<-begun
	soon, cancel := context.WithTimeout(ctx, 5*time.Millisecond)
	defer cancel()
	if _, err := stuck.End(soon); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("stuck: %v", err)
	}
	close(stays)
}
