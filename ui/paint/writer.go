package paint

import (
	"fmt"
	"io"
	"strconv"
	"sync"
	"time"

	"orchestrator/agent/vterm"
	"orchestrator/ui/layout"
)

const (
	frameGap  = 8 * time.Millisecond   // shortest time between two frames of the pane
	syncLimit = 200 * time.Millisecond // longest wait for a program to end its synchronized frame
)

// File is the person's terminal, as Bubble Tea wants to see it.
type File interface {
	io.ReadWriteCloser
	Fd() uintptr
}

// Source is a terminal that somebody else feeds. View calls f with the terminal locked.
type Source interface {
	View(f func(*vterm.Terminal))
}

// Box is a rectangle of the person's screen in cells.
type Box = layout.Box

// Pane is what is to be drawn, and where.
type Pane struct {
	Box    Box
	Source Source
	// Scrolled shows history from line Top on, in the numbering of vterm.Terminal.FirstLine.
	Scrolled bool
	Top      uint64
	// Selection is shown reversed.
	Selection *vterm.Selection
	// Cursor shows the program's cursor, where it shows one: the pane has the keyboard.
	Cursor bool
}

// Writer draws one pane among what Bubble Tea draws. Lock order: the writer's lock, then the source's; so
// Changed must not be called from inside of View.
type Writer struct {
	file    File
	profile Profile
	now     func() time.Time
	later   func(time.Duration, func()) *time.Timer
	next    wanted

	mu      sync.Mutex // guards all below, and the order of what is written
	pane    *Pane      // nil while there is none or it is suspended
	fresh   bool       // the pane shows another source than what is painted
	moved   bool       // the pane stands elsewhere than what is painted
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
func New(file File, profile Profile, cols, rows int) *Writer {
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
func (w *Writer) SetProfile(p Profile) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if p != w.profile {
		w.profile = p
		w.forget()
	}
}

// SetPane shows a pane, or the same one with another box, scroll or selection. It does not wait for the
// terminal: the pane is painted soon after, and before anything that Bubble Tea writes from now on.
func (w *Writer) SetPane(p Pane) {
	if p.Source == nil || p.Box.W <= 0 || p.Box.H <= 0 {
		w.Suspend()
		return
	}
	w.want(&p)
}

// Suspend stops drawing the pane, because something will lie over it or it is gone, and leaves its place
// blank, as Bubble Tea believes it to be.
func (w *Writer) Suspend() { w.want(nil) }

func (w *Writer) want(p *Pane) {
	w.next.Lock()
	defer w.next.Unlock()
	if w.next.last.equal(p) {
		return
	}
	w.next.pane, w.next.last, w.next.set = p, p, true
	if !w.next.queued {
		w.next.queued = true
		time.AfterFunc(0, w.adoptNow)
	}
}

// wanted is the pane that was asked for last. Its lock is the innermost: nothing is called while it is held.
type wanted struct {
	sync.Mutex
	pane, last *Pane
	set        bool // pane is not adopted yet
	queued     bool // adoptNow will run
}

func (p *Pane) equal(o *Pane) bool {
	if p == nil || o == nil {
		return p == o
	}
	a, b := *p, *o
	a.Selection, b.Selection = nil, nil
	same := p.Selection == o.Selection || p.Selection != nil && o.Selection != nil && *p.Selection == *o.Selection
	return a == b && same
}

func (w *Writer) adoptNow() {
	w.next.Lock()
	w.next.queued = false
	w.next.Unlock()
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.adopt() {
		return
	}
	if w.pane != nil {
		w.frame(nil)
	} else if out := w.back(w.wipe(nil)); len(out) > 0 && w.err == nil {
		w.err = w.put(out)
	}
}

// adopt takes over the pane that was asked for; it tells whether there was one.
func (w *Writer) adopt() bool {
	w.next.Lock()
	p, set := w.next.pane, w.next.set
	w.next.set = false
	w.next.Unlock()
	if !set {
		return false
	}
	if w.closed {
		p = nil
	}
	switch {
	case p == nil:
		w.stopTimer()
	case w.pane == nil || w.pane.Source != p.Source:
		w.fresh = true
	case w.pane.Box != p.Box:
		w.moved = true
	}
	w.pane = p
	return true
}

// Changed paints what has changed in the pane: now, or at the end of the frame gap.
func (w *Writer) Changed() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.changed()
}

