// Package sqlrow is what the SQL databases share: it turns their rows into the domain's types, and puts a checkpoint in
// the order that both use. It knows no database: rows come through a Scan, changes go through a Table.
//
// Columns are the same in both, so a row reads the same from each; a time is nanoseconds since 1970 in UTC, 0 for none.
package sqlrow

import (
	"fmt"
	"time"

	"orchestrator/checkpoint"
	"orchestrator/checkpoint/pack"
	"orchestrator/thread"
)

// Scan reads the columns of one row, like the drivers' functions of that name.
type Scan func(to ...any) error

// Columns are those of a checkpoint c, as Checkpoint reads them.
const Columns = "c.n, c.id, c.thread, c.parent, c.seq, c.turn, c.kind, c.items, c.chain, c.raw, c.sum, c.data"

// Checkpoint reads the Columns of a checkpoint.
func Checkpoint(scan Scan) (pack.Row, error) {
	var r pack.Row
	err := scan(&r.N, &r.ID, number[int64]{&r.Thread}, number[int64]{&r.Parent}, number[int64]{&r.Seq},
		number[int]{&r.Turn}, &r.Kind, number[int]{&r.Items}, number[int]{&r.Chain}, number[int]{&r.Raw}, &r.Sum, &r.Data)
	return r, err
}

// number scans a column of whole numbers. SQLite does not enforce a column's type, so a damaged one may contain
// anything.
type number[T int | int64] struct{ to *T }

// Scan implements sql.Scanner.
func (n number[T]) Scan(v any) error {
	i, ok := v.(int64)
	if !ok {
		return fmt.Errorf("a number is a %T: %w", v, thread.ErrDamaged)
	}
	*n.to = T(i)
	return nil
}

// ExecutionColumns are those of a run that has not ended, as Execution reads them. A damaged number reads as some
// number: no hash would reveal it, and one run must not hide the others.
const ExecutionColumns = "id, thread, agent, session, CAST(pid AS bigint), CAST(started AS bigint)"

// Execution reads the ExecutionColumns of a run.
func Execution(scan Scan) (thread.Execution, error) {
	var e thread.Execution
	var started int64
	err := scan(&e.ID, &e.Thread, &e.Agent, &e.Session, &e.PID, &started)
	e.Started = Time(started)
	return e, err
}

// IntentColumns are those of an intent, as Intent reads them. A damaged time reads as some time, as in a run.
const IntentColumns = "id, kind, thread, data, CAST(created AS bigint)"

// Intent reads the IntentColumns of an intent.
func Intent(scan Scan) (thread.Intent, error) {
	var i thread.Intent
	var data []byte
	var created int64
	err := scan(&i.ID, &i.Kind, &i.Thread, &data, &created)
	i.Data, i.Created = data, Time(created)
	return i, err
}

// PromptColumns are those of a prompt, as Prompt reads them.
const PromptColumns = "n, id, sum, doc"

// Prompt reads the PromptColumns of a prompt. If the record is damaged, damage is set.
func Prompt(scan Scan) (p thread.Prompt, damage, err error) {
	var n int64
	var id thread.PromptID
	var sum, doc []byte
	if err := scan(&n, &id, &sum, &doc); err != nil {
		return p, nil, err
	}
	p, damage = checkpoint.OpenPrompt(id, n, doc, sum)
	return p, damage, nil
}

// Nanos is a time as it is stored.
func Nanos(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

// Ended is the stored end of a run: null while it runs.
func Ended(t time.Time) *int64 {
	if t.IsZero() {
		return nil
	}
	n := t.UnixNano()
	return &n
}

// Time is the time that Nanos stored.
func Time(n int64) time.Time {
	if n == 0 {
		return time.Time{}
	}
	return time.Unix(0, n).UTC()
}
