package handoff

import (
	"fmt"
	"path/filepath"

	"orchestrator/thread"
)

// Input is the input of a primer.
type Input struct {
	Thread, Agent string // of the conversation
	Label         string // the purpose of the new thread
	Top           string // the folder that file names are relative to
	Dir           string // where the new agent runs
	Turn          int
	Whole         bool // the last turn was complete
	Before        bool // the files are those of the previous turn
	Turns         []Turn
	Files         []thread.FileDiff
	Open          []thread.Prompt     // unanswered
	Own           func(string) string // rewrites the paths in a text for the new thread
	Budget        int                 // tokens
	Tokens        func(string) int
	// Save stores a bulky text and says where it is.
	Save func(name, text string) (Saved, error)
}

// Saved is where a bulky text is.
type Saved struct {
	Path  string
	Token thread.Token // if it is staged too, otherwise ""
}

// where tells an agent how to get the text.
func (s Saved) where() string {
	if s.Token == "" {
		return "read " + s.Path
	}
	return fmt.Sprintf("read %s, or `orchestrator retrieve %s`, with --range 1-200 or --grep for a part", s.Path, s.Token)
}

// name is a file's name where the new agent runs, however it was written.
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
