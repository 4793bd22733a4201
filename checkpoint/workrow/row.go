package workrow

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/work"
)

// sumSize is how much of the SHA-256 of a document is kept: it tells damage, not an attack.
const sumSize = 8

// Row is an execution as a table keeps it.
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
func (r *Row) Scan(scan Scan) error {
	return scan(&r.N, &r.ID, &r.Name, &r.Thread, &r.State, &r.Sum, &r.Doc)
}

// pairs are the columns of a row but for its number.
func (r Row) pairs() []Pair {
	return []Pair{{"id", string(r.ID)}, {"name", r.Name}, {"thread", string(r.Thread)}, {"state", string(r.State)},
		{"sum", r.Sum}, {"doc", r.Doc}}
}

// Pack makes the row of an execution.
func Pack(n int64, x work.Execution) (Row, error) {
	doc, sum, err := document(x)
	if err != nil {
		return Row{}, fmt.Errorf("run %s: %w", x.Name, err)
	}
	return Row{N: n, ID: x.ID, Name: x.Name, Thread: x.Thread, State: x.State, Sum: sum, Doc: doc}, nil
}

// Execution reads a row; thread.ErrDamaged if its document does not match its hash or its columns.
func (r Row) Execution() (work.Execution, error) {
	var x work.Execution
	if !opened(r.Sum, r.Doc, &x) || x.ID != r.ID || x.Name != r.Name || x.Thread != r.Thread || x.State != r.State {
		return work.Execution{}, thread.Hint(fmt.Errorf("run %s: %w", r.Name, thread.ErrDamaged),
			"the others are not affected; start it again")
	}
	return x, nil
}

// facts are the columns of work_fact: what executions are searched and summed by. Those of a row that is damaged are few.
func (r Row) facts() []Pair {
	x, err := r.Execution()
	if err != nil {
		x = work.Execution{Thread: r.Thread, State: r.State}
	}
	return facts(x)
}

func facts(x work.Execution) []Pair {
	u := x.Summed()
	return []Pair{
		{"kind", string(x.Kind)}, {"thread", string(x.Thread)}, {"state", string(x.State)}, {"session", x.Session}, {"task", x.Task},
		{"type", x.AgentType()}, {"agent", x.Agent}, {"model", x.Model}, {"bundle", x.Bundle}, {"parent", string(x.Parent)},
		{"author", string(x.By)}, {"created", micros(x.Created)}, {"started", optional(x.Started)}, {"ended", optional(x.Ended)},
		{"took", x.Took().Microseconds()}, {"input", u.Input}, {"cache_read", u.CacheRead}, {"cache_write", u.CacheWrite},
		{"cache_hour", u.CacheWriteHour}, {"output", u.Output}, {"cost", u.CostUSD}, {"priced", number(u.Priced)},
		{"unknown", u.Unknown}, {"context", x.Context}, {"given", x.Given}, {"said", x.Said},
	}
}

// EventRow is an event as a table keeps it.
type EventRow struct {
	Seq      int64
	Sum, Doc []byte
}

// PackEvent makes the row of an event.
func PackEvent(seq int64, e work.Event) (EventRow, error) {
	e.Seq = 0 // the row says it
	doc, sum, err := document(e)
	if err != nil {
		return EventRow{}, fmt.Errorf("event: %w", err)
	}
	return EventRow{Seq: seq, Sum: sum, Doc: doc}, nil
}

// Event reads a row; for one that is damaged it returns what stands for it.
func (r EventRow) Event() work.Event {
	var e work.Event
	if !opened(r.Sum, r.Doc, &e) {
		return work.DamagedEvent(r.Seq)
	}
	e.Seq = r.Seq
	return e
}

// document returns a record as JSON, with its checksum.
func document(v any) (doc, sum []byte, err error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, nil, err
	}
	doc = work.Scrubbed(bytes.TrimSuffix(b.Bytes(), []byte("\n")))
	return doc, checksum(doc), nil
}

// opened reads a document and reports whether it matches its checksum.
func opened(sum, doc []byte, to any) bool {
	return bytes.Equal(checksum(doc), sum) && json.Unmarshal(doc, to) == nil
}

// Verifies reports whether a document matches its checksum.
func Verifies(sum, doc []byte) bool { return len(doc) > 0 && bytes.Equal(checksum(doc), sum) }

func checksum(doc []byte) []byte {
	h := sha256.Sum256(doc)
	return h[:sumSize]
}

// micros is a time as columns have it: microseconds since 1970, within the years that databases can print.
func micros(t time.Time) int64 {
	const first, last = -62135596800e6, 253402300799e6 // the years 1 and 9999
	return min(max(t.UnixMicro(), first), last)
}

// optional is a time, NULL if there is none.
func optional(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return micros(t)
}

func number(b bool) int64 {
	if b {
		return 1
	}
	return 0
}
