package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"orchestrator/agent/session"
	"orchestrator/contextmgr/staging/drop"
	"orchestrator/thread"
)

const (
	// dropWait is how long a sandboxed agent's verb waits for the server.
	dropWait = 30 * time.Second
	// dropPause is how often the server looks for what an agent hands over in files, and dropLook how often it looks which
	// running agents do. However dear an agent makes a look, the next one comes after dropLongest.
	dropPause   = 500 * time.Millisecond
	dropLook    = 3 * time.Second
	dropLongest = 10 * time.Second
)

// threadHome returns the folder of a thread's state.
func threadHome(state string, id thread.ID) string {
	return filepath.Join(state, "threads", string(id))
}

// stageByFile stages standard input through the folder of the agent's own thread, for a sandbox that forbids
// connections to the server. The error is refused if there is no such folder or the sandbox does not let it be written
// to.
func (c *cli) stageByFile(ctx context.Context, r thread.StageRequest, refused error) (thread.Staged, error) {
	id := session.Thread(c.environ)
	if id == "" {
		return thread.Staged{}, refused
	}
	ctx, cancel := context.WithTimeoutCause(ctx, dropWait, fmt.Errorf("waited %s", dropWait))
	defer cancel()
	d, err := drop.Put(ctx, threadHome(c.project.StateDir(), id), r, c.stdin)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, drop.ErrClosed) {
		return d, refused
	}
	if err != nil {
		return d, fmt.Errorf("stage: %w", err)
	}
	return d, nil
}

// takeDropped takes what sandboxed agents hand over in files, for as long as the context lives.
func (a *App) takeDropped(ctx context.Context) error {
	taker := drop.Taker{Stage: a.staging.Stage, Failed: func(id thread.ID, err error) {
		a.Log.Warn("take what an agent stages", "thread", string(id), "error", err)
	}}
	taker.Serve(ctx, drop.Pace{Threads: dropLook, Folder: dropPause, Longest: dropLongest}, a.dropHomes)
	return nil
}

// dropHomes returns the folders of the running threads whose agents hand data over in files.
func (a *App) dropHomes() map[thread.ID]string {
	homes := map[thread.ID]string{}
	for _, id := range a.manager.Running() {
		home := threadHome(a.Project.StateDir(), id)
		if _, err := os.Lstat(filepath.Join(home, thread.DropFolder)); err == nil {
			homes[id] = home
		}
	}
	return homes
}
