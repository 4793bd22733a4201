package branch

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"orchestrator/checkpoint/git"
	"orchestrator/thread"
)

// Config configures a Merger.
type Config struct {
	// State is a folder of ours that neither repositories nor agents can write: the configuration for git is there while
	// it runs.
	State string
	// Accepted reports whether the person accepted exactly this content of a place; nil accepts nothing.
	Accepted func(place string, content []byte) bool
	// Env is added to the process's environment for git.
	Env []string
}

// Merger works on the branches of one project's worktrees. It keeps no state and is safe for concurrent use on
// different worktrees.
type Merger struct {
	git      *git.Git
	temp     string // the temporary folder
	state    string
	accepted func(place string, content []byte) bool
}

var _ thread.Merges = (*Merger)(nil)

// Programs names the person's programs that git waits for now: signers, helpers, filters.
func (m *Merger) Programs() []string { return m.git.Programs() }

// New returns a Merger. It removes what processes that were killed during a merge left in the temporary folder and in
// ours.
func New(cfg Config) (*Merger, error) {
	g, err := git.New(cfg.Env...)
	if err != nil {
		return nil, fmt.Errorf("open branches: %w", err)
	}
	m := &Merger{git: g, temp: os.TempDir(), accepted: cfg.Accepted}
	for _, kv := range cfg.Env {
		if dir, ok := strings.CutPrefix(kv, "TMPDIR="); ok && dir != "" {
			m.temp = dir
		}
	}
	if m.state, err = filepath.Abs(cfg.State); err != nil {
		return nil, fmt.Errorf("open branches: %w", err)
	}
	if err := os.MkdirAll(m.state, 0o700); err != nil {
		return nil, fmt.Errorf("open branches: %w", err)
	}
	sweep(m.temp)
	sweep(m.state)
	return m, nil
}
