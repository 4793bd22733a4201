package wave

import (
	"context"
	"fmt"
	"strings"

	"orchestrator/thread"
	"orchestrator/thread/plan"
)

// place puts what is too large for a prompt where the agent of a round can read it: by token, staged once for all that read
// it, and in a file of the round's own.
func (c Config) place(ctx context.Context, to thread.Part, h plan.HandOver) (plan.Placed, error) {
	text, end := h.Readable()
	var placed plan.Placed
	if c.Given != nil {
		path, err := c.Given(to, fmt.Sprintf("%s.v%d.%s", h.Agent, h.Version, end), []byte(text))
		if err != nil {
			return placed, err
		}
		placed.Path = path
	}
	if c.Staged == nil {
		return placed, nil
	}
	if h.Token != "" {
		if _, err := c.Staged.Find(string(h.Token), func(thread.Staged) bool { return false }); err == nil {
			placed.Token = h.Token
			return placed, nil
		}
	}
	s, err := c.stage(ctx, h, fmt.Sprintf("version %d", h.Version), int64(len(text)), strings.NewReader(text))
	if err != nil {
		return placed, err
	}
	placed.Token = s.Token
	return placed, c.Store.SetToken(ctx, h.Task, h.Agent, h.Version, s.Token)
}
