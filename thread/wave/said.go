package wave

import (
	"context"
	"fmt"

	"orchestrator/thread/work"
)

// Said returns the final message of an execution, as far as it is recorded.
func Said(ctx context.Context, record work.Record, x work.Execution) (string, error) {
	if x.Said == 0 {
		return x.Answer, nil
	}
	events, err := record.Events(ctx, x.ID, x.Said-1, 1)
	if err != nil {
		return "", fmt.Errorf("read what %s said: %w", x.Name, err)
	}
	if len(events) == 0 || events[0].Kind != work.KindSaid {
		return x.Answer, nil
	}
	return events[0].Text, nil
}
