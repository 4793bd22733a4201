package runs

import (
	"context"
	"io"
	"sync"

	"orchestrator/thread"
)

// Stage stores data for good, and returns its token. It reads the data to its end, or fails.
type Stage func(ctx context.Context, r thread.StageRequest, data io.Reader) (thread.Token, error)

// Output stages what a process prints, while it prints. It is a writer for one goroutine.
type Output struct {
	ctx   context.Context
	stage Stage
	about thread.StageRequest

	mu    sync.Mutex // guards the fields below
	pipe  *io.PipeWriter
	done  chan struct{} // closed when token and err are valid; nil before anything was written
	over  bool
	token thread.Token
	err   error
}

// NewOutput returns the output of an execution with a name, in a thread. It ends with ctx. Without a stage it is nil.
func NewOutput(ctx context.Context, stage Stage, id thread.ID, name string) *Output {
	if stage == nil {
		return nil
	}
	return &Output{ctx: ctx, stage: stage, about: thread.StageRequest{Source: name, Kind: thread.DataText, Thread: id}}
}

// Writer returns it as a writer, nil if there is none.
func (o *Output) Writer() io.Writer {
	if o == nil {
		return nil
	}
	return o
}

// Write waits until the bytes are stored. After an error nothing more is.
func (o *Output) Write(b []byte) (int, error) {
	pipe, err := o.begin()
	if err != nil {
		return 0, err
	}
	return pipe.Write(b)
}

// begin starts the stage with the first bytes.
func (o *Output) begin() (*io.PipeWriter, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case o.over:
		return nil, io.ErrClosedPipe
	case o.pipe != nil:
		return o.pipe, nil
	}
	data, pipe := io.Pipe()
	o.pipe, o.done = pipe, make(chan struct{})
	rid := context.AfterFunc(o.ctx, func() { _ = pipe.CloseWithError(context.Cause(o.ctx)) }) // never fails
	go func() {
		defer close(o.done)
		defer rid()
		o.token, o.err = o.stage(o.ctx, o.about, data)
		_ = data.CloseWithError(o.err) // never fails; nil is the end of a pipe
	}()
	return pipe, nil
}

// End ends the output and returns its token, "" if the process has printed nothing. It can be repeated.
func (o *Output) End(ctx context.Context) (thread.Token, error) {
	if o == nil {
		return "", nil
	}
	o.mu.Lock()
	o.over = true
	pipe, done := o.pipe, o.done
	o.mu.Unlock()
	if pipe == nil {
		return "", nil
	}
	_ = pipe.Close() // never fails
	select {
	case <-done:
		return o.token, o.err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}
