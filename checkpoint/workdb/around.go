package workdb

import "math"

// span is a part of a table: the rows whose ids lie between two others.
type span struct{ after, before int64 }

const (
	// longest is how far a row id is looked for behind what is damaged.
	longest = 1 << 40
	// mostProbes is how many ids are looked at one by one in a damaged part of a table behind which there are rows, lastProbes
	// where there are none: then it may be all of it.
	mostProbes = 20_000
	lastProbes = 500
)

// around reads a table whose pages are damaged in places: all rows before, between and behind them. rows reads a span in the
// order of its ids until it ends or something is damaged, and returns the id of the last row, how many there were, and the
// damage. gone is how many row ids lie in what could not be read: at least as many as there were rows, but for those behind
// the last that was read. An error of rows that is no damage ends it.
func around(rows func(span) (last int64, n int, damage, err error)) (gone int64, err error) {
	read := func(r span) (last int64, n int, damage, err error) {
		if last, n, damage, err = rows(r); n > 0 { // a damaged id may lie outside of the span: nothing is read again for ever
			last = min(max(last, r.after), r.before)
		}
		return last, n, damage, err
	}
	last, _, damage, err := read(span{-1, math.MaxInt64})
	for damage != nil && err == nil {
		next, n, at := int64(0), 0, int64(0)
		var behind error
		for step := int64(1); step < longest; step *= 2 { // what lies behind the damage
			at = last + step
			if next, n, behind, err = read(span{at, math.MaxInt64}); err != nil {
				return gone, err
			}
			if n > 0 || behind == nil {
				break
			}
		}
		end := min(at, last+mostProbes)
		if n == 0 && behind != nil {
			end = min(at, last+lastProbes)
		}
		lost, before, err := between(last, end, at, read)
		if err != nil {
			return gone, err
		}
		if n == 0 && behind != nil { // nobody knows how many there were
			return gone + before, nil
		}
		gone += lost
		last, damage = next, behind
	}
	return gone, err
}

// between reads what can be read from behind a row, which damage follows, up to an id that the step went to: the step may have
// gone over more than that. It looks at each id up to end. lost is how many it could not read, before that up to the last row
// that it read.
func between(last, end, to int64, read func(span) (last int64, n int, damage, err error)) (lost, before int64, err error) {
	for id := last + 1; id <= end; id++ {
		read, n, damage, err := read(span{id, to + 1})
		lost++
		switch {
		case err != nil:
			return lost, before, err
		case n > 0:
			id, before = read, lost
		}
		if damage == nil {
			return lost, before, nil
		}
	}
	return lost + max(0, to-end), before, nil
}
