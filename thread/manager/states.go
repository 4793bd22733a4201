package manager

import "orchestrator/thread"

// once is something of which a thread has at most one: a step that is queued, a wait, its setup.
type once uint8

const (
	free  once = iota // there is none
	taken             // one is scheduled or runs
)

// take reports whether there was none; then there is one, until release.
func (o *once) take() bool {
	if *o == taken {
		return false
	}
	*o = taken
	return true
}

func (o *once) release() { *o = free }

// ending is how a process comes to its end.
type ending uint8

const (
	unasked ending = iota // it runs, or ended by itself while it waited
	asked                 // we asked it to end
	amid                  // it ended by itself while it worked
)

// came notes that the process has ended, while it worked or not.
func (e *ending) came(working bool) {
	switch {
	case *e == asked:
	case working:
		*e = amid
	default:
		*e = unasked
	}
}

// lost reports whether a process ended in a way that leaves something to resume: it was stopped with the server, or
// nobody asked for its end and it was killed or in the middle of a turn. One that ends by itself otherwise has exited.
func (e ending) lost(exit thread.Exit, closing bool) bool {
	if e == asked {
		return closing
	}
	return exit.Code != 0 && (e == amid || exit.Limit || exit.Killed())
}

// course is the way of the requests of a thread's newest turn.
type course uint8

const (
	throughGateway course = iota
	aroundGateway         // the agent's own configuration sends them elsewhere
)
