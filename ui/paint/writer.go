package paint

import (
	"fmt"
	"io"
	"sync"
	"time"

	"orchestrator/agent/vterm"

	"github.com/charmbracelet/colorprofile"
)

// File is the user's terminal, as Bubble Tea expects it.
type File interface {
	io.ReadWriteCloser
	Fd() uintptr
}

// cursorAt is where the cursor was left.
type cursorAt struct {
	x, y    int
	ours    bool // it stands in the pane
	visible bool
	style   vterm.CursorStyle
}

// Writer draws a pane among what Bubble Tea draws. Lock order: the writer's lock, then the source's; so Changed must
// not be called from inside View.
type Writer struct {
	file    File
	profile colorprofile.Profile
	now     func() time.Time
	later   func(time.Duration, func()) *time.Timer
	wake    func() // paints what has changed; the caller holds mu
	next    wanted

	mu      sync.Mutex // guards all below, and the order of writes
	pane    *Pane      // nil if there is none or it is suspended
	fresh   bool       // the pane shows another source than the painted one
	moved   bool       // the pane is not where it was painted
	chrome  *vterm.Terminal
	rows    []rowKey // the painted rows of the box
	painted Box      // where they were painted
	looked  look
	// chromeRows are the generations of the chrome's rows at the last paint: if they differ, Bubble Tea may have drawn
	// over the pane.
	chromeRows []uint64
	away       bool // Bubble Tea's cursor is saved, and ours is in the pane
	shown      bool // we made the cursor visible
	shape      vterm.CursorStyle
	cursorWas  cursorAt
	drift      drift
	last       time.Time // of the last frame that drew something
	timer      *time.Timer
	syncSince  time.Time // since when the program has been holding its frame back
	syncTimer  *time.Timer
	closed     bool
	painter    rowPainter
	err        error
}

// Fd returns the file descriptor of the terminal.
func (w *Writer) Fd() uintptr { return w.file.Fd() }

// Read reads from the terminal.
func (w *Writer) Read(b []byte) (int, error) { return w.file.Read(b) }

func (w *Writer) put(b []byte) error {
	if _, err := w.file.Write(b); err != nil {
		return fmt.Errorf("write to the terminal: %w", err)
	}
	return nil
}

// forget makes the next frame draw every row.
func (w *Writer) forget() { clear(w.rows) }

func (w *Writer) stopTimer() {
	w.drift.stop()
	if w.syncTimer != nil {
		w.syncTimer.Stop()
		w.syncTimer = nil
	}
	if w.timer != nil {
		w.timer.Stop()
		w.timer = nil
	}
}
