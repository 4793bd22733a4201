package pack

// span is a range of a version of something long (a conversation in items, a file in bytes) and its origin: old ones of
// the previous version, or new ones of the record.
type span struct {
	n   int64
	old bool
	at  int64 // first in the old version, or first in the record's own
}

// want asks for n from at in a version, to be placed at dst.
type want struct{ at, n, dst int64 }

// resolve maps wants on a version to wants on the previous version, and calls take for what the record itself has.
// Wants outside of the spans are returned as short.
func resolve(wants []want, spans []span, take func(own, n, dst int64)) (left []want, short bool) {
	starts := make([]int64, len(spans)+1)
	for i, s := range spans {
		starts[i+1] = starts[i] + s.n
	}
	for _, w := range wants {
		i, end := search(starts, w.at), w.at+w.n
		for w.n > 0 {
			if i >= len(spans) {
				return nil, true
			}
			in := w.at - starts[i]
			n := min(spans[i].n-in, end-w.at)
			if spans[i].old {
				left = append(left, want{spans[i].at + in, n, w.dst})
			} else if n > 0 {
				take(spans[i].at+in, n, w.dst)
			}
			w.at, w.dst, w.n = w.at+n, w.dst+n, w.n-n
			i++
		}
	}
	return merge(left), false
}

// search returns the span that contains at: the last start that is not above it.
func search(starts []int64, at int64) int {
	lo, hi := 0, len(starts)-1
	for lo < hi {
		mid := (lo + hi) / 2
		if starts[mid+1] > at {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return lo
}

// merge joins wants that follow each other on both sides, so that their number does not grow.
func merge(ws []want) []want {
	out := ws[:0]
	for _, w := range ws {
		if k := len(out) - 1; k >= 0 && out[k].at+out[k].n == w.at && out[k].dst+out[k].n == w.dst {
			out[k].n += w.n
			continue
		}
		out = append(out, w)
	}
	return out
}

func (r *record) itemSpans() []span {
	spans := []span{{n: int64(r.head.Keep), old: true}}
	own := int64(0) // index among the record's new items
	for _, e := range r.head.Items {
		if e.Count > 0 {
			spans = append(spans, span{n: int64(e.Count), old: true, at: int64(e.From)})
			continue
		}
		spans = append(spans, span{n: 1, at: own})
		own++
	}
	return spans
}

// newItems returns the wire and the bytes of the items that the record added.
func (r *record) newItems() (wires []string, raws [][]byte) {
	body := r.body
	for _, e := range r.head.Items {
		if e.Count > 0 {
			continue
		}
		wires = append(wires, e.Wire)
		raws = append(raws, body[:e.Len:e.Len])
		body = body[e.Len:]
	}
	return wires, raws
}

// fileSpans returns the spans of a file, with positions in the body for new bytes, and false if the record does not
// touch the file.
func (r *record) fileSpans(name string) ([]span, bool) {
	at := int64(0)
	for _, e := range r.head.Items {
		at += int64(e.Len)
	}
	for _, f := range r.head.Files {
		spans := []span{{n: f.At, old: true}}
		add := func(n int64) {
			spans = append(spans, span{n: n, at: at})
			at += n
		}
		add(f.Len)
		for i := 0; i < len(f.Runs); i += 3 {
			add(f.Runs[i])
			spans = append(spans, span{n: f.Runs[i+2], old: true, at: f.Runs[i+1]})
		}
		if f.Name == name {
			return spans, true
		}
	}
	return nil, false
}
