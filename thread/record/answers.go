package record

import (
	"context"
	"errors"
	"slices"
	"strings"

	"orchestrator/thread"
	"orchestrator/thread/work"
)

// Answers answers questions about all that is recorded. It changes nothing. An agent is answered of its own executions:
// those that it asked for or recorded, and those of its thread.
type Answers struct{ c Config }

const (
	// usual and most are how many rows an answer has if no limit is named, and at most.
	usual = 20
	most  = 1000
	// mostWords is how many words are searched for.
	mostWords = 16
)

// limit returns how many rows are asked for.
func limit(n int) int {
	if n <= 0 {
		return usual
	}
	return min(n, most)
}

// words returns what is searched for, as a store compares it.
func words(text string) []string {
	list := strings.Fields(strings.ToLower(text))
	return list[:min(len(list), mostWords)]
}

// execution finds one that an author sees, by id or name. The error for an unknown name has those that are near it.
func (a *Answers) execution(ctx context.Context, by Author, ref string) (work.Execution, error) {
	x, err := a.c.Store.Execution(ctx, ref)
	switch {
	case err == nil && by.sees(x):
		return x, nil
	case err == nil, by.seen() != nil && errors.Is(err, thread.ErrNotFound):
		return work.Execution{}, unseen(ref)
	case !errors.Is(err, thread.ErrNotFound):
		return x, err
	}
	var names []string
	if list, err := a.c.Store.Recorded(ctx, work.RecordQuery{Limit: 100}); err == nil {
		for i := range list {
			names = append(names, list[i].Name)
		}
	}
	return work.Execution{}, work.Unknown(ref, names)
}

// oldestFirst returns executions, which a store lists newest first, in the order in which they were made.
func oldestFirst(list []work.Execution) []work.Execution {
	slices.Reverse(list)
	return list
}
