package server

import (
	"context"
	"errors"
	"fmt"

	"orchestrator/thread"
)

// seals keeps the seals of masks in the rows of threads. It reads them from the list of threads, which is here also
// while the store is away.
type seals struct{ store *openStore }

// Seal implements masks.Seals.
func (s seals) Seal(id thread.ID) *thread.MaskSeal {
	if s.store.Listed != nil {
		if t, ok := s.store.Listed(id); ok {
			return t.Masks
		}
	}
	t, err := s.store.Thread(context.Background(), id)
	if err != nil {
		return nil
	}
	return t.Masks
}

// PutSeal implements masks.Seals.
func (s seals) PutSeal(id thread.ID, seal thread.MaskSeal) error {
	_, err := s.store.UpdateThread(context.Background(), id, func(t *thread.Thread) error {
		t.Masks = &seal
		return nil
	})
	if errors.Is(err, thread.ErrNotFound) {
		return nil // it was removed, or an import makes it later
	}
	return err
}

// unsealed returns which of the threads in use have lost masks, a line for each.
func unsealed(threads []thread.Status) (lines []string) {
	for _, t := range threads {
		if m := t.Masks; m != nil && m.Lost != "" && t.Deleted.IsZero() {
			lines = append(lines, fmt.Sprintf("%s: %s; `orchestrator context show %s`", t.Name, m.Lost, t.Name))
		}
	}
	return lines
}
