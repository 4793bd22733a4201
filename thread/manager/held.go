package manager

import (
	"orchestrator/thread"
)

// held is the memory that an exchange takes until it is stored. A nil held counts nothing.
type held struct {
	keep    func(bytes int64) (release func())
	release func()
}

// hold counts an exchange.
func hold(e thread.Exchange) *held {
	if e.Keep == nil {
		return nil
	}
	return &held{keep: e.Keep, release: e.Keep(e.Bytes)}
}

// shrink counts fewer bytes from here on.
func (h *held) shrink(bytes int64) {
	if h == nil || h.release == nil {
		return
	}
	less := h.keep(bytes)
	h.release()
	h.release = less
}

// end stops counting.
func (h *held) end() {
	if h == nil || h.release == nil {
		return
	}
	h.release()
	h.release = nil
}
