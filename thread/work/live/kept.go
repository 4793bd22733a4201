package live

import "orchestrator/thread"

const (
	// mostPieces and mostBytes bound what waits for one follower.
	mostPieces = 1000
	mostBytes  = 1 << 20
	// mostKept bounds what is kept of an attempt for those who come later, and oneKept the pieces of text in it, which are
	// joined.
	mostKept = 128 << 10
	oneKept  = 8 << 10
)

// kept is what an attempt has reported so far, for those who begin to follow it: the newest part, if that is much.
type kept struct {
	attempt int
	pieces  []thread.RunPiece
	bytes   int
	missed  int // older ones that are not kept
}

// add keeps a piece. Pieces of one text are joined.
func (k *kept) add(p thread.RunPiece) {
	if n := len(k.pieces); n > 0 && joins(k.pieces[n-1], p) {
		e := *k.pieces[n-1].Event
		e.Text += p.Event.Text
		k.pieces[n-1].Event = &e
		k.bytes += len(p.Event.Text)
	} else {
		k.pieces = append(k.pieces, p)
		k.bytes += size(p)
	}
	for len(k.pieces) > 1 && (k.bytes > mostKept || len(k.pieces) > mostPieces/2) {
		k.bytes -= size(k.pieces[0])
		k.missed += 1 + k.pieces[0].Missed
		k.pieces[0] = thread.RunPiece{}
		k.pieces = k.pieces[1:]
	}
}

// size returns how many bytes of text a piece has.
func size(p thread.RunPiece) int {
	if p.Event == nil {
		return len(p.Reason)
	}
	return len(p.Event.Text) + len(p.Event.Reason)
}

// joins reports whether a piece continues the text of the one before.
func joins(a, b thread.RunPiece) bool {
	if a.Event == nil || b.Event == nil || b.State != "" || b.Missed > 0 || a.Event.Kind != b.Event.Kind || a.Event.Sub != b.Event.Sub {
		return false
	}
	return (b.Event.Kind == thread.RunText || b.Event.Kind == thread.RunThinking) && len(a.Event.Text)+len(b.Event.Text) <= oneKept
}
