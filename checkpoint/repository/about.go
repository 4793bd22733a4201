package repository

import "orchestrator/thread"

// About is what a snapshot's commit records about its thread.
type About struct {
	Name    string    `json:"name,omitempty"`
	Agent   string    `json:"agent,omitempty"`
	Session string    `json:"session,omitempty"` // the agent's own
	Parent  thread.ID `json:"parent,omitempty"`
}
