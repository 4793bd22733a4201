package masking

import (
	"fmt"
	"slices"
	"strings"

	"orchestrator/contextmgr/policy"
	"orchestrator/thread"
)

// Change applies what a person wants masked or not, from the thread's next request on.
func (m *Masker) Change(id thread.ID, change thread.ContextChange) error {
	c, err := m.conversation(id, false)
	if err != nil {
		return err
	}
	c.Lock()
	defer c.Unlock()
	if change.Mode != nil {
		if err := checkMode(*change.Mode); err != nil {
			return err
		}
		if err := c.masks.SetMode(string(*change.Mode)); err != nil {
			return fmt.Errorf("set the mode: %w", err)
		}
	}
	if change.DropSummary != "" {
		if err := c.summaries.Drop(change.DropSummary); err != nil {
			return fmt.Errorf("drop a summary: %w", err)
		}
	}
	if edit := change.EditSummary; edit != nil {
		if err := c.summaries.Edit(edit.ID, edit.Text, m.cfg.Counts.Estimate); err != nil {
			return fmt.Errorf("edit a summary: %w", err)
		}
	}
	mode, why := c.mode()
	if len(change.Mask) > 0 && mode != thread.MaskSafe && mode != thread.MaskLean {
		return thread.Hint(thread.Kindf(thread.ErrRefused, "nothing is masked in mode %s (%s)", mode, why),
			"set the mode safe or lean first")
	}
	for _, step := range []struct {
		names  []string
		pinned bool // "all" includes what is pinned
		apply  func(policy.ID) error
	}{
		{change.Unmask, true, c.masks.Pin}, {change.Pin, true, c.masks.Pin}, {change.Unpin, true, c.masks.Unpin},
		{change.Mask, false, c.want},
	} {
		ids, err := c.named(step.names, step.pinned)
		if err != nil {
			return err
		}
		for _, id := range ids {
			if err := step.apply(id); err != nil {
				return err
			}
		}
	}
	return nil
}

func checkMode(mode thread.MaskMode) error {
	known := []thread.MaskMode{thread.MaskDefault, thread.MaskSafe, thread.MaskLean, thread.MaskObserve, thread.MaskOff}
	if slices.Contains(known, mode) {
		return nil
	}
	return thread.Hint(thread.Kindf(thread.ErrInvalid, "%q is not a mode of masking", mode),
		"use safe, lean, observe, off or default")
}

// want has a content masked with the next request, whatever it costs.
func (c *conversation) want(id policy.ID) error {
	if c.masks.Pinned(id) {
		if err := c.masks.Unpin(id); err != nil {
			return err
		}
	}
	if _, masked := c.masks.Mask(id); masked {
		return nil // it is again
	}
	c.wanted[id] = true
	return nil
}

// all is what people write for all contents that can be masked.
const all = "all"

// named returns the contents that people name: by the beginning of an id, or by the token of what is masked.
func (c *conversation) named(names []string, pinned bool) ([]policy.ID, error) {
	var out []policy.ID
	for _, name := range names {
		var found []policy.ID
		for _, e := range c.latest.picture.Entries {
			id := e.Result.ID
			mask, masked := c.masks.Mask(id)
			switch {
			case name == all:
				if shown := c.shown(e); shown.Kept == "" || shown.Pinned && pinned {
					found = append(found, id)
				}
			case name != "" && strings.HasPrefix(string(id), name), masked && string(mask.Token) == name:
				found = append(found, id)
			}
		}
		switch {
		case len(found) == 0 && name != all:
			return nil, thread.Hint(fmt.Errorf("no result of a tool is called %q: %w", name, thread.ErrNotFound),
				"`orchestrator context show` lists them")
		case len(found) > 1 && name != all:
			return nil, thread.Kindf(thread.ErrInvalid, "%q is the beginning of %d ids: write more of it", name, len(found))
		}
		out = append(out, found...)
	}
	return out, nil
}
