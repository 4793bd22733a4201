package record

import (
	"context"
	"path"
	"strings"
	"time"

	"orchestrator/thread/work"
)

// HistoryRequest asks which executions, of all kinds, have some words in their name, type, scope, prompt, answer or the
// paths of what came of them, or touched a file. Without either it asks for the newest.
type HistoryRequest struct {
	Words   string    `json:"words,omitempty"`
	Path    string    `json:"path,omitempty"` // relative to the project
	Session string    `json:"session_id,omitempty"`
	Task    string    `json:"task,omitempty"`
	Type    string    `json:"agent_type,omitempty"`
	Agent   string    `json:"agent,omitempty"`
	Bundle  string    `json:"bundle_id,omitempty"`
	Since   time.Time `json:"since,omitzero"`
	Until   time.Time `json:"until,omitzero"`
	Limit   int       `json:"limit,omitempty"`
}

// History returns executions with what came of them, newest first.
func (a *Answers) History(ctx context.Context, by Author, q HistoryRequest) ([]Worked, error) {
	file := slashed(q.Path)
	list, err := a.c.Store.Recorded(ctx, work.RecordQuery{
		Words: words(q.Words), Path: file, Session: q.Session, Task: q.Task, Type: q.Type, Agent: q.Agent, Bundle: q.Bundle,
		Since: q.Since, Until: q.Until, Seen: by.seen(), Limit: limit(q.Limit),
	})
	if err != nil {
		return nil, err
	}
	return a.worked(ctx, list, file)
}

// slashed returns a path as outputs have it.
func slashed(file string) string {
	if file == "" {
		return ""
	}
	return path.Clean(strings.ReplaceAll(file, "\\", "/"))
}
