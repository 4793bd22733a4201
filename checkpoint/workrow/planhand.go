package workrow

import (
	"context"
	"errors"
	"fmt"

	"orchestrator/thread"
	"orchestrator/thread/failpoint"
	"orchestrator/thread/plaintext"
	"orchestrator/thread/plan"
	"orchestrator/thread/work"
)

// handRow is a version of what an agent hands over, as a table keeps it.
type handRow struct {
	n             int64
	id, task      string
	agent         string
	version       int
	current       int64
	token         string
	key, sum, doc []byte
	data          []byte
	size          int64 // of all of the data
}

// handColumns are those of a handRow; data is all of it, or the beginning.
func handColumns(data string) string {
	return "h.n, h.id, t.name, h.agent, h.version, h.current, h.token, h.key, h.sum, h.doc, " + data + ", length(h.data)"
}

func (r *handRow) scan(scan Scan) error {
	return scan(&r.n, &r.id, &r.task, &r.agent, &r.version, &r.current, &r.token, &r.key, &r.sum, &r.doc, &r.data, &r.size)
}

// handOver reads a row; thread.ErrDamaged if it does not match its hashes or its columns. Data of which a part is read has no
// hash of its own.
func (r handRow) handOver() (plan.HandOver, error) {
	var h plan.HandOver
	ok := opened(r.sum, r.doc, &h) && h.ID == r.id && h.Task == r.task && h.Agent == r.agent && h.Version == r.version
	h.Current, h.Token, h.Data = r.current == 1, thread.Token(r.token), string(r.data)
	if ok && int64(len(r.data)) == r.size {
		key := h.Key()
		ok = string(key[:]) == string(r.key)
	}
	if !ok {
		return plan.HandOver{}, thread.Hint(fmt.Errorf("version %d of what %s of %s has handed over: %w", r.version, r.agent, r.task,
			thread.ErrDamaged), "have it hand over again")
	}
	return h, nil
}

// handPairs are the columns of a version, but for its task.
func handPairs(h plan.HandOver) ([]Pair, error) {
	key := h.Key()
	cols := []Pair{{"id", h.ID}, {"agent", h.Agent}, {"version", h.Version}, {"current", number(h.Current)}, {"type", string(h.Type)},
		{"token", string(h.Token)}, {"created", micros(h.Created)}, {"key", key[:]}, {"data", []byte(h.Data)}}
	h.Current, h.Token, h.Data = false, "", "" // the columns have them
	doc, sum, err := document(h)
	if err != nil {
		return nil, fmt.Errorf("what %s hands over: %w", h.Agent, err)
	}
	return append(cols, Pair{"sum", sum}, Pair{"doc", doc}), nil
}

// versionOf is the statement that reads a version of what an agent of a task hands over, the current one for 0.
func versionOf(task int64, agent string, version int) (string, []any) {
	query, args := "SELECT "+handColumns("h.data")+" FROM plan_handover h JOIN plan_task t ON t.n = h.task WHERE h.task = ? AND h.agent = ? AND ",
		[]any{task, agent}
	if version == 0 {
		return query + "h.current = 1", args
	}
	return query + "h.version = ?", append(args, version)
}

// version finds a version; false if there is none.
func version(read query, task int64, agent string, n int) (r handRow, there bool, err error) {
	q, args := versionOf(task, agent, n)
	err = read(q, args, func(scan Scan) error {
		there = true
		return r.scan(scan)
	})
	return r, there, err
}

// Deliver stores another version of what a node hands over, in one transaction with the node and those that read it.
func (s *Plans) Deliver(
	ctx context.Context, h plan.HandOver, fence int64, change func(*plan.Node) error,
) (out plan.HandOver, nodes []plan.Node, err error) {
	var late error
	err = s.db.Write(ctx, int64(len(h.Data))+4*rowSize, func(tx Tx) error {
		out, nodes, late = plan.HandOver{}, nil, nil
		t, err := s.lock(tx, h.Task)
		if err != nil {
			return err
		}
		r, err := nodeOf(tx.Query, t, h.Agent)
		if err != nil {
			return err
		}
		old, err := r.node(t.name)
		if err != nil {
			return err
		}
		if !plan.Holds(fence, old.Fence) {
			late = work.ErrFence
			return s.d.noteTask(tx, t.n, []plan.Event{plan.Fenced(h.Agent, fence, old.Fence, s.now())})
		}
		if out, late, err = s.next(tx, t, old, h); err != nil {
			return err
		}
		failpoint.Hit("plan.deliver.row")
		n, events, err := plan.ChangedNode(old, func(n *plan.Node) error {
			n.Version = out.Version
			if change == nil {
				return nil
			}
			return change(n)
		}, s.now())
		if err != nil {
			return err
		}
		if err := updateNode(tx, r.n, n); err != nil {
			return err
		}
		nodes = []plan.Node{n}
		if late == nil {
			stale, told, err := s.stale(tx, t, old, out.Version)
			if err != nil {
				return err
			}
			nodes, events = append(nodes, stale...), append(events, told...)
		}
		failpoint.Hit("plan.deliver.nodes")
		return s.d.noteTask(tx, t.n, events)
	})
	if err == nil {
		err = late
	}
	if err != nil && !errors.Is(err, plan.ErrSame) {
		return plan.HandOver{}, nil, err
	}
	return out, nodes, err
}