func (w *Writer) changed() {
	w.adopt()
	if w.pane == nil || w.timer != nil {
		return
	}
	if wait := frameGap - w.now().Sub(w.last); wait > 0 {
		w.after(wait)
		return
	}
	w.frame(nil)
}

func (w *Writer) after(d time.Duration) {
	w.timer = w.later(d, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.timer = nil
		w.adopt()
		if w.pane != nil {
			w.frame(nil)
		}
	})
}

func (w *Writer) stopTimer() {
	if w.syncTimer != nil {
		w.syncTimer.Stop()
		w.syncTimer = nil
	}
	if w.timer != nil {
		w.timer.Stop()
		w.timer = nil
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
	shifts := w.chrome.Shifts()
	_, _ = w.chrome.Write(b)
	var out []byte
	if w.chrome.Shifts() != shifts || w.pane == nil {
		out = w.wipe(out)
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

// wipe appends what makes the painted rows blank, as Bubble Tea believes them to be: because it draws there
// now, or because what it writes next moves cells, and those of the pane must not be moved into the chrome.
func (w *Writer) wipe(out []byte) []byte {
	if !w.chrome.Modes().AltScreen {
		w.forget() // Bubble Tea has left, and the pane with it
		return out
	}
	painted := false
	for i := range w.rows {
		if !w.rows[i].valid {
			continue
		}
		if !painted {
			painted = true
			out = append(out, "\x1b[?2026h"...)
			if !w.away {
				out = append(out, "\x1b7"...)
				w.away = true
			}
			out = append(out, "\x1b[m"...)
		}
		out = moveTo(out, w.painted.X, w.painted.Y+i)
		out = append(out, "\x1b["...)
		out = strconv.AppendInt(out, int64(w.painted.W), 10)
		out = append(out, 'X')
	}
	if painted {
		out = append(out, "\x1b[?2026l"...)
	}
	w.forget()
	return out
}

// back appends what gives Bubble Tea its cursor back, if we have it.
func (w *Writer) back(out []byte) []byte {
	if w.shown {
		out = append(out, "\x1b[?25l"...)
		w.shown = false
	}
	if w.shape != vterm.CursorDefault {
		out = append(out, "\x1b[0 q"...)
		w.shape = vterm.CursorDefault
	}
	if w.away {
		out = append(out, "\x1b8"...)
		w.away = false
	}
	return out
}

func (w *Writer) put(b []byte) error {
	if _, err := w.file.Write(b); err != nil {
		return fmt.Errorf("write to the terminal: %w", err)
	}
	return nil
}

// forget makes the next frame draw every row.
func (w *Writer) forget() { clear(w.rows) }

// frame writes what Bubble Tea wrote, if anything, and behind it the rows of the pane that have changed.
func (w *Writer) frame(out []byte) {
	before := len(out)
	if w.moved {
		out = w.wipe(out) // the place it leaves
	} else if w.fresh {
		w.forget()
	}
	w.moved, w.fresh = false, false
	if w.chrome.Modes().AltScreen {
		out = w.paint(out)
	}
	if len(out) > before {
		w.last = w.now()
	}
	if len(out) > 0 && w.err == nil {
		w.err = w.put(out)
	}
}

// paint appends a frame of the pane, nothing if all of it stands already.
func (w *Writer) paint(out []byte) []byte {
	pane := w.pane
	w.touched()
	p := &w.painter
	p.out, p.profile, p.styled = p.out[:0], w.profile, false
	var cursor vterm.Cursor
	held := false
	pane.Source.View(func(t *vterm.Terminal) {
		p.term = t
		if held = w.held(t); held {
			return
		}
		w.compare(t)
		w.drawRows(t)
		cursor = t.Cursor()
		cursor.Visible = cursor.Visible && pane.Cursor && !pane.Scrolled && cursor.X < pane.Box.W && cursor.Y < pane.Box.H
	})
	p.term = nil
	if held && len(out) == 0 {
		return out
	}
	return w.compose(out, cursor, held)
}

// held tells whether the program is in the middle of a synchronized frame; it is asked again at its end,
// or after a while if that does not come.
func (w *Writer) held(t *vterm.Terminal) bool {
	if !t.Modes().Sync {
		w.syncSince = time.Time{}
		if w.syncTimer != nil {
			w.syncTimer.Stop()
			w.syncTimer = nil
		}
		return false
	}
	now := w.now()
	if w.syncSince.IsZero() {
		w.syncSince = now
	}
	wait := syncLimit - now.Sub(w.syncSince)
	if wait <= 0 {
		return false
	}
	if w.syncTimer == nil {
		w.syncTimer = w.later(wait, func() {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.syncTimer = nil
			w.changed()
		})
	}
	return true
}

// touched forgets the rows that Bubble Tea has drawn on since the last frame.
func (w *Writer) touched() {
	box := w.pane.Box
	_, rows := w.chrome.Size()
	if len(w.rows) != box.H {
		w.rows = make([]rowKey, box.H)
	}
	if len(w.chromeRows) != rows {
		w.chromeRows = make([]uint64, rows)
		w.forget()
	}
	for y := range rows {
		g := w.chrome.RowGeneration(y)
		if g == w.chromeRows[y] {
			continue
		}
		w.chromeRows[y] = g
		if i := y - box.Y; i >= 0 && i < box.H {
			w.rows[i].valid = false
		}
	}
}

// compare forgets all rows if something has changed that shows in each.
func (w *Writer) compare(t *vterm.Terminal) {
	l := look{term: t, reverse: t.Modes().ReverseVideo}
	l.fg, l.bg = t.DefaultColors()
	l.cols, l.rows = t.Size()
	if l != w.looked {
		w.looked = l
		w.forget()
	}
	w.painter.look = l
}

// drawRows draws the rows whose content is not what stands there.
func (w *Writer) drawRows(t *vterm.Terminal) {
	pane, p := w.pane, &w.painter
	cols, rows := t.Size()
	first := t.FirstLine()
	screen := first + uint64(t.History())
	top := screen
	if pane.Scrolled {
		top = min(max(pane.Top, first), screen)
	}
	maxCols, maxRows := w.chrome.Size()
	width := min(pane.Box.W, maxCols-pane.Box.X)
	w.painted = Box{X: pane.Box.X, Y: pane.Box.Y, W: width, H: pane.Box.H}
	for i := range w.rows {
		line := top + uint64(i)
		key := rowKey{valid: true}
		switch {
		case line < screen:
			key.line = line + 1
		case line < screen+uint64(rows):
			key.gen = t.RowGeneration(int(line - screen))
		}
		if pane.Selection != nil {
			key.selA, key.selB, _ = pane.Selection.Columns(line, max(cols, pane.Box.W))
		}
		if key == w.rows[i] || pane.Box.Y+i >= maxRows {
			continue
		}
		w.rows[i] = key
		if line < screen+uint64(rows) {
			p.cells, _ = t.Line(p.cells[:0], line)
		} else {
			p.cells = p.cells[:0]
		}
		p.row(pane.Box.X, pane.Box.Y+i, width, key.selA, key.selB)
	}
}

// compose puts the frame together: Bubble Tea's cursor saved, rows, then our cursor or Bubble Tea's again.
func (w *Writer) compose(out []byte, cursor vterm.Cursor, held bool) []byte {
	rows := w.painter.out
	box := w.pane.Box
	at := cursorAt{box.X + cursor.X, box.Y + cursor.Y, cursor.Visible, cursor.Style}
	if held {
		at = w.cursorWas // between the halves of a frame the cursor stays where it was
	}
	if len(rows) == 0 && w.shown == at.visible && (!at.visible || w.cursorWas == at) {
		return out
	}
	out = append(out, "\x1b[?2026h"...)
	if !w.away {
		out = append(out, "\x1b7"...)
		w.away = true
	}
	if len(rows) > 0 {
		if w.shown {
			out = append(out, "\x1b[?25l"...)
			w.shown = false
		}
		out = append(out, rows...)
		if w.profile != Plain {
			out = append(out, "\x1b[m"...)
		}
	}
	w.cursorWas = at
	if at.visible {
		out = w.placeCursor(out, at)
	} else {
		out = w.back(out)
	}
	return append(out, "\x1b[?2026l"...)
}

// cursorAt is where the cursor was left.
type cursorAt struct {
	x, y    int
	visible bool
	style   vterm.CursorStyle
}

func (w *Writer) placeCursor(out []byte, at cursorAt) []byte {
	out = moveTo(out, at.x, at.y)
	if w.shape != at.style {
		out = append(out, '\x1b', '[', '0'+byte(at.style), ' ', 'q')
		w.shape = at.style
	}
	if !w.shown {
		out = append(out, "\x1b[?25h"...)
		w.shown = true
	}
	return out
}
