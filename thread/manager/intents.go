package manager

import (
	"context"
	"encoding/json"
	"fmt"

	"orchestrator/thread"
)

// intents stores which operations of several steps are in progress.
type intents struct{ cfg *Config }

// The kinds of intents that the Manager writes.
const (
	intentFork    = "fork"
	intentRewind  = "rewind"
	intentMerge   = "merge"
	intentFinish  = "finish"
	intentDelete  = "delete"
	intentDispose = "dispose" // of an execution's worktree
)

// begin stores that an operation of several steps begins.
func (n *intents) begin(ctx context.Context, kind string, id thread.ID, data any) (thread.Intent, error) {
	raw, err := json.Marshal(data)
	if err != nil {
		return thread.Intent{}, fmt.Errorf("store the intent: %w", err)
	}
	i := thread.Intent{ID: thread.NewID[string](), Kind: kind, Thread: id, Data: raw, Created: n.cfg.now()}
	if err := n.cfg.Store.PutIntent(ctx, i); err != nil {
		return thread.Intent{}, fmt.Errorf("store the intent: %w", err)
	}
	return i, nil
}

// settle deletes an intent: the operation was completed or rolled back.
func (n *intents) settle(ctx context.Context, i thread.Intent) error {
	if err := n.cfg.Store.DropIntent(ctx, i.ID); err != nil {
		return fmt.Errorf("delete the intent: %w", err)
	}
	return nil
}
