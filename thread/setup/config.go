package setup

import (
	"context"
	"time"
)

// Ignored lists files of a worktree that match patterns of the form of .gitignore and that its repository ignores.
type Ignored func(ctx context.Context, dir string, patterns []string) ([]string, error)

// Config says what a project wants and how far it may go.
type Config struct {
	// Project is the folder that ignored files are copied from.
	Project string
	// Own are folders of ours: nothing in them is copied.
	Own []string
	// Logs is a folder for the commands' output.
	Logs string
	// Commands are the project's, with the files that they name still to be accepted.
	Commands Commands
	// Limit is how long a command may run.
	Limit time.Duration
	// Accepted reports whether the person accepted exactly this content of a place.
	Accepted func(place string, content []byte) bool
	Ignored  Ignored
	// Local are patterns of an agent's own local files; nil for none.
	Local func(agent string) []string
	// Env is the commands' environment.
	Env []string
}

// Commands are a project's, "" for none, as a shell reads them.
type Commands struct{ Setup, Teardown string }

// Setup makes worktrees ready.
type Setup struct{ cfg Config }

// New makes a Setup.
func New(cfg Config) *Setup { return &Setup{cfg: cfg} }
