// Package workrow is what the databases that store executions share: how an execution and its events become rows, and
// the steps of each change, in the order in which both databases take them. It knows no database: rows come from a DB,
// changes go through its transactions.
package workrow

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"

	"orchestrator/thread"
	"orchestrator/thread/work"
)

// sumSize is how much of the SHA-256 of a document is kept: it tells damage, not an attack.
const sumSize = 8

// Row is an execution as a table keeps it. The columns beside the document are what is searched by.
type Row struct {
	N        int64 // the order of creation
	ID       work.ID
	Name     string
	Thread   thread.ID
	State    work.State
	Sum, Doc []byte
}

// Columns are those of a Row, as Scan reads them.
const Columns = "n, id, name, thread, state, sum, doc"

// Scan reads the Columns.
func (r *Row) Scan(scan func(to ...any) error) error {
	return scan(&r.N, &r.ID, &r.Name, &r.Thread, &r.State, &r.Sum, &r.Doc)
}

// Pack makes the row of an execution.
func Pack(n int64, x work.Execution) (Row, error) {
	doc, err := json.Marshal(x)
	if err != nil {
		return Row{}, fmt.Errorf("run %s: %w", x.Name, err)
	}
	return Row{N: n, ID: x.ID, Name: x.Name, Thread: x.Thread, State: x.State, Sum: sum(doc), Doc: doc}, nil
}

// Execution reads a row; thread.ErrDamaged if its document does not match its hash or its columns.
func (r Row) Execution() (work.Execution, error) {
	var x work.Execution
	if !bytes.Equal(sum(r.Doc), r.Sum) || json.Unmarshal(r.Doc, &x) != nil || x.ID != r.ID || x.Name != r.Name ||
		x.Thread != r.Thread || x.State != r.State {
		return work.Execution{}, thread.Hint(fmt.Errorf("run %s: %w", r.Name, thread.ErrDamaged),
			"the others are not affected; start it anew")
	}
	return x, nil
}

// EventRow is an event as a table keeps it.
type EventRow struct {
	Seq      int64
	Sum, Doc []byte
}

// PackEvent makes the row of an event.
func PackEvent(seq int64, e work.Event) (EventRow, error) {
	e.Seq = 0 // the row says it
	doc, err := json.Marshal(e)
	if err != nil {
		return EventRow{}, fmt.Errorf("event: %w", err)
	}
	return EventRow{Seq: seq, Sum: sum(doc), Doc: doc}, nil
}

// Event reads a row; for one that is damaged it returns what stands for it.
func (r EventRow) Event() work.Event {
	var e work.Event
	if !bytes.Equal(sum(r.Doc), r.Sum) || json.Unmarshal(r.Doc, &e) != nil {
		return work.DamagedEvent(r.Seq)
	}
	e.Seq = r.Seq
	return e
}

func sum(doc []byte) []byte {
	h := sha256.Sum256(doc)
	return h[:sumSize]
}
