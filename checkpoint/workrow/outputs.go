package workrow

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"orchestrator/thread/failpoint"
	"orchestrator/thread/work"
)

// key identifies something by texts, whatever they contain.
func key(parts ...string) []byte {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%d:", len(p))
		_, _ = io.WriteString(h, p) // it never fails
	}
	return h.Sum(nil)[:16]
}

// outputKey identifies an output of an execution. One with a path can come again, as another version.
func outputKey(o work.Output) []byte {
	return key(string(o.Type), o.Path, string(o.Content), strconv.Itoa(o.Version))
}

// lineKey identifies what the versions of an output are counted in.
func lineKey(x work.Execution, o work.Output) []byte { return key(x.Line(o), string(o.Type), o.Path) }

// What the numbers of outputs and of pieces of context are counted by, beside names.
const (
	outputNumber     = "output"
	allocationNumber = "allocation"
)

// outputRow is an output as a table keeps it, with the name of its execution.
type outputRow struct {
	n         int64
	execution string
	kind      work.OutputType
	current   int64
	sum, doc  []byte
}

const outputColumns = "o.n, w.name, o.type, o.current, o.sum, o.doc"

func (r *outputRow) scan(scan Scan) error {
	return scan(&r.n, &r.execution, &r.kind, &r.current, &r.sum, &r.doc)
}

// output reads a row; for one that is damaged it returns what stands for it.
func (r outputRow) output() work.Output {
	var o work.Output
	if !opened(r.sum, r.doc, &o) || o.Type != r.kind {
		return work.DamagedOutput(r.n, r.execution, r.kind)
	}
	o.N, o.Execution, o.Current = r.n, r.execution, r.current != 0
	return o
}

// outputPairs are the columns of an output of an execution but for its number.
func outputPairs(n int64, x work.Execution, o work.Output) ([]Pair, error) {
	kept := o
	kept.N, kept.Execution, kept.Current = 0, "", false // the columns say it
	doc, sum, err := document(kept)
	if err != nil {
		return nil, fmt.Errorf("output of %s: %w", x.Name, err)
	}
	return []Pair{{"work", n}, {"key", outputKey(o)}, {"type", string(o.Type)}, {"path", o.Path}, {"file", key(o.Path)},
		{"line", lineKey(x, o)}, {"version", o.Version}, {"current", number(o.Current)}, {"session", x.Session}, {"agent_type", x.AgentType()},
		{"author", string(o.By)}, {"created", micros(o.Created)}, {"sum", sum}, {"doc", doc}}, nil
}

