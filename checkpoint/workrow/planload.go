package workrow

import (
	"context"
	"errors"
	"slices"

	"orchestrator/thread"
	"orchestrator/thread/failpoint"
	"orchestrator/thread/plan"
	"orchestrator/thread/work"
)

var _ plan.Keeper = (*Plans)(nil)

// Load stores what was taken from another store.
func (s *Plans) Load(ctx context.Context, w plan.Whole) (name string, free bool, err error) {
	if err := w.Check(); err != nil {
		return "", false, err
	}
	if err := w.Clean(); err != nil {
		return "", false, err
	}
	need := nodesSize(w.Nodes) + planSize(w.Events)
	if w.Handed != nil {
		need += int64(len(w.Handed.Data))
	}
	err = s.db.Write(ctx, need, func(tx Tx) (err error) {
		switch {
		case w.Task != nil:
			name, free, err = s.loadTask(tx, w)
		case w.Handed != nil:
			name = w.Handed.Task
			free, err = s.loadHanded(tx, *w.Handed)
		default:
			name = w.Armed.Name
			free, err = s.loadArmed(tx, *w.Armed)
		}
		failpoint.Hit("plan.load.row")
		return err
	})
	return name, free, err
}

func (s *Plans) loadTask(tx Tx, w plan.Whole) (name string, free bool, err error) {
	r, err := s.lock(tx, w.Task.ID)
	if err == nil {
		return r.name, false, nil
	}
	if !isNone(err) {
		return "", false, err
	}
	t := *w.Task
	p, err := packPlan(t.Plan)
	if err != nil {
		return "", false, err
	}
	document, err := s.d.put(tx, p)
	if err != nil {
		return "", false, err
	}
	n := int64(0)
	for other := 2; ; other++ {
		if t, n, err = s.insertTask(tx, t, document); !errors.Is(err, thread.ErrNameTaken) {
			break
		}
		t.Name = work.Another(w.Task.Name, other)
	}
	if err != nil {
		return "", false, err
	}
	l := loading{d: s.d, tx: tx}
	if err := l.number(t.Name); err != nil {
		return "", false, err
	}
	if err := s.d.addNodes(tx, n, t.Name, w.Nodes); err != nil {
		return "", false, err
	}
	return t.Name, true, s.d.noteTask(tx, n, w.Events)
}

// loadHanded adds a version, unless it is there.
func (s *Plans) loadHanded(tx Tx, h plan.HandOver) (free bool, err error) {
	r, err := s.lock(tx, h.Task)
	if err != nil {
		return false, err
	}
	h.Task = r.name
	cols, err := handPairs(h)
	if err != nil {
		return false, err
	}
	l := loading{d: s.d, tx: tx}
	n, free, err := l.insert("plan_handover", s.d.all(), []Pair{{"task", r.n}}, cols)
	if err != nil || !free {
		return false, err
	}
	if err := s.d.addTokens(tx, n, h.Tokens()); err != nil {
		return false, err
	}
	of := []any{r.n, h.Agent}
	if _, err := tx.Exec("UPDATE plan_handover SET current = 0 WHERE task = ? AND agent = ? AND current = 1", of...); err != nil {
		return false, err
	}
	_, err = tx.Exec("UPDATE plan_handover SET current = 1 WHERE task = ? AND agent = ? AND version = "+
		"(SELECT max(version) FROM plan_handover WHERE task = ? AND agent = ?)", slices.Concat(of, of)...)
	return true, err
}

// loadArmed adds an armed plan, unless one of its name is there.
func (s *Plans) loadArmed(tx Tx, a plan.Armed) (free bool, err error) {
	if _, there, err := s.d.armed(tx, a.Name); err != nil || there {
		return false, err
	}
	p, err := packPlan(&a.Plan)
	if err != nil {
		return false, err
	}
	return true, s.arm(tx, a, p)
}
