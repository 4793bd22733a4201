package snapshot

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"orchestrator/checkpoint/disk"
	"orchestrator/thread/private"
)

// EmptyTrash deletes what Remove moved aside before a time, and returns how many bytes were freed.
func (s *Store) EmptyTrash(before time.Time) (int64, error) {
	freed, err := s.emptyTrash(before)
	if err != nil {
		return freed, fmt.Errorf("empty trash: %w", err)
	}
	return freed, nil
}

func (s *Store) emptyTrash(before time.Time) (freed int64, err error) {
	trees := resolved(s.cfg.Worktrees)
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
		at, _, _ := strings.Cut(e.Name(), "-")
		moved, err := time.Parse(trashTime, at)
		if err != nil || !trashName().MatchString(e.Name()) || !moved.Before(before) {
			continue
		}
		freed += disk.SizeIn(trash.Path(), e.Name())
		if err := disk.RemoveIn(trash.Path(), e.Name()); err != nil {
			return freed, err
		}
	}
	return freed, nil
}
