package masking

import (
	"fmt"
	"strings"

	"orchestrator/contextmgr/masks"
	"orchestrator/contextmgr/summary"
	"orchestrator/thread"
)

// dropSummary has all be sent again that a summary stands for.
func (c *conversation) dropSummary(id string) error {
	sum, err := c.summary(id)
	if err != nil {
		return err
	}
	sum.Dropped = true
	return c.masks.SetSummary(sum)
}

// editSummary changes the text of a summary.
func (c *conversation) editSummary(id, text string, tokens func(int) int64) error {
	sum, err := c.summary(id)
	if err != nil {
		return err
	}
	if strings.TrimSpace(text) == "" {
		return thread.Hint(fmt.Errorf("a summary without a text: %w", thread.ErrInvalid), "drop it to have all sent again")
	}
	sum.Source = "a person"
	whole, _ := c.masks.Mask(wholeOf(sum.ID))
	sum.Text = summary.Text(summary.Note{Source: sum.Source, Replaced: sum.Replaced, File: whole.File, Text: text})
	sum.Tokens = tokens(len(sum.Text))
	return c.masks.SetSummary(sum)
}

// summary returns a summary by the beginning of its id.
func (c *conversation) summary(id string) (masks.Summary, error) {
	var found []masks.Summary
	for _, sum := range c.masks.Summaries() {
		if id != "" && strings.HasPrefix(sum.ID, id) {
			found = append(found, sum)
		}
	}
	switch len(found) {
	case 0:
		return masks.Summary{}, thread.Hint(fmt.Errorf("summary %.20q: %w", id, thread.ErrNotFound),
			"`orchestrator context summary` lists them")
	case 1:
		return found[0], nil
	default:
		return masks.Summary{}, fmt.Errorf("%.20q is the beginning of %d ids: write more of it: %w", id, len(found),
			thread.ErrInvalid)
	}
}

// summaries returns them for people, oldest first.
func (c *conversation) summaries() []thread.ContextSummary {
	var out []thread.ContextSummary
	for _, s := range c.masks.Summaries() {
		whole, _ := c.masks.Mask(wholeOf(s.ID))
		out = append(out, thread.ContextSummary{
			ID: s.ID, Items: s.Items, Tokens: s.Tokens, Replaced: s.Replaced, Text: summary.Own(s.Text), File: whole.File,
			Source: s.Source, At: s.At, Dropped: s.Dropped, Stands: s.Text == c.stood,
		})
	}
	return out
}
