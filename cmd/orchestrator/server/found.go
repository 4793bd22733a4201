package server

import (
	"slices"
	"sync"

	"orchestrator/thread"
)

// maxFound is how many warnings from its start a server keeps.
const maxFound = 200

// startWarnings are the warnings from a server's start: what it found damaged, and what it could or could not repair.
// No client is connected yet when they are issued, so they are kept for the first call of Info.
type startWarnings struct {
	mu   sync.Mutex // guards all below
	list []string
	over bool
}

// add keeps a notice of the start.
func (w *startWarnings) add(level thread.Level, text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.over || level == thread.LevelInfo || len(w.list) >= maxFound || slices.Contains(w.list, text) {
		return
	}
	w.list = append(w.list, text)
}

// end ends the collection: clients get later notices as events.
func (w *startWarnings) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.over = true
}

func (w *startWarnings) all() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.list)
}
