package workrow

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"orchestrator/thread/failpoint"
	"orchestrator/thread/work"
)

var _ work.Keeper = (*Store)(nil)

// mostNumber is the largest number of a name that others then go on from.
const mostNumber = 1_000_000

// Load stores what was taken from another store as it was.
func (s *Store) Load(ctx context.Context, all []work.Whole) (taken []int, err error) {
	need := int64(0)
	for _, w := range all {
		if err := w.Check(); err != nil {
			return nil, err
		}
		need += 2*rowSize + size(w.Events)
		for _, content := range w.Pieces {
			need += int64(len(content))
		}
	}
	err = s.db.Write(ctx, need, func(tx Tx) error {
		taken = nil
		l := loading{d: s.d, tx: tx, lines: map[string][]byte{}}
		for i, w := range all {
			free, err := l.whole(w)
			if err != nil {
				return err
			}
			if !free {
				taken = append(taken, i)
			}
			failpoint.Hit("work.load.row")
		}
		return l.end()
	})
	if err != nil {
		return nil, err
	}
	return taken, nil
}

// loading is a transaction that takes rows over from another store.
type loading struct {
	d     Dialect
	tx    Tx
	lines map[string][]byte // of versions, that have got outputs
}

// end makes the newest version of each file the current one.
func (l *loading) end() error {
	for _, line := range l.lines {
		w := of("", l.d.all())
		w.and("line = ?", line)
		newest := "SELECT n FROM work_output WHERE " + w.String() + " ORDER BY version DESC, n DESC LIMIT 1"
		if _, err := l.tx.Exec("UPDATE work_output SET current = CASE WHEN n = ("+newest+") THEN 1 ELSE 0 END WHERE "+w.String(),
			append(slices.Clone(w.args), w.args...)...); err != nil {
			return err
		}
	}
	return nil
}

// whole adds a row with all that hangs on it; false if its name is taken.
func (l *loading) whole(w work.Whole) (free bool, err error) {
	switch {
	case w.Session != nil:
		free, err = l.session(*w.Session, w.Tasks)
	case w.Bundle != nil:
		free, err = l.bundle(*w.Bundle, w.Pieces)
	default:
		free, err = l.execution(w)
	}
	if err != nil || !free || w.Execution != nil && w.Execution.Kind == work.KindHand {
		return free, err
	}
	return true, l.number(w.Name())
}

// number has the number of a name not be given again.
func (l *loading) number(name string) error {
	prefix, digits, _ := strings.Cut(name, "-")
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n > mostNumber || work.NumberedAs(prefix, n) != name {
		return nil // it is a person's
	}
	return l.d.reached(l.tx, prefix, n)
}

// insert adds a row and returns its number; false if there is one that it may not be beside.
func (l *loading) insert(table string, cols ...[]Pair) (n int64, free bool, err error) {
	query, args := insertion(table, "ON CONFLICT DO NOTHING RETURNING n", cols...)
	err = l.tx.Query(query, args, func(scan Scan) error { free = true; return scan(&n) })
	return n, free, err
}

func (l *loading) session(v work.Session, tasks []work.Task) (bool, error) {
	cols, err := sessionPairs(v)
	if err != nil {
		return false, err
	}
	n, free, err := l.insert("work_session", l.d.all(), cols)
	if err != nil || !free {
		return false, err
	}
	for _, t := range tasks {
		cols, err := taskPairs(n, t)
		if err != nil {
			return false, err
		}
		if _, _, err := l.insert("work_task", cols); err != nil {
			return false, err
		}
	}
	return true, nil
}

func (l *loading) bundle(b work.KeptBundle, pieces map[string][]byte) (bool, error) {
	cols, err := bundlePairs(b)
	if err != nil {
		return false, err
	}
	n, free, err := l.insert("work_bundle", l.d.Project, cols)
	if err != nil || !free {
		return false, err
	}
	for _, hash := range unique(b.Pieces) {
		content, known := pieces[hash]
		if !known {
			if known, err = l.d.hasPiece(l.tx, hash); err != nil {
				return false, err
			}
			if !known {
				continue // it was lost before
			}
			if err := l.d.putPiece(l.tx, n, hash, nil, 0); err != nil {
				return false, err
			}
			continue
		}
		if err := l.d.putPiece(l.tx, n, hash, theCodec().pack.EncodeAll(content, nil), len(content)); err != nil {
			return false, err
		}
	}
	return true, nil
}

func (l *loading) execution(w work.Whole) (bool, error) {
	x := *w.Execution
	r, err := Pack(0, x)
	if err != nil {
		return false, err
	}
	n, free, err := l.insert("work", l.d.all(), r.pairs())
	if err != nil || !free {
		return false, err
	}
	events := make([]EventRow, len(w.Events))
	for i, e := range w.Events {
		if events[i], err = PackEvent(e.Seq, e); err != nil {
			return false, err
		}
	}
	if err := note(l.tx, n, events); err != nil {
		return false, err
	}
	for _, a := range w.Allocations {
		cols, err := allocationPairs(n, a)
		if err != nil {
			return false, err
		}
		if err := l.keep("work_allocation", allocationNumber, a.N, l.d.Project, cols); err != nil {
			return false, err
		}
	}
	for _, o := range w.Outputs {
		cols, err := outputPairs(n, x, o)
		if err != nil {
			return false, err
		}
		if err := l.keep("work_output", outputNumber, o.N, l.d.all(), cols); err != nil {
			return false, err
		}
		if o.Path != "" {
			k := lineKey(x, o)
			l.lines[string(k)] = k
		}
	}
	return true, l.d.derive(l.tx, n, x)
}

// keep adds a row with its number, or another if that is taken.
func (l *loading) keep(table, counter string, n int64, cols ...[]Pair) error {
	if n > 0 {
		inserted, free, err := l.insert(table, append([][]Pair{{{"n", n}}}, cols...)...)
		if err != nil {
			return err
		}
		if free {
			return l.d.reached(l.tx, counter, inserted)
		}
	}
	n, err := l.d.next(l.tx, counter)
	if err != nil {
		return err
	}
	if _, _, err := l.insert(table, append([][]Pair{{{"n", n}}}, cols...)...); err != nil {
		return fmt.Errorf("%s: %w", table, err)
	}
	return nil
}
