// Package workrow stores the record of work in databases: how executions, their events, work sessions, tasks, pieces of
// context, outputs and bundles become rows, and the steps of each change, once for all databases. What it needs of a
// database is small: statements in transactions and outside of them.
//
// Every document has a checksum. Beside the executions lies what is derived from them, and can be made again at any time:
// the table work_fact has the columns that are searched and summed by, work_word the words that they are found by.
package workrow

import (
	"context"
	"fmt"
	"strings"

	"orchestrator/thread/work"
)

// Scan reads the columns of a row.
type Scan func(to ...any) error

// Tx is a transaction that changes the record. What it has read nobody else changes before it ends, if it has asked for that
// with Dialect.Lock. Statements have a question mark for each value.
type Tx interface {
	// Exec runs a statement and returns how many rows it changed.
	Exec(query string, args ...any) (int64, error)
	// Query runs a statement that returns rows.
	Query(query string, args []any, each func(Scan) error) error
}

// DB is a database of executions.
type DB interface {
	// Write runs a change in one transaction, which is durable when it returns nil. The change may run again after an error
	// of the database; its own errors are returned unchanged. Need is about how many bytes it writes.
	Write(ctx context.Context, need int64, change func(Tx) error) error
	// Query reads outside of a transaction.
	Query(ctx context.Context, query string, args []any, each func(Scan) error) error
	// Dialect is how this database differs from others.
	Dialect() Dialect
	// Shrink gives the space of what was removed back.
	Shrink(ctx context.Context) error
	// Measure says how much space the record takes, and who reads it.
	Measure(ctx context.Context, m *work.Measure) error
}

// Pair is a column with its value.
type Pair struct {
	Column string
	Value  any
}

// Dialect is how a database differs from others.
type Dialect struct {
	// Project and Host are the columns that tell whose a row is; none if the database is one project's.
	Project, Host []Pair
	// Lock at the end of a statement keeps others from changing what it reads, Share from changing it or locking it.
	Lock, Share string
	// Purging allows events to be removed in a transaction, Purged ends that.
	Purging, Purged string
	// Alone has only one transaction at a time go on from it with the same text; "" if there never are two.
	Alone string
	// False is what is not true.
	False string
	// Aside, before a column, has no index of it used.
	Aside string
	// Bytewise, behind a text, has it ordered by its bytes.
	Bytewise string
}

// all are the columns that tell whose an execution is.
func (d Dialect) all() []Pair { return append(append([]Pair{}, d.Project...), d.Host...) }

// alone has a transaction be the only one with a name, among those of a scope, until it ends.
func (d Dialect) alone(tx Tx, scope []Pair, name string) error {
	if d.Alone == "" {
		return nil
	}
	for _, p := range scope {
		name = fmt.Sprintf("%v %s", p.Value, name)
	}
	_, err := tx.Exec(d.Alone, name)
	return err
}

// where builds the condition of a statement.
type where struct {
	text strings.Builder
	args []any
}

// of begins a condition with whose the rows are.
func of(alias string, scope []Pair) *where {
	w := &where{}
	for _, p := range scope {
		w.and(alias+p.Column+" = ?", p.Value)
	}
	return w
}

// and adds to a condition.
func (w *where) and(cond string, args ...any) {
	if w.text.Len() > 0 {
		w.text.WriteString(" AND ")
	}
	w.text.WriteString(cond)
	w.args = append(w.args, args...)
}

// in adds that an expression has one of some values; nothing if there are none.
func in[T ~string](w *where, expr string, values []T) {
	if len(values) == 0 {
		return
	}
	args := make([]any, len(values))
	for i, v := range values {
		args[i] = string(v)
	}
	w.and(expr+" IN ("+marks(len(values))+")", args...)
}

// equal adds that columns have values, but for those whose value is "": their indexes leave out what has none.
func (w *where) equal(pairs ...Pair) {
	for _, p := range pairs {
		if p.Value != "" {
			w.and(p.Column+" = ? AND "+p.Column+" <> ''", p.Value)
		}
	}
}

// String returns the condition.
func (w *where) String() string {
	if w.text.Len() == 0 {
		return "1 = 1"
	}
	return w.text.String()
}

func marks(n int) string { return strings.TrimSuffix(strings.Repeat("?, ", n), ", ") }

// insertion is the statement that adds a row, with what follows on its values.
func insertion(table, end string, cols ...[]Pair) (query string, args []any) {
	var names []string
	for _, some := range cols {
		for _, p := range some {
			names = append(names, p.Column)
			args = append(args, p.Value)
		}
	}
	return "INSERT INTO " + table + " (" + strings.Join(names, ", ") + ") VALUES (" + marks(len(names)) + ") " + end, args
}

// names are the columns of some pairs, each followed by a comma.
func names(pairs []Pair) string {
	s := ""
	for _, p := range pairs {
		s += p.Column + ", "
	}
	return s
}
