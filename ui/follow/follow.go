// Package follow decides which thread's terminal the pane shows while the selection moves through the list.
//
// A selection that moves attaches to nothing: what was attached stays so, hidden, until the selection rests. The pane
// never shows a thread that is not selected, and is told to attach only where that changes something.
package follow

import "orchestrator/thread"

// State is how the pane is to the selection.
type State int

const (
	// Empty means that nothing is attached: the selected thread has no terminal, nothing is selected, or the selection
	// does not rest yet.
	Empty State = iota
	// Moving means that the selection has left the attached thread, which stays attached and hidden, and does not rest
	// yet.
	Moving
	// Passing means that the selection is over the attached thread again, which is shown, but does not rest yet.
	Passing
	// Resting means that the selected thread is attached and the selection rests.
	Resting
)

func (s State) String() string { return [...]string{"empty", "moving", "passing", "resting"}[s] }

// Selection is the selected thread, if any, and what runs in it.
type Selection struct {
	ID  thread.ID
	Run thread.ExecutionID // "" where it has no terminal to show
}

// Follower follows the selection. The zero value follows nothing yet.
type Follower struct {
	selected thread.ID // the selection that was acted upon
	gen      int       // counts selections; what is late for one is dropped
	rests    bool
	shown    thread.ID // what the pane was told to show
	run      thread.ExecutionID
	wish     thread.ID // to get the keys as soon as it runs
}

// State tells how the pane is to the selection.
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

// Select notes the selection. Where it moved, it rests at once if it is the first, or the thread that is to get the
// keys: none goes to another agent before.
func (f *Follower) Select(id thread.ID) (moved, atOnce bool) {
	if id == f.selected {
		return false, false
	}
	atOnce = f.selected == "" || f.wish == id
	f.selected, f.rests = id, false
	f.gen++
	return true, atOnce
}

// Rest says that the selection rests.
func (f *Follower) Rest() { f.rests = true }

// Visit selects a thread that was asked for by name, with the selection at rest.
func (f *Follower) Visit(id thread.ID) {
	f.selected, f.rests = id, true
	f.gen++
}

// Rests reports whether the selection rests.
func (f *Follower) Rests() bool { return f.rests }

// Generation counts selections.
func (f *Follower) Generation() int { return f.gen }

// Selected is the selection that was acted upon.
func (f *Follower) Selected() thread.ID { return f.selected }

// Shown is the thread whose terminal is attached, "" where none is.
func (f *Follower) Shown() thread.ID { return f.shown }

// Wish has a thread get the keys as soon as it is selected and runs; "" takes that back.
func (f *Follower) Wish(id thread.ID) { f.wish = id }

// Wished is the thread that is to get the keys.
func (f *Follower) Wished() thread.ID { return f.wish }

// Granted reports, once, that the thread which is to get the keys is selected and runs.
func (f *Follower) Granted(sel Selection) bool {
	if f.wish == "" || sel.ID != f.wish || sel.Run == "" {
		return false
	}
	f.wish = ""
	return true
}

// Forget says that what was painted is gone: the terminal is attached again.
func (f *Follower) Forget() { f.run = "" }

// Attach returns what the pane is to show, and whether it has to be told.
func (f *Follower) Attach(sel Selection) (id thread.ID, tell bool) {
	want, run := f.want(sel)
	tell = want != f.shown || run != f.run
	f.shown, f.run = want, run
	return want, tell
}

func (f *Follower) want(sel Selection) (thread.ID, thread.ExecutionID) {
	switch {
	case sel.ID != "" && !f.rests && f.shown != sel.ID:
		return f.shown, f.run // the selection still moves
	case sel.ID != "" && sel.Run != "":
		return sel.ID, sel.Run
	default:
		return "", ""
	}
}
