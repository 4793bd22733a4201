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

// Writer draws panes among what Bubble Tea draws. Lock order: the writer's lock, then the source's; so Changed must not
// be called from inside View.
type Writer struct {
	file    File
	profile colorprofile.Profile
	now     func() time.Time
	later   func(time.Duration, func()) *time.Timer

	mu        sync.Mutex // guards all below, and the order of writes
	spots     []*Spot
	owned     *Spot // the one that had the cursor
	chrome    *vterm.Terminal
	away      bool // Bubble Tea's cursor is saved, and ours is in a pane
	shown     bool // we made the cursor visible
	shape     vterm.CursorStyle
	cursorWas cursorAt
	drift     drift
	closed    bool
	painter   rowPainter
	spinners  spinners
	err       error
}

// Spot is a place for a pane. Panes that stand beside each other have a spot each; the cursor of at most one of them is
// shown. The writer's lock guards all but next.
type Spot struct {
	w    *Writer
	wake func() // paints what has changed; the caller holds the writer's lock
	next wanted

	pane    *Pane    // nil if there is none or it is suspended
	gone    bool     // it is no longer shown, but is still on the screen
	fresh   bool     // it shows another source than the painted one
	moved   bool     // it is not where it was painted
	due     bool     // the next frame paints it
	rows    []rowKey // the painted rows of the box
	painted Box      // where they were painted
	looked  look
	// chromeRows are the generations of the chrome's rows at the last paint: if they differ, Bubble Tea may have drawn
	// over the pane.
	chromeRows []uint64
	last       time.Time // of the last frame that drew something
	timer      *time.Timer
	syncSince  time.Time // since when the program has been holding its frame back
	syncTimer  *time.Timer
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
func (w *Writer) forget() {
	for _, s := range w.spots {
		s.forget()
	}
	w.spinners.forget()
}

// forget makes the next frame draw every row of the pane.
func (s *Spot) forget() { clear(s.rows) }

func (s *Spot) stopTimers() {
	if s.syncTimer != nil {
		s.syncTimer.Stop()
		s.syncTimer = nil
	}
	if s.timer != nil {
		s.timer.Stop()
		s.timer = nil
	}
}
