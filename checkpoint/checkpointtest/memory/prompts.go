package memory

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"orchestrator/checkpoint"
	"orchestrator/thread"
)

// PutPrompt stores a prompt or replaces it.
func (s *Store) PutPrompt(_ context.Context, p thread.Prompt) (thread.Prompt, error) {
	if err := checkpoint.CheckPrompt(p); err != nil {
		return thread.Prompt{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.putPrompt(p)
}

// putPrompt stores a prompt. The caller holds mu.
func (s *Store) putPrompt(p thread.Prompt) (thread.Prompt, error) {
	p = checkpoint.NormalPrompt(p)
	if old, there := s.prompts[p.ID]; there {
		if err := checkpoint.CheckPromptOf(p, old.Thread); err != nil {
			return thread.Prompt{}, err
		}
		p.Seq = old.Seq
	} else {
		if s.threads[p.Thread] == nil {
			return thread.Prompt{}, fmt.Errorf("thread %s: %w", p.Thread, thread.ErrNotFound)
		}
		s.order++
		p.Seq = s.order
	}
	s.prompts[p.ID] = p
	return p, nil
}

// Prompt returns one prompt.
func (s *Store) Prompt(_ context.Context, id thread.PromptID) (thread.Prompt, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, there := s.prompts[id]
	if !there {
		return thread.Prompt{}, fmt.Errorf("prompt %s: %w", id, thread.ErrNotFound)
	}
	return p, nil
}

// Prompts returns the newest prompts, oldest first.
func (s *Store) Prompts(_ context.Context, id thread.ID, open bool, limit int) ([]thread.Prompt, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := []thread.Prompt{}
	for _, p := range s.prompts {
		if (id == "" || p.Thread == id) && !(open && p.State.Over()) {
			out = append(out, p)
		}
	}
	slices.SortFunc(out, func(a, b thread.Prompt) int { return cmp.Compare(a.Seq, b.Seq) })
	return out[max(0, len(out)-checkpoint.Limit(thread.Page{Limit: limit})):], nil
}
