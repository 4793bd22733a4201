package workrow

import (
	"fmt"

	"orchestrator/thread"
	"orchestrator/thread/work"
)

// sessionRow is a work session as a table keeps it.
type sessionRow struct {
	n        int64
	name     string
	sum, doc []byte
}

const sessionColumns = "n, name, sum, doc"

func (r *sessionRow) scan(scan Scan) error { return scan(&r.n, &r.name, &r.sum, &r.doc) }

// session reads a row; thread.ErrDamaged if its document does not match its hash or its name.
func (r sessionRow) session() (work.Session, error) {
	var v work.Session
	if !opened(r.sum, r.doc, &v) || v.Name != r.name {
		return work.Session{}, fmt.Errorf("work session %s: %w", r.name, thread.ErrDamaged)
	}
	return v, nil
}

func noSession(name string) error { return fmt.Errorf("work session %q: %w", name, thread.ErrNotFound) }

// bySession is the statement that reads a work session.
func (d Dialect) bySession(name, lock string) (string, []any) {
	w := of("", d.all())
	w.and("name = ?", name)
	return "SELECT " + sessionColumns + " FROM work_session WHERE " + w.String() + lock, w.args
}

// sessionOf reads a work session in a transaction, and locks it.
func (s *Store) sessionOf(tx Tx, name, lock string) (r sessionRow, v work.Session, err error) {
	there := false
	query, args := s.d.bySession(name, lock)
	err = tx.Query(query, args, func(scan Scan) error {
		there = true
		return r.scan(scan)
	})
	if err == nil && !there {
		err = noSession(name)
	}
	if err != nil {
		return r, v, err
	}
	v, err = r.session()
	return r, v, err
}

// joins refuses an execution of a kind that joins a work session if there is none of this name, or if it is final.
func (s *Store) joins(tx Tx, kind work.Kind, name string) error {
	if name == "" || !kind.Joins() {
		return nil
	}
	_, v, err := s.sessionOf(tx, name, s.d.Share)
	if err != nil {
		return err
	}
	return v.Open()
}
