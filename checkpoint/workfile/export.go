package workfile

import (
	"bufio"
	"context"
	"fmt"
	"io"
)

// Write writes the record.
func (e Export) Write(ctx context.Context, to io.Writer) (Written, error) {
	w := &writer{
		Export: e, to: bufio.NewWriter(to), bundles: map[string]bool{}, sessions: map[string]bool{}, pieces: map[string]bool{},
	}
	_, err := w.to.WriteString(head + "\n")
	for _, part := range []func(context.Context) error{w.executions, w.allBundles, w.allSessions, w.allTasks, w.allHanded, w.allArmed} {
		if err == nil {
			err = part(ctx)
		}
	}
	if err == nil {
		err = w.to.Flush()
	}
	if err != nil {
		return w.done, fmt.Errorf("record of work: %w", err)
	}
	w.note()
	return w.done, nil
}
