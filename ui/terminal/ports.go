package terminal

import (
	"context"

	"orchestrator/thread"
	"orchestrator/ui/paint"
)

// Attacher opens a thread's terminal.
type Attacher interface {
	// Attach asks for the terminal at a size. It may wait; it ends with the context.
	Attach(ctx context.Context, id thread.ID, cols, rows int) (Stream, error)
}

// Stream is an open terminal. Read is called from one goroutine, Write and Resize from another, Close from
// any.
type Stream interface {
	// Read gives the next bytes of the terminal: first a snapshot of it in one piece, then what the program
	// writes. io.EOF says that the program has ended.
	Read(context.Context) ([]byte, error)
	// Write sends bytes to the program.
	Write(context.Context, []byte) error
	// Resize tells the size.
	Resize(ctx context.Context, cols, rows int) error
	Close() error
}

// Painter draws the pane; paint.Writer is one.
type Painter interface {
	SetPane(paint.Pane)
	Suspend()
	Changed()
}
