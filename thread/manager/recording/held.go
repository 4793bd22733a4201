package recording

import (
	"orchestrator/thread"
)

// Held is the memory that an exchange takes until it is stored. A nil Held counts nothing.
type Held struct {
	keep    func(bytes int64) (release func())
	release func()
}

// Hold counts an exchange.
func Hold(e thread.Exchange) *Held {
	if e.Keep == nil {
		return nil
	}
	return &Held{keep: e.Keep, release: e.Keep(e.Bytes)}
}

// shrink counts fewer bytes from here on.
func (h *Held) shrink(bytes int64) {
	if h == nil || h.release == nil {
		return
	}
	less := h.keep(bytes)
	h.release()
	h.release = less
}

// End stops counting.
func (h *Held) End() {
	if h == nil || h.release == nil {
		return
	}
	h.release()
	h.release = nil
}
