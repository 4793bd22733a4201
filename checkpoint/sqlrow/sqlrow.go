// Package sqlrow is what the SQL databases share: it turns their rows into what the domain knows, and puts a checkpoint
// in the order that both keep. It knows no database: rows come through a Scan, changes go through a Table.
//
// Columns are the same in both, so a row reads the same from each; a time is nanoseconds since 1970 in UTC, 0 for none.
package sqlrow

import (
	"time"

	"orchestrator/checkpoint"
	"orchestrator/checkpoint/pack"
	"orchestrator/thread"
)

// Scan reads the columns of one row, as the drivers' functions of that name.
type Scan func(to ...any) error

// Columns are those of a checkpoint c, as Checkpoint reads them.
const Columns = "c.n, c.id, c.thread, c.parent, c.seq, c.turn, c.kind, c.items, c.chain, c.raw, c.sum, c.data"

// Checkpoint reads the Columns of a checkpoint.
func Checkpoint(scan Scan) (pack.Row, error) {
	var r pack.Row
	err := scan(&r.N, &r.ID, &r.Thread, &r.Parent, &r.Seq, &r.Turn, &r.Kind, &r.Items, &r.Chain, &r.Raw, &r.Sum, &r.Data)
	return r, err
}

// ExecutionColumns are those of a run that has not ended, as Execution reads them.
const ExecutionColumns = "id, thread, agent, session, pid, started"

// Execution reads the ExecutionColumns of a run.
func Execution(scan Scan) (thread.Execution, error) {
	var e thread.Execution
	var started int64
	err := scan(&e.ID, &e.Thread, &e.Agent, &e.Session, &e.PID, &started)
	e.Started = Time(started)
	return e, err
}

// IntentColumns are those of an intent, as Intent reads them.
const IntentColumns = "id, kind, thread, data, created"

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

// Prompt reads the PromptColumns of a prompt. The record is damaged where damage is set.
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

// Nanos is how a time is stored.
func Nanos(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

// Ended is how the end of a run is stored: null while it runs.
func Ended(t time.Time) *int64 {
	if t.IsZero() {
		return nil
	}
	n := t.UnixNano()
	return &n
}

// Time is the time that Nanos stores.
func Time(n int64) time.Time {
	if n == 0 {
		return time.Time{}
	}
	return time.Unix(0, n).UTC()
}
