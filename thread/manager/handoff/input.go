package handoff

import (
	"path/filepath"

	"orchestrator/thread"
)

// Input is what a primer is written from.
type Input struct {
	Thread, Agent string // where the conversation comes from
	Label         string // what the new thread is for
	Top           string // what the files are named from
	Dir           string // where the new agent runs
	Turn          int
	Whole         bool // the last turn was finished
	Before        bool // the files are those of the turn before
	Turns         []Turn
	Files         []thread.FileDiff
	Open          []thread.Prompt     // that nobody answered
	Own           func(string) string // writes the paths in a text as the new thread's own
	Budget        int                 // tokens
	Tokens        func(string) int
	// Save keeps a bulky text and returns the path to read it from.
	Save func(name, text string) (path string, err error)
}

// name is what a file is called where the new agent runs, however it was written.
func (in Input) name(path string) string {
	if !filepath.IsAbs(path) {
		path = filepath.Join(in.Dir, path)
	}
	path = filepath.Clean(path)
	if rel, err := filepath.Rel(in.Dir, path); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return path
}
