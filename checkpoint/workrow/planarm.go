package workrow

import (
	"context"
	"errors"
	"fmt"

	"orchestrator/thread"
	"orchestrator/thread/plan"
)

// armedRow is an armed plan as a table keeps it.
type armedRow struct {
	name     string
	document int64
	sum, doc []byte
}

const armedColumns = "name, document, sum, doc"

func (r *armedRow) scan(scan Scan) error { return scan(&r.name, &r.document, &r.sum, &r.doc) }

// armed reads a row without its plan.
func (r armedRow) armed() (plan.Armed, error) {
	var a plan.Armed
	if !opened(r.sum, r.doc, &a) || a.Name != r.name {
		return plan.Armed{}, thread.Hint(fmt.Errorf("armed plan %s: %w", r.name, thread.ErrDamaged), "arm it again")
	}
	return a, nil
}

// armed reads an armed plan in a transaction, and locks it.
func (d Dialect) armed(tx Tx, name string) (r armedRow, there bool, err error) {
	w := of("", d.all())
	w.and("name = ?", name)
	err = tx.Query("SELECT "+armedColumns+" FROM plan_armed WHERE "+w.String()+d.Lock, w.args, func(scan Scan) error {
		there = true
		return r.scan(scan)
	})
	return r, there, err
}

// Arm stores a plan as armed, or not.
func (s *Plans) Arm(ctx context.Context, a plan.Armed) error {
	a, err := plan.KeptArmed(a, s.now())
	if err != nil {
		return err
	}
	p, err := packPlan(&a.Plan)
	if err != nil {
		return err
	}
	return s.db.Write(ctx, rowSize+int64(len(p.data)), func(tx Tx) error { return s.arm(tx, a, p) })
}

// arm writes the row of an armed plan.
func (s *Plans) arm(tx Tx, a plan.Armed, p *packedPlan) error {
	a.Plan = plan.Plan{}
	doc, sum, err := document(a)
	if err != nil {
		return err
	}
	document, err := s.d.put(tx, p)
	if err != nil {
		return err
	}
	query, args := insertion("plan_armed", "ON CONFLICT ("+names(s.d.all())+"name) DO UPDATE SET active = excluded.active, "+
		"document = excluded.document, sum = excluded.sum, doc = excluded.doc", s.d.all(),
		[]Pair{{"name", a.Name}, {"active", number(a.On)}, {"document", *document}, {"sum", sum}, {"doc", doc}})
	_, err = tx.Exec(query, args...)
	return err
}

// allArmed is the statement of Armed.
func (d Dialect) allArmed() (string, []any) {
	w := of("", d.all())
	return "SELECT " + armedColumns + " FROM plan_armed WHERE " + w.String() + " ORDER BY name" + d.Bytewise, w.args
}

// Armed returns the plans that were armed once, by name. What is damaged is left out: whoever armed it does so again.
func (s *Plans) Armed(ctx context.Context) ([]plan.Armed, error) {
	query, args := s.d.allArmed()
	var rows []armedRow
	err := s.db.Query(ctx, query, args, func(scan Scan) error {
		var r armedRow
		err := r.scan(scan)
		rows = append(rows, r)
		return err
	})
	if err != nil {
		return nil, err
	}
	out := []plan.Armed{}
	for _, r := range rows {
		a, err := r.armed()
		if err != nil {
			continue
		}
		p, err := readPlan(s.outside(ctx), r.document)
		switch {
		case errors.Is(err, thread.ErrDamaged):
			continue
		case err != nil:
			return nil, err
		}
		a.Plan = *p
		out = append(out, a)
	}
	return out, nil
}
