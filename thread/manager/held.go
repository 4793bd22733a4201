package manager

import (
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