// next stores the next version of what a node hands over, and makes it the current one. With the content of the one so far,
// that is returned with same.
func (s *Plans) next(tx Tx, t taskRow, n plan.Node, h plan.HandOver) (out plan.HandOver, same, err error) {
	r, there, err := version(tx.Query, t.n, n.Agent, 0)
	if err != nil {
		return out, nil, err
	}
	var current *plan.HandOver
	if there {
		old, err := r.handOver()
		if err != nil {
			old = plan.HandOver{Version: r.version, Type: "damaged"} // another version takes its place
		}
		current = &old
	}
	out, same = plan.Delivered(h, n, current, s.now())
	if same != nil {
		if errors.Is(same, plan.ErrSame) {
			return out, same, nil
		}
		return out, nil, same
	}
	if there {
		if _, err := tx.Exec("UPDATE plan_handover SET current = 0 WHERE n = ?", r.n); err != nil {
			return out, nil, err
		}
	}
	cols, err := handPairs(out)
	if err != nil {
		return out, nil, err
	}
	var row int64
	query, args := insertion("plan_handover", "RETURNING n", s.d.all(), []Pair{{"task", t.n}}, cols)
	if err := tx.Query(query, args, func(scan Scan) error { return scan(&row) }); err != nil {
		return out, nil, err
	}
	return out, nil, s.d.addTokens(tx, row, out.Tokens())
}

// addTokens has tokens open a version.
func (d Dialect) addTokens(tx Tx, hand int64, tokens []thread.Token) error {
	for _, token := range tokens {
		query, args := insertion("plan_token", "ON CONFLICT DO NOTHING", d.all(), []Pair{{"token", string(token)}, {"handover", hand}})
		if _, err := tx.Exec(query, args...); err != nil {
			return err
		}
	}
	return nil
}

const readers = "SELECT " + nodeColumns + " FROM plan_edge e CROSS JOIN plan_node d " +
	"WHERE d.task = e.task AND d.number = e.node AND e.task = ? AND e.upstream = ? AND e.reads = 1 AND d.round > 0 ORDER BY d.number"

// stale marks the nodes of a task that were given another version than the one of a node that is current now.
func (s *Plans) stale(tx Tx, t taskRow, of plan.Node, version int) (out []plan.Node, events []plan.Event, err error) {
	var rows []nodeRow
	err = tx.Query(readers, []any{t.n, of.Number}, func(scan Scan) error {
		var r nodeRow
		err := r.scan(scan)
		rows = append(rows, r)
		return err
	})
	for _, r := range rows {
		old, bad := r.node(t.name)
		if bad != nil {
			continue
		}
		n, told, is := plan.StaleBy(old, of.Agent, version, s.now())
		if !is {
			continue
		}
		if err := updateNode(tx, r.n, n); err != nil {
			return nil, nil, err
		}
		out, events = append(out, n), append(events, told...)
	}
	return out, events, err
}

func noVersion(task, agent string, version int) error {
	if version == 0 {
		return fmt.Errorf("%s of %s has handed nothing over: %w", agent, task, thread.ErrNotFound)
	}
	return fmt.Errorf("version %d of what %s of %s hands over: %w", version, agent, task, thread.ErrNotFound)
}

// HandOver returns one version.
func (s *Plans) HandOver(ctx context.Context, ref, agent string, n int) (plan.HandOver, error) {
	t, err := s.row(ctx, ref)
	if err != nil {
		return plan.HandOver{}, err
	}
	if _, err := nodeOf(s.outside(ctx), t, agent); err != nil {
		return plan.HandOver{}, err
	}
	r, there, err := version(s.outside(ctx), t.n, agent, n)
	switch {
	case err != nil:
		return plan.HandOver{}, err
	case !there:
		return plan.HandOver{}, noVersion(t.name, agent, n)
	}
	return r.handOver()
}

