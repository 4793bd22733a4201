package terminal

import (
	"context"

	"orchestrator/thread"
	"orchestrator/thread/api"
	"orchestrator/ui/paint"
)

// Attacher opens a thread's terminal.
type Attacher interface {
	// Attach requests the terminal at a size. It may block, until the context ends.
	Attach(ctx context.Context, id thread.ID, size api.Size) (Stream, error)
}

// Stream is an open terminal. One goroutine calls Read, another one Write and Resize, and any may call Close.
type Stream interface {
	// Read returns the next bytes of the terminal: first a snapshot in one piece, then the program's output. io.EOF means
	// that the program has ended.
	Read(context.Context) ([]byte, error)
	// Write sends bytes to the program.
	Write(context.Context, []byte) error
	// Resize sets the size.
	Resize(ctx context.Context, size api.Size) error
	Close() error
}

// Painter draws the pane; paint.Spot is one.
type Painter interface {
	SetPane(paint.Pane)
	Suspend()
	Changed()
}
