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
	// dropPause is how often the server looks for what agents hand over in files, and dropLook how often it looks which
	// running agents do.
	dropPause = 500 * time.Millisecond
	dropLook  = 3 * time.Second
	// dropShare bounds the share of time that looking may take, whatever an agent puts there.
	dropShare = 20
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
	taker := drop.Taker{Stage: a.staging.Stage}
	var looked time.Time
	var homes map[thread.ID]string
	for pause := dropPause; ; {
		select {
		case <-ctx.Done():
			return nil
		case <-a.stop:
			return nil
		case <-time.After(pause):
		}
		begun := time.Now()
		if begun.Sub(looked) > dropLook {
			homes, looked = a.dropHomes(), begun
		}
		for id, home := range homes {
			if _, err := taker.Take(ctx, home, id); err != nil && ctx.Err() == nil {
				a.Log.Warn("take what an agent stages", "thread", string(id), "error", err)
				delete(homes, id) // looked at again later
			}
		}
		pause = max(dropPause, dropShare*time.Since(begun))
	}
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