// AddOutputs stores what came of an execution.
func (s *Store) AddOutputs(ctx context.Context, id work.ID, outputs []work.Output) ([]work.Output, error) {
	var out []work.Output
	err := s.db.Write(ctx, sizeOf(outputs), func(tx Tx) (err error) {
		out, err = s.addOutputs(tx, id, outputs)
		return err
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// lines has this transaction be the only one that counts versions of some paths. All are taken before the first number is,
// and in one order, so that two that add to the same files wait for each other and not both.
func (s *Store) lines(tx Tx, x work.Execution, paths []string) error {
	for _, path := range slices.Compact(slices.Sorted(slices.Values(paths))) {
		if path == "" {
			continue
		}
		if err := s.d.alone(tx, s.d.all(), x.Line(work.Output{})+" "+path); err != nil {
			return err
		}
	}
	return nil
}

// End changes an execution and stores what came of it.
func (s *Store) End(
	ctx context.Context, id work.ID, fence int64, change func(*work.Execution) error, outputs []work.Output, events ...work.Event,
) (work.Execution, []work.Output, error) {
	var x work.Execution
	var out []work.Output
	err := s.db.Write(ctx, size(events)+sizeOf(outputs), func(tx Tx) (err error) {
		if out, err = s.addOutputs(tx, id, outputs); err == nil { // first: locks are taken in the order of AddOutputs
			x, err = s.rewrite(tx, id, s.changing(fence, change, events))
		}
		return err
	})
	if err != nil {
		return work.Execution{}, nil, err
	}
	return x, out, nil
}

// sizeOf is about how much room outputs need.
func sizeOf(outputs []work.Output) int64 {
	need := int64(rowSize)
	for _, o := range outputs {
		need += int64(len(o.Content)) + rowSize
	}
	return need
}

// addOutputs is AddOutputs in a transaction.
func (s *Store) addOutputs(tx Tx, id work.ID, outputs []work.Output) ([]work.Output, error) {
	r, x, err := s.get(tx, id)
	if err != nil {
		return nil, err
	}
	out := make([]work.Output, 0, len(outputs))
	var paths []string
	for _, o := range outputs {
		if o, err = work.AddedOutput(x, o, s.now()); err != nil {
			return nil, err
		}
		out, paths = append(out, o), append(paths, o.Path)
	}
	if err := s.lines(tx, x, paths); err != nil {
		return nil, err
	}
	for i, o := range out {
		if out[i], err = s.addOutput(tx, r.N, x, o); err != nil {
			return nil, err
		}
		failpoint.Hit("work.output.row")
	}
	return out, s.d.reword(tx, r.N, nil, work.PathWords(paths))
}

// stored finds what an execution has of an output already: with a path the newest version, if that is the same.
func (s *Store) stored(tx Tx, n int64, x work.Execution, o work.Output) (old work.Output, there bool, err error) {
	query, args := " o.key = ?", []any{n, outputKey(o)}
	if o.Path != "" {
		query, args = " o.line = ? ORDER BY o.version DESC LIMIT 1", []any{n, lineKey(x, o)}
	}
	err = tx.Query("SELECT "+outputColumns+" FROM work_output o JOIN work w ON w.n = o.work WHERE o.work = ? AND"+query, args,
		func(scan Scan) error {
			var r outputRow
			err := r.scan(scan)
			old = r.output()
			there = o.Path == "" || bytes.Equal(old.Content, o.Content)
			return err
		})
	return old, there, err
}

// addOutput adds an output, or returns it as it is stored.
func (s *Store) addOutput(tx Tx, n int64, x work.Execution, o work.Output) (work.Output, error) {
	old, there, err := s.stored(tx, n, x, o)
	if err != nil {
		return o, err
	}
	if there {
		return old, nil
	}
	if o.Path != "" {
		w := of("", s.d.all())
		w.and("line = ?", lineKey(x, o))
		var last int
		err := tx.Query("SELECT coalesce(max(version), 0) FROM work_output WHERE "+w.String(), w.args,
			func(scan Scan) error { return scan(&last) })
		if err != nil {
			return o, err
		}
		o.Version = last + 1
		if _, err := tx.Exec("UPDATE work_output SET current = 0 WHERE current = 1 AND "+w.String(), w.args...); err != nil {
			return o, err
		}
	}
	cols, err := outputPairs(n, x, o)
	if err != nil {
		return o, err
	}
	if o.N, err = s.d.next(tx, outputNumber); err != nil {
		return o, err
	}
	query, args := insertion("work_output", "", s.d.all(), []Pair{{"n", o.N}}, cols)
	if _, err := tx.Exec(query, args...); err != nil {
		return o, err
	}
	return o, s.d.wrote(tx, o.By, 1, len(o.Content)+len(o.Path)+fixed)
}

// Outputs lists some, newest first.
func (s *Store) Outputs(ctx context.Context, q work.OutputQuery) ([]work.Output, error) {
	query, args := s.d.outputs(q)
	out, left := []work.Output{}, q.Whole
	err := s.db.Query(ctx, query, args, func(scan Scan) error {
		var r outputRow
		if err := r.scan(scan); err != nil {
			return err
		}
		out = append(out, q.Fit(r.output(), &left))
		return nil
	})
	return out, err
}

// outputs is the statement of Outputs.
func (d Dialect) outputs(q work.OutputQuery) (string, []any) {
	w := of("o.", d.all())
	alone := w.text.Len()
	if q.Execution != "" {
		mine := of("", d.all())
		mine.and("(id = ? OR name = ?)", q.Execution, q.Execution)
		w.and("o.work IN (SELECT n FROM work WHERE "+mine.String()+")", mine.args...)
	}
	if len(q.Of) > 0 {
		theirs := of("", d.all())
		in(theirs, "id", q.Of)
		w.and("o.work IN (SELECT n FROM work WHERE "+theirs.String()+")", theirs.args...)
	}
	w.equal(Pair{"o.session", q.Session}, Pair{"o.agent_type", q.AgentType})
	if q.Path != "" {
		w.and("o.file = ?", key(q.Path))
	}
	switch alone := w.text.Len() == alone; {
	case alone && len(q.Types) == 1: // nothing else has an index that fits
		in(w, "o.type", q.Types)
	case alone && len(q.Types) > 1 && q.By == nil:
		d.newestOf(w, q)
	default:
		in(w, d.Aside+"o.type", q.Types)
	}
	d.rest(w, q)
	return "SELECT " + outputColumns + " FROM work_output o CROSS JOIN work w WHERE w.n = o.work AND " + w.String() + " ORDER BY o.n DESC LIMIT ?", append(w.args, q.Size())
}

// newestOf restricts outputs to the newest of each type that is asked for: an index has each in that order, but not several.
func (d Dialect) newestOf(w *where, q work.OutputQuery) {
	var parts []string
	var args []any
	for _, t := range q.Types {
		one := of("o.", d.all())
		one.and("o.type = ?", string(t))
		d.rest(one, q)
		parts = append(parts, "SELECT newest.n FROM (SELECT o.n FROM work_output o WHERE "+one.String()+" ORDER BY o.n DESC LIMIT ?) newest")
		args = append(append(args, one.args...), q.Size())
	}
	w.and("o.n IN ("+strings.Join(parts, " UNION ALL ")+")", args...)
}

// rest adds what has no index in the order of outputs.
func (d Dialect) rest(w *where, q work.OutputQuery) {
	if !q.Since.IsZero() {
		w.and("o.created >= ?", micros(q.Since))
	}
	if q.By != nil {
		by := string(*q.By)
		w.and("? <> ''", by) // an empty one has nothing
		own, theirs := of("", d.all()), of("g.", d.all())
		own.equal(Pair{"author", by})
		theirs.and("(g.thread = ? OR g.author = ? AND g.author <> '')", by, by)
		w.and("o.n IN (SELECT n FROM work_output WHERE "+own.String()+" UNION ALL SELECT x.n FROM work_fact g "+
			"JOIN work_output x ON x.work = g.work WHERE "+theirs.String()+")", append(own.args, theirs.args...)...)
	}
	if q.Current {
		w.and("o.current = 1")
	}
	if q.Before > 0 {
		w.and("o.n < ?", q.Before)
	}
}

func allocationKey(a work.Allocation) []byte {
	sections, _ := json.Marshal(a.Sections) // texts
	return key(string(a.Type), a.Source, string(sections), a.Bundle)
}

// Allocate adds pieces of context.
func (s *Store) Allocate(ctx context.Context, id work.ID, pieces []work.Allocation) error {
	return s.db.Write(ctx, rowSize+int64(len(pieces))*512, func(tx Tx) error {
		r, x, err := s.get(tx, id)
		if err != nil {
			return err
		}
		for _, a := range pieces {
			if a, err = work.Allocated(x, a); err != nil {
				return err
			}
			if err := s.d.allocate(tx, r.N, a); err != nil {
				return err
			}
		}
		return nil
	})
}

// allocate adds a piece of context, or has what is stored be included.
func (d Dialect) allocate(tx Tx, n int64, a work.Allocation) error {
	var there bool
	var old work.Allocation
	err := tx.Query("SELECT sum, doc FROM work_allocation WHERE work = ? AND key = ?", []any{n, allocationKey(a)}, func(scan Scan) error {
		there = true
		var sum, doc []byte
		if err := scan(&sum, &doc); err != nil {
			return err
		}
		if !opened(sum, doc, &old) {
			old = a
		}
		return nil
	})
	if err != nil || there && (old.Included || !a.Included) {
		return err
	}
	if there {
		a = old
		a.Included = true
	}
	cols, err := allocationPairs(n, a)
	if err != nil {
		return err
	}
	if there {
		last := cols[len(cols)-2:]
		_, err = tx.Exec("UPDATE work_allocation SET sum = ?, doc = ? WHERE work = ? AND key = ?", last[0].Value, last[1].Value, n,
			allocationKey(a))
		return err
	}
	next, err := d.next(tx, allocationNumber)
	if err != nil {
		return err
	}
	query, args := insertion("work_allocation", "", d.Project, []Pair{{"n", next}}, cols)
	_, err = tx.Exec(query, args...)
	return err
}

// allocationPairs are the columns of a piece of context of an execution but for its number.
func allocationPairs(n int64, a work.Allocation) ([]Pair, error) {
	a.N, a.Execution = 0, "" // the columns say it
	doc, sum, err := document(a)
	if err != nil {
		return nil, fmt.Errorf("context %s: %w", a.Source, err)
	}
	return []Pair{{"work", n}, {"key", allocationKey(a)}, {"bundle", a.Bundle}, {"sum", sum}, {"doc", doc}}, nil
}

// Allocations returns those of an execution, oldest first.
func (s *Store) Allocations(ctx context.Context, id work.ID) ([]work.Allocation, error) {
	r, err := s.row(ctx, string(id))
	if err != nil {
		return nil, err
	}
	out := []work.Allocation{}
	err = s.db.Query(ctx, allAllocations, []any{r.N}, func(scan Scan) error {
		var n int64
		var sum, doc []byte
		if err := scan(&n, &sum, &doc); err != nil {
			return err
		}
		var a work.Allocation
		if opened(sum, doc, &a) {
			a.N, a.Execution = n, r.Name
		} else {
			a = work.DamagedAllocation(n, r.Name)
		}
		out = append(out, a)
		return nil
	})
	return out, err
}

const allAllocations = "SELECT n, sum, doc FROM work_allocation WHERE work = ? ORDER BY n"
