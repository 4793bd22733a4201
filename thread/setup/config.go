package setup

import (
	"context"
	"path/filepath"
	"sync"
	"time"

	"orchestrator/thread/frozen"
)

// Ignored lists the files of a worktree that match patterns in .gitignore syntax and that its repository ignores.
type Ignored func(ctx context.Context, dir string, patterns []string) ([]string, error)

// Config configures Setup.
type Config struct {
	// Project is the folder that ignored files are copied from.
	Project string
	// Own are folders of ours: nothing in them is copied.
	Own []string
	// Logs is a folder for the commands' output.
	Logs string
	// Commands are the project's; the files that they name still have to be accepted.
	Commands Commands
	// Limit is how long a command may run.
	Limit time.Duration
	// Checks are the project's, likewise, and CheckLimit is how long each may run.
	Checks     Checks
	CheckLimit time.Duration
	// Accepted reports whether the person accepted exactly this content of a place.
	Accepted func(place string, content []byte) bool
	Ignored  Ignored
	// Local returns the patterns of an agent's own local files; nil for none.
	Local func(agent string) []string
	// Env is the commands' environment.
	Env []string
}

// Setup prepares worktrees.
type Setup struct {
	cfg    Config
	copies func() (*frozen.Store, error) // of accepted files, beside the logs
	// checking is held by who runs checks: one at a time.
	checking chan struct{}
}

// New returns a Setup.
func New(cfg Config) *Setup {
	return &Setup{cfg: cfg, checking: make(chan struct{}, 1), copies: sync.OnceValues(func() (*frozen.Store, error) {
		return frozen.Open(filepath.Dir(cfg.Logs), filepath.Base(cfg.Logs), "accepted")
	})}
}
