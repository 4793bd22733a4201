package workrow

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"orchestrator/thread"
	"orchestrator/thread/plan"
)

// HandsOver reports whether a document and data are those of a version of what an agent has handed over.
func HandsOver(key, data, doc []byte) bool {
	var h plan.HandOver
	if json.Unmarshal(doc, &h) != nil {
		return false
	}
	h.Data = string(data)
	is := h.Key()
	return string(is[:]) == string(key)
}

// Mend goes through tasks that were copied from a damaged database: it makes the edges of their nodes and the places of
// their tokens again. Tasks at work of which parts are lost fail: the engine would wait for what is not there. It returns
// their names.
func (s *Plans) Mend(ctx context.Context) (failed []string, err error) {
	w := of("", s.d.all())
	var rows []taskRow
	err = s.db.Query(ctx, "SELECT "+taskColumns+" FROM plan_task WHERE "+w.String()+" ORDER BY n", w.args, func(scan Scan) error {
		var r taskRow
		err := r.scan(scan)
		r.sum, r.doc = nil, nil // as many as there are
		rows = append(rows, r)
		return err
	})
	if err != nil {
		return nil, err
	}
	for _, r := range rows {
		whole := false
		err := s.db.Write(ctx, 0, func(tx Tx) (err error) {
			whole, err = s.mendTask(tx, r)
			return err
		})
		if err != nil {
			return failed, err
		}
		if whole || r.status != plan.InProgress {
			continue
		}
		_, err = s.Supersede(ctx, r.name, func(t *plan.Task) error {
			t.Status, t.Reason = plan.Failed, "part of its record is damaged and lost: run its plan again"
			return nil
		})
		if err != nil && !errors.Is(err, thread.ErrDamaged) {
			return failed, err
		}
		failed = append(failed, r.name)
	}
	return failed, nil
}

// mendTask makes the edges and the tokens of a task again, and reports whether it is whole.
func (s *Plans) mendTask(tx Tx, r taskRow) (complete bool, err error) {
	var nodes []plan.Node
	complete = true
	err = tx.Query(allNodes, []any{r.n}, func(scan Scan) error {
		var row nodeRow
		if err := row.scan(scan); err != nil {
			return err
		}
		n, err := row.node(r.name)
		if complete = complete && err == nil; err == nil {
			nodes = append(nodes, n)
		}
		return nil
	})
	if err != nil {
		return false, err
	}
	numbers := map[string]int{}
	for _, n := range nodes {
		numbers[n.Agent] = n.Number
	}
	var edges [][]any
	for _, n := range nodes {
		for _, up := range n.Upstreams() {
			if u, there := numbers[up]; there {
				edges = append(edges, []any{r.n, u, n.Number, number(slices.Contains(n.Reads, up))})
			} else {
				complete = false
			}
		}
	}
	if err := insertAll(tx, "plan_edge (task, upstream, node, reads)", edges); err != nil {
		return false, err
	}
	versions, err := s.mendTokens(tx, r)
	if err != nil {
		return false, err
	}
	for _, n := range nodes {
		complete = complete && n.Version == versions[n.Agent]
	}
	if r.document == nil {
		return false, nil
	}
	p, err := readPlan(tx.Query, *r.document)
	if errors.Is(err, thread.ErrDamaged) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	all, bad := plan.Layout(*p)
	return complete && (bad != nil || len(all) == len(nodes)), nil
}

// mendTokens has the tokens of a task's versions open them again, and returns the newest version of each agent.
func (s *Plans) mendTokens(tx Tx, r taskRow) (versions map[string]int, err error) {
	type opening struct {
		n      int64
		tokens []thread.Token
	}
	var all []opening
	versions = map[string]int{}
	err = tx.Query("SELECT n, agent, version, token, doc FROM plan_handover WHERE task = ?", []any{r.n}, func(scan Scan) error {
		var o opening
		var agent, token string
		var version int
		var doc []byte
		if err := scan(&o.n, &agent, &version, &token, &doc); err != nil {
			return err
		}
		versions[agent] = max(versions[agent], version)
		h := plan.HandOver{}
		_ = json.Unmarshal(doc, &h) // one that is damaged has no files
		h.Token = thread.Token(token)
		o.tokens = h.Tokens()
		all = append(all, o)
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, o := range all {
		if err := s.d.addTokens(tx, o.n, o.tokens); err != nil {
			return nil, err
		}
	}
	return versions, nil
}
