// Package author writes summaries of conversations: by the conversation's own model, or by a program of the person's.
//
// What it returns is what was written, not yet checked: package summary says whether it may be used.
package author

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"orchestrator/contextmgr/gateway"
	"orchestrator/contextmgr/summary"
	"orchestrator/contextmgr/wire"
	"orchestrator/thread"
)

const (
	timeLimit  = 2 * time.Minute
	mostAnswer = 2 << 20  // bytes, with everything that a stream says besides the text
	mostText   = 64 << 10 // bytes
)

// Asker sends requests on behalf of threads.
type Asker interface {
	Ask(ctx context.Context, id thread.ID, q gateway.Question) (thread.Exchange, error)
}

// Model has summaries written by the models of the conversations.
type Model struct{ Asker Asker }

// Write writes a summary.
func (m Model) Write(ctx context.Context, d summary.Draft) (summary.Written, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, timeLimit, fmt.Errorf("it took more than %s", timeLimit))
	defer cancel()
	e, err := m.Asker.Ask(ctx, d.Thread, gateway.Question{
		Body: d.Request(d.Prompt()), Purpose: wire.PurposeSummary, Limit: mostAnswer,
	})
	w := summary.Written{Text: strings.TrimSpace(e.Text), Source: cmp.Or(e.Model, d.Model), CostUSD: e.Usage.CostUSD}
	switch {
	case err != nil:
		return w, fmt.Errorf("write a summary: %w", err)
	case e.Status >= 300:
		return w, fmt.Errorf("write a summary: the provider answers with status %d", e.Status)
	case e.Interrupted:
		return w, errors.New("write a summary: the answer was cut off")
	case len(e.Tools) > 0:
		return w, fmt.Errorf("write a summary: the model calls %s instead", e.Tools[0])
	case len(w.Text) > mostText:
		return w, fmt.Errorf("write a summary: it has %s, more than %s", thread.Bytes(int64(len(w.Text))), thread.Bytes(mostText))
	}
	return w, nil
}
