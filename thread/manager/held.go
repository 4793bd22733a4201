package manager

import (
	"slices"

	"orchestrator/thread"
)

// held is the memory that an exchange takes until it is stored. The nil held takes none that is counted.
type held struct {
	keep    func(bytes int64) (release func())
	release func()
}

// hold counts an exchange as held.
func hold(e thread.Exchange) *held {
	if e.Keep == nil {
		return nil
	}
	return &held{keep: e.Keep, release: e.Keep(e.Bytes)}
}

// shrink counts less from here on.
func (h *held) shrink(bytes int64) {
	if h == nil || h.release == nil {
		return
	}
	less := h.keep(bytes)
	h.release()
	h.release = less
}

// end counts nothing any more.
func (h *held) end() {
	if h == nil || h.release == nil {
		return
	}
	h.release()
	h.release = nil
}

// shrink leaves of a checkpoint that waits for the store only what is to be stored: its items are pieces of a
// whole request. What is spooled takes nothing.
func (p *put) shrink() {
	if p.spooled {
		p.held.end()
	}
	if p.small || p.held == nil || p.held.release == nil {
		return
	}
	p.small = true
	size := int64(1 << 10)
	p.delta.Items = slices.Clone(p.delta.Items)
	for i, it := range p.delta.Items {
		p.delta.Items[i].Raw = slices.Clone(it.Raw)
		size += int64(len(it.Raw))
	}
	p.held.shrink(size)
}
