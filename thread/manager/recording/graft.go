package recording

import (
	"orchestrator/thread"
)

// grafted describes how to store a spooled checkpoint whose parent the store has lost.
type grafted struct {
	keep int // items of its new base
	turn int // its turn there
	bare bool
}

// fits reports whether chunks continue from the marks.
func fits(marks []thread.Mark, chunks []thread.Chunk) bool {
	for _, c := range chunks {
		size := int64(0)
		for _, m := range marks {
			if m.File == c.File {
				size = m.Size
			}
		}
		if c.Offset > size {
			return false
		}
		marks = grown(marks, []thread.Chunk{c})
	}
	return true
}

// grown returns the marks after chunks; only their sizes, nothing is hashed.
func grown(marks []thread.Mark, chunks []thread.Chunk) []thread.Mark {
	out := append([]thread.Mark(nil), marks...)
next:
	for _, c := range chunks {
		end := c.Offset + int64(len(c.Data))
		for i := range out {
			if out[i].File == c.File {
				out[i].Size = end
				continue next
			}
		}
		out = append(out, thread.Mark{File: c.File, Size: end})
	}
	return out
}

// fit changes a delta as the graft requires.
func (g *grafted) fit(d thread.Delta) thread.Delta {
	if g == nil {
		return d
	}
	d.Keep = g.keep
	if g.bare {
		d.Transcript = nil
	}
	for i := range d.Prompts {
		if d.Prompts[i].Turn > 0 {
			d.Prompts[i].Turn = g.turn
		}
	}
	return d
}
