// Package follow decides which thread's terminal the pane shows while the selection moves through the list.
//
// While the selection moves, nothing is attached: the attached thread stays attached, but hidden, until the selection
// rests. The pane never shows a thread that is not selected, and is told to attach only if that changes something.
package follow

import (
	"orchestrator/thread"
	"orchestrator/ui/layout"
)

// State is the relation of the pane to the selection.
type State int

const (
	// Empty means that nothing is attached: the selected thread has no terminal, nothing is selected, or the selection
	// does not rest yet.
	Empty State = iota
	// Moving means that the selection has left the attached thread, which stays attached but hidden, and does not rest
	// yet.
	Moving
	// Passing means that the selection is back on the attached thread, which is shown, but does not rest yet.
	Passing
	// Resting means that the selected thread is attached and the selection rests.
	Resting
)

func (s State) String() string { return [...]string{"empty", "moving", "passing", "resting"}[s] }

// Selection is the selected thread, if any, and its execution.
type Selection struct {
	ID  thread.ID
	Run thread.ExecutionID // "" if it has no terminal to show
}

// Follower follows the selection. The zero value is ready to use.
type Follower struct {
	selected thread.ID // the selection that has taken effect
	gen      int       // counts selections; late messages of an old one are dropped
	rests    bool
	shown    thread.ID // what the pane was told to show
	run      thread.ExecutionID
	pending  thread.ID // to be focused as soon as it runs
	rested   thread.ID // on which the selection rested last
	before   thread.ID // and on which before that
}

// State returns the relation of the pane to the selection.
func (f *Follower) State() State {
	switch {
	case f.shown == "":
		return Empty
	case f.shown != f.selected:
		return Moving
	case !f.rests:
		return Passing
	default:
		return Resting
	}
}

// Select records the selection. If it moved, it rests at once if it is the first one, or the thread to be focused, so
// that no key goes to another agent before.
func (f *Follower) Select(id thread.ID) (moved, atOnce bool) {
	if id == f.selected {
		return false, false
	}
	atOnce = f.selected == "" || f.pending == id
	f.selected, f.rests = id, false
	f.gen++
	return true, atOnce
}

// Rest records that the selection rests.
func (f *Follower) Rest() {
	f.rests = true
	if f.selected != "" && f.selected != f.rested {
		f.rested, f.before = f.selected, f.rested
	}
}

// Before returns the thread on which the selection rested before it rested on the last one, or "".
func (f *Follower) Before() thread.ID {
	if f.selected != f.rested { // the selection moves
		return f.rested
	}
	return f.before
}

// Visit selects a thread that was explicitly asked for; the selection rests at once.
func (f *Follower) Visit(id thread.ID) {
	f.selected = id
	f.gen++
	f.Rest()
}

// Rests reports whether the selection rests.
func (f *Follower) Rests() bool { return f.rests }

// Generation counts selections.
func (f *Follower) Generation() int { return f.gen }

// Selected returns the selection that has taken effect.
func (f *Follower) Selected() thread.ID { return f.selected }

// Shown returns the thread whose terminal is attached, or "".
func (f *Follower) Shown() thread.ID { return f.shown }

// FocusWhenRunning makes a thread get the focus as soon as it is selected and running; "" cancels that.
func (f *Follower) FocusWhenRunning(id thread.ID) { f.pending = id }

// PendingFocus returns the thread that is waiting for the focus.
func (f *Follower) PendingFocus() thread.ID { return f.pending }

// TakeFocus reports, once, that the thread waiting for the focus is selected and running.
func (f *Follower) TakeFocus(sel Selection) bool {
	if f.pending == "" || sel.ID != f.pending || sel.Run == "" {
		return false
	}
	f.pending = ""
	return true
}

// Reattach makes the pane attach to the terminal again, because the painted content is gone.
func (f *Follower) Reattach() { f.run = "" }

// Attach returns what the pane must show, and whether it has to be told.
func (f *Follower) Attach(sel Selection) (id thread.ID, tell bool) {
	want, run := f.want(sel)
	tell = want != f.shown || run != f.run
	f.shown, f.run = want, run
	return want, tell
}

func (f *Follower) want(sel Selection) (thread.ID, thread.ExecutionID) {
	switch {
	case sel.ID != "" && !f.rests && f.shown != sel.ID:
		return f.shown, f.run // the selection is still moving
	case sel.ID != "" && sel.Run != "":
		return sel.ID, sel.Run
	default:
		return "", ""
	}
}

// Watched is a thread whose terminal is shown beside that of the selected one, and where.
type Watched struct {
	Selection
	Box layout.Box
}