// HandOvers lists some, newest first.
func (s *Plans) HandOvers(ctx context.Context, q plan.HandOverQuery) ([]plan.HandOver, error) {
	var t taskRow
	var err error
	if q.Task != "" {
		if t, err = s.row(ctx, q.Task); err != nil {
			return nil, err
		}
	}
	before := maxN
	if q.Before != "" {
		if before, err = s.handNumber(ctx, q.Before); err != nil {
			return nil, err
		}
	}
	return s.list(ctx, s.d.handedBy(q, t.n, before), q.Whole, q.Size())
}

// handed is the statement of list.
func handed(w *where, bytes, limit int) (string, []any) {
	data := "h.data"
	if bytes > 0 {
		data = fmt.Sprintf("substr(h.data, 1, %d)", bytes+1) // what follows tells where a character ends
	}
	return "SELECT " + handColumns(data) + " FROM plan_handover h CROSS JOIN plan_task t WHERE t.n = h.task AND " + w.String() +
		" ORDER BY h.n DESC LIMIT ?", append(append([]any{}, w.args...), limit)
}

// opens selects the versions that have a token.
func (d Dialect) opens(token thread.Token) *where {
	w := of("", d.all())
	w.and("token = ?", string(token))
	in := &where{}
	in.and("h.n IN (SELECT handover FROM plan_token WHERE "+w.String()+")", w.args...)
	return in
}

// handedBy selects the versions that a query asks for, of a task, behind another one.
func (d Dialect) handedBy(q plan.HandOverQuery, task, before int64) *where {
	w := of("h.", d.all())
	if q.Task != "" {
		w.and("h.task = ?", task)
	}
	if q.Agent != "" {
		w.and("h.agent = ?", q.Agent)
	}
	if q.Current {
		w.and("h.current = 1")
	}
	w.and("h.n < ?", before)
	return w
}

// list reads the versions that a condition selects, newest first, with so many bytes of their data; 0 for all.
func (s *Plans) list(ctx context.Context, w *where, bytes, limit int) ([]plan.HandOver, error) {
	query, args := handed(w, bytes, limit)
	out := []plan.HandOver{}
	err := s.db.Query(ctx, query, args, func(scan Scan) error {
		var r handRow
		if err := r.scan(scan); err != nil {
			return err
		}
		h, err := r.handOver()
		if err != nil {
			h = plan.HandOver{ID: r.id, Task: r.task, Agent: r.agent, Version: r.version, Current: r.current == 1, Summary: "its record is damaged"}
		} else if bytes > 0 {
			h.Data = plaintext.Cut(h.Data, bytes)
		}
		out = append(out, h)
		return nil
	})
	return out, err
}

// handNumber returns the number of a version by its id.
func (s *Plans) handNumber(ctx context.Context, id string) (n int64, err error) {
	w := of("", s.d.all())
	w.and("id = ?", id)
	there := false
	err = s.db.Query(ctx, "SELECT n FROM plan_handover WHERE "+w.String(), w.args, func(scan Scan) error { there = true; return scan(&n) })
	if err == nil && !there {
		err = fmt.Errorf("deliverable %q: %w", id, thread.ErrNotFound)
	}
	return n, err
}

// Opens returns the versions that have a token, newest first.
func (s *Plans) Opens(ctx context.Context, token thread.Token) ([]plan.HandOver, error) {
	return s.list(ctx, s.d.opens(token), 0, 1000)
}

// SetToken notes the token of a version's data.
func (s *Plans) SetToken(ctx context.Context, ref, agent string, n int, token thread.Token) error {
	return s.db.Write(ctx, rowSize, func(tx Tx) error {
		t, err := s.lock(tx, ref)
		if err != nil {
			return err
		}
		r, there, err := version(tx.Query, t.n, agent, n)
		if err != nil {
			return err
		}
		if !there {
			return noVersion(t.name, agent, n)
		}
		h, err := r.handOver()
		if err != nil {
			return err
		}
		h.Token = token
		if _, err := tx.Exec("UPDATE plan_handover SET token = ? WHERE n = ?", string(token), r.n); err != nil {
			return err
		}
		if _, err := tx.Exec("DELETE FROM plan_token WHERE handover = ?", r.n); err != nil {
			return err
		}
		return s.d.addTokens(tx, r.n, h.Tokens())
	})
}
