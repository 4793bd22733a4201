package masking

import (
	"slices"

	"orchestrator/contextmgr/policy"
	"orchestrator/contextmgr/wire"
)

// splice returns the body with all masks, nil if there are none.
func (r *request) splice(m measurement) []byte {
	c := r.conversation
	var with []wire.Replacement
	for i, content := range r.scan.Contents {
		if !m.results[i].Masked || m.standing.has(content.Item) {
			continue
		}
		id := m.results[i].ID
		stub, ok := c.stubs[id]
		if !ok {
			mask, _ := c.masks.Mask(id)
			stub = r.scanner.Replace(content.Of(r.outgoing.Call.Body), content.Form, mask.Stub)
			if c.stubs == nil {
				c.stubs = map[policy.ID][]byte{}
			}
			c.stubs[id] = stub
		}
		if stub != nil {
			with = append(with, wire.Replacement{Span: content.Span, With: stub})
		}
	}
	if s := m.standing; s.to > s.from {
		with = append(with, wire.Replacement{Span: s.Span, With: r.scanner.PersonItem(s.sum.Text)})
		slices.SortFunc(with, func(a, b wire.Replacement) int { return a.Start - b.Start })
	}
	if len(with) == 0 {
		return nil
	}
	return wire.Splice(r.outgoing.Call.Body, with)
}
