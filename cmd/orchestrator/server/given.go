package server

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/attachment"
	"orchestrator/thread/plan"
)

// givenFolder has what rounds of plans' agents were given that was too large for their prompts: a folder for each task, with
// one for each round.
const givenFolder = "given"

// givenPause is how often it is looked whether some of it can go.
const givenPause = time.Hour

// given is the folder of files that the agent of a round may read, and those of no other.
func (a *Server) given(part thread.Part) attachment.Folder {
	if part.Task == "" {
		return attachment.Folder{}
	}
	return attachment.At(filepath.Join(a.Project.StateDir(), givenFolder, part.Task, fmt.Sprintf("%s.%d", part.Agent, part.Round)))
}

// dropGiven removes what tasks were given that there are no more.
func dropGiven(ctx context.Context, state string, store plan.Store) error {
	root, err := os.OpenRoot(filepath.Join(state, givenFolder))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer root.Close()
	list, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return err
	}
	for _, e := range list {
		switch _, err := store.Task(ctx, e.Name()); {
		case err == nil:
		case !errors.Is(err, thread.ErrNotFound):
			return err
		default:
			if err := root.RemoveAll(e.Name()); err != nil {
				return err
			}
		}
	}
	return nil
}
