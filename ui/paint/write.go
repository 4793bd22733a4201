package paint

import (
	"time"

	"github.com/charmbracelet/colorprofile"

	"orchestrator/agent/vterm"
	"orchestrator/ui/glyph"
)

// New returns a writer for a terminal of the given size.
func New(file File, profile colorprofile.Profile, cols, rows int) *Writer {
	return &Writer{
		file: file, profile: profile, now: time.Now, later: time.AfterFunc,
		chrome: vterm.New(cols, rows, vterm.Options{Scrollback: -1}),
	}
}

// Show tells what the terminal can show; it is called before anything is painted.
func (w *Writer) Show(g glyph.Set) { w.painter.glyphs = g }

// Write forwards what Bubble Tea draws, and redraws the panes where that has touched them.
func (w *Writer) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return 0, w.err
	}
	w.adopt()
	var out []byte
	for _, s := range w.spots {
		out = s.uncover(out) // b may move what is drawn there
	}
	shifts := w.chrome.Shifts()
	_, _ = w.chrome.Write(b)
	shifted := w.chrome.Shifts() != shifts
	if shifted {
		out = w.still(out)
	}
	for _, s := range w.spots {
		if shifted || s.pane == nil || s.moved {
			out = s.wipe(out) // before b, which may draw where the pane was
		}
		s.due = true
	}
	w.frame(append(w.back(out), b...))
	if w.err != nil {
		return 0, w.err
	}
	return len(b), nil
}

// Resize sets the size of the user's terminal.
func (w *Writer) Resize(cols, rows int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.chrome.Resize(cols, rows)
	w.forget()
}

// SetProfile sets the colour profile.
func (w *Writer) SetProfile(p colorprofile.Profile) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if p != w.profile {
		w.profile = p
		w.forget()
	}
}

// Close stops painting. The file stays open, because it belongs to the caller.
func (w *Writer) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	w.drift.stop()
	var out []byte
	for _, s := range w.spots {
		s.pane = nil
		s.stopTimers()
		out = s.clear(out)
	}
	if out = w.back(out); len(out) > 0 {
		return w.put(out)
	}
	return nil
}
