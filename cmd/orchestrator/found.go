package main

import (
	"fmt"
	"io"
	"slices"
	"sync"

	"orchestrator/thread"
)

const (
	// maxFound is how many findings of its start a server keeps.
	maxFound = 200
	// shownFound is how many of them the verb that started it prints.
	shownFound = 10
)

// heard is what a server found damaged at its start, what it set right of it and what it could not. Nobody listens
// yet when they are told: they are kept for whoever asks who serves.
type heard struct {
	mu   sync.Mutex // guards all below
	list []string
	over bool
}

// hear takes a notice of the start.
func (f *heard) hear(level thread.Level, text string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.over || level == thread.LevelInfo || len(f.list) >= maxFound || slices.Contains(f.list, text) {
		return
	}
	f.list = append(f.list, text)
}

// end says that the start is over: what follows is heard as events.
func (f *heard) end() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.over = true
}

func (f *heard) all() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.list)
}

// tellFound prints what the server found at the start that this call has caused.
func tellFound(w io.Writer, found []string) {
	for _, text := range found[:min(shownFound, len(found))] {
		fmt.Fprintln(w, "orchestrator:", text)
	}
	if more := len(found) - shownFound; more > 0 {
		fmt.Fprintf(w, "orchestrator: and %d more: `orchestrator doctor` lists them\n", more)
	}
}
