package server

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"orchestrator/contextmgr/staging/drop"
	"orchestrator/thread"
)

const (
	// dropPause is how often the server looks for what an agent hands over in files, and dropLook how often it looks which
	// running agents do. However dear an agent makes a look, the next one comes after dropLongest.
	dropPause   = 500 * time.Millisecond
	dropLook    = 3 * time.Second
	dropLongest = 10 * time.Second
)

// takeDropped takes what sandboxed agents hand over in files, for as long as the context lives.
func (a *Server) takeDropped(ctx context.Context) error {
	taker := drop.Taker{Stage: a.staging.Stage, Failed: func(id thread.ID, err error) {
		a.Log.Warn("take what an agent stages", "thread", string(id), "error", err)
	}}
	taker.Serve(ctx, drop.Pace{Threads: dropLook, Folder: dropPause, Longest: dropLongest}, a.dropHomes)
	return nil
}

// dropHomes returns the folders of the running threads whose agents hand data over in files.
func (a *Server) dropHomes() map[thread.ID]string {
	homes := map[thread.ID]string{}
	for _, id := range a.manager.Threads.Running() {
		home := a.Project.ThreadHome(id)
		if _, err := os.Lstat(filepath.Join(home, thread.DropFolder)); err == nil {
			homes[id] = home
		}
	}
	return homes
}
