package worktree

import (
	"errors"
	"fmt"
	"io/fs"
	"time"

	"orchestrator/checkpoint/disk"
	"orchestrator/checkpoint/repository"
	"orchestrator/thread/private"
)

// trashFolder is inside the folder of our worktrees.
const trashFolder = ".trash"

// EmptyTrash deletes what Remove moved to the trash before a time, and returns how many bytes were freed.
func (k *Keeper) EmptyTrash(before time.Time) (int64, error) {
	freed, err := k.emptyTrash(before)
	if err != nil {
		return freed, fmt.Errorf("empty trash: %w", err)
	}
	return freed, nil
}

func (k *Keeper) emptyTrash(before time.Time) (freed int64, err error) {
	trees := resolved(k.Finder.trees)
	trash, err := private.Open(trees, trashFolder)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	defer trash.Close()
	entries, err := trash.List()
	if err != nil {
		return 0, err
	}
	for _, e := range entries {
		moved, ok := repository.TrashedAt(e.Name())
		if !ok || !moved.Before(before) {
			continue
		}
		freed += disk.SizeIn(trash.Path(), e.Name())
		if err := disk.RemoveIn(trash.Path(), e.Name()); err != nil {
			return freed, err
		}
	}
	return freed, nil
}
