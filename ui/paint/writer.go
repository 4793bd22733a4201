package paint

import (
	"fmt"
	"io"
	"sync"
	"time"

	"orchestrator/agent/vterm"

	"github.com/charmbracelet/colorprofile"
)

// File is the person's terminal, as Bubble Tea wants to see it.
type File interface {
	io.ReadWriteCloser
	Fd() uintptr
}

// Writer draws one pane among what Bubble Tea draws. Lock order: the writer's lock, then the source's; so
// Changed must not be called from inside of View.
type Writer struct {
	file    File
	profile colorprofile.Profile
	now     func() time.Time
	later   func(time.Duration, func()) *time.Timer
	next    wanted

	mu      sync.Mutex // guards all below, and the order of what is written
	pane    *Pane      // nil while there is none or it is suspended
	fresh   bool       // the pane shows another source than what is painted
	moved   bool       // the pane stands elsewhere than what is painted
	ahead   bool       // the pane has moved, and Bubble Tea has drawn nothing since
	chrome  *vterm.Terminal
	rows    []rowKey // what is painted, by row of the box
	painted Box      // where they are painted
	looked  look
	// chromeRows are the generations of the chrome's rows at the last paint: where they differ, Bubble Tea
	// may have drawn over the pane.
	chromeRows []uint64
	away       bool // Bubble Tea's cursor is saved and ours stands in the pane
	shown      bool // we made the cursor visible
	shape      vterm.CursorStyle
	cursorWas  cursorAt
	last       time.Time // of the last frame that drew something
	timer      *time.Timer
	syncSince  time.Time // since when the program holds its frame back
	syncTimer  *time.Timer
	closed     bool
	painter    rowPainter
	err        error
}

// New makes a writer on a terminal of the given size.
func New(file File, profile colorprofile.Profile, cols, rows int) *Writer {
	return &Writer{
		file: file, profile: profile, now: time.Now, later: time.AfterFunc,
		chrome: vterm.New(cols, rows, vterm.Options{Scrollback: -1}),
	}
}

// Fd is the descriptor of the terminal.
func (w *Writer) Fd() uintptr { return w.file.Fd() }

// Read reads from the terminal.
func (w *Writer) Read(b []byte) (int, error) { return w.file.Read(b) }

// Close stops the painting. The file stays open: it belongs to the caller.
func (w *Writer) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	w.pane = nil
	w.stopTimer()
	if out := w.back(w.wipe(nil)); len(out) > 0 {
		return w.put(out)
	}
	return nil
}

// Resize tells the size of the person's terminal.
func (w *Writer) Resize(cols, rows int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.chrome.Resize(cols, rows)
	w.forget()
}

// SetProfile sets which colours are used.
func (w *Writer) SetProfile(p colorprofile.Profile) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if p != w.profile {
		w.profile = p
		w.forget()
	}
}

// Write passes on what Bubble Tea draws and draws the pane again where that touched it.
func (w *Writer) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return 0, w.err
	}
	w.adopt()
	var out []byte
	if w.ahead {
		w.ahead = false
		out = w.uncover(out) // b may move what is drawn there
	}
	shifts := w.chrome.Shifts()
	_, _ = w.chrome.Write(b)
	if w.chrome.Shifts() != shifts || w.pane == nil || w.moved {
		out = w.wipe(out) // before b, which may draw where the pane was
	}
	out = append(w.back(out), b...)
	if w.pane != nil {
		w.frame(out)
	} else {
		w.err = w.put(out)
	}
	if w.err != nil {
		return 0, w.err
	}
	return len(b), nil
}

func (w *Writer) put(b []byte) error {
	if _, err := w.file.Write(b); err != nil {
		return fmt.Errorf("write to the terminal: %w", err)
	}
	return nil
}
