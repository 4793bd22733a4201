package workrow

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"orchestrator/thread"
	"orchestrator/thread/failpoint"
	"orchestrator/thread/plan"
	"orchestrator/thread/work"
)

func isNone(err error) bool { return errors.Is(err, thread.ErrNotFound) }

// nodeRow is a node as a table keeps it.
type nodeRow struct {
	n        int64
	number   int
	agent    string
	gate     int64
	wave     int
	state    plan.NodeState
	round    int
	sum, doc []byte
}

const nodeColumns = "d.n, d.number, d.agent, d.gate, d.wave, d.state, d.round, d.sum, d.doc"

func (r *nodeRow) scan(scan Scan) error {
	return scan(&r.n, &r.number, &r.agent, &r.gate, &r.wave, &r.state, &r.round, &r.sum, &r.doc)
}

// node reads a row; thread.ErrDamaged if its document does not match its hash or its columns.
func (r nodeRow) node(task string) (plan.Node, error) {
	var n plan.Node
	if !opened(r.sum, r.doc, &n) || n.Agent != r.agent || n.State != r.state || n.Number != r.number || n.Wave != r.wave || n.Round != r.round || n.Task != task {
		return plan.Node{}, thread.Hint(fmt.Errorf("agent %s of %s: %w", r.agent, task, thread.ErrDamaged), "run the plan again")
	}
	return n, nil
}

// shown reads a row for a list.
func (r nodeRow) shown(task string) plan.Node {
	n, err := r.node(task)
	if err != nil {
		n = plan.Node{Task: task, Agent: r.agent, Gate: r.gate == 1, Number: r.number, Wave: r.wave, State: plan.NodeFailed, Round: r.round,
			Reason: "its record is damaged"}
	}
	return n
}

// packNode returns a node as a table keeps it.
func packNode(n plan.Node) (doc, sum []byte, err error) {
	if doc, sum, err = document(n); err != nil {
		return nil, nil, fmt.Errorf("agent %s: %w", n.Agent, err)
	}
	return doc, sum, nil
}

// nodesSize is about what nodes take with their edges.
func nodesSize(nodes []plan.Node) int64 {
	size := int64(rowSize)
	for _, n := range nodes {
		size += 1024 + 64*int64(len(n.Reads)+len(n.After))
	}
	return size
}

// addNodes stores the nodes of a task.
func (d Dialect) addNodes(tx Tx, task int64, name string, nodes []plan.Node) error {
	numbers := make(map[string]int, len(nodes))
	for part := range slices.Chunk(nodes, 100) {
		rows := make([][]any, 0, len(part))
		for _, n := range part {
			n.Task = name
			doc, sum, err := packNode(n)
			if err != nil {
				return err
			}
			numbers[n.Agent] = n.Number
			rows = append(rows, []any{task, n.Number, n.Agent, number(n.Gate), n.Wave, string(n.State), n.Round, sum, doc})
		}
		if err := insertAll(tx, "plan_node (task, number, agent, gate, wave, state, round, sum, doc)", rows); err != nil {
			return err
		}
	}
	failpoint.Hit("plan.nodes.rows")
	var rows [][]any
	for i, n := range nodes {
		for _, up := range n.Upstreams() {
			rows = append(rows, []any{task, numbers[up], n.Number, number(slices.Contains(n.Reads, up))})
		}
		if len(rows) >= 10_000 || i == len(nodes)-1 {
			if err := insertAll(tx, "plan_edge (task, upstream, node, reads)", rows); err != nil {
				return fmt.Errorf("the agents of %s: %w", name, err)
			}
			rows = rows[:0]
		}
	}
	return nil
}

// dropNodes removes the nodes of a task.
func (d Dialect) dropNodes(tx Tx, task int64) error {
	for _, query := range []string{"DELETE FROM plan_edge WHERE task = ?", "DELETE FROM plan_node WHERE task = ?"} {
		if _, err := tx.Exec(query, task); err != nil {
			return err
		}
	}
	return nil
}

const (
	oneNode  = "SELECT " + nodeColumns + " FROM plan_node d WHERE d.task = ? AND d.agent = ?"
	allNodes = "SELECT " + nodeColumns + " FROM plan_node d WHERE d.task = ? ORDER BY d.number"
)

// nodeOf finds the row of a node of a task.
func nodeOf(read query, task taskRow, agent string) (r nodeRow, err error) {
	there := false
	err = read(oneNode, []any{task.n, agent}, func(scan Scan) error {
		there = true
		return r.scan(scan)
	})
	if err == nil && !there {
		err = fmt.Errorf("agent %q of %s: %w", agent, task.name, thread.ErrNotFound)
	}
	return r, err
}

// Node returns one.
func (s *Plans) Node(ctx context.Context, ref, agent string) (plan.Node, error) {
	t, err := s.row(ctx, ref)
	if err != nil {
		return plan.Node{}, err
	}
	r, err := nodeOf(s.outside(ctx), t, agent)
	if err != nil {
		return plan.Node{}, err
	}
	return r.node(t.name)
}

// Nodes returns all of a task, by their numbers.
func (s *Plans) Nodes(ctx context.Context, ref string) ([]plan.Node, error) {
	t, err := s.row(ctx, ref)
	if err != nil {
		return nil, err
	}
	out := []plan.Node{}
	err = s.db.Query(ctx, allNodes, []any{t.n}, func(scan Scan) error {
		var r nodeRow
		if err := r.scan(scan); err != nil {
			return err
		}
		out = append(out, r.shown(t.name))
		return nil
	})
	return out, err
}

// updateNode replaces the row of a node.
func updateNode(tx Tx, row int64, n plan.Node) error {
	doc, sum, err := packNode(n)
	if err != nil {
		return err
	}
	_, err = tx.Exec("UPDATE plan_node SET state = ?, round = ?, sum = ?, doc = ? WHERE n = ?", string(n.State), n.Round, sum, doc, row)
	return err
}

// ChangeNodes changes some nodes of a task in one step.
func (s *Plans) ChangeNodes(
	ctx context.Context, ref string, fences map[string]int64, change func(*plan.Node) error,
) (out []plan.Node, err error) {
	late := false
	err = s.db.Write(ctx, rowSize*int64(1+len(fences)), func(tx Tx) error {
		out, late = []plan.Node{}, false
		t, err := s.lock(tx, ref)
		if err != nil {
			return err
		}
		agents := slices.Sorted(maps.Keys(fences))
		rows, olds := make([]nodeRow, len(agents)), make([]plan.Node, len(agents))
		var events []plan.Event
		for i, agent := range agents {
			if rows[i], err = nodeOf(tx.Query, t, agent); err != nil {
				return err
			}
			if olds[i], err = rows[i].node(t.name); err != nil {
				return err
			}
			if !plan.Holds(fences[agent], olds[i].Fence) {
				events = append(events, plan.Fenced(agent, fences[agent], olds[i].Fence, s.now()))
			}
		}
		if late = len(events) > 0; late {
			return s.d.noteTask(tx, t.n, events)
		}
		for i := range agents {
			n, told, err := plan.ChangedNode(olds[i], change, s.now())
			if err != nil {
				return err
			}
			if err := updateNode(tx, rows[i].n, n); err != nil {
				return err
			}
			out, events = append(out, n), append(events, told...)
		}
		failpoint.Hit("plan.nodes.changed")
		return s.d.noteTask(tx, t.n, events)
	})
	if err == nil && late {
		err = work.ErrFence
	}
	if err != nil {
		return nil, err
	}
	return out, nil
}
