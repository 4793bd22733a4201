package work

import (
	"slices"

	"orchestrator/thread/record"
	"orchestrator/thread/work"
)

// node is a row of the tree: a work session, a task of it, or an execution. Exactly one of the three is set; tasks and
// executions know their session, too.
type node struct {
	session *record.SessionGlance // nil for what is in none
	task    *work.Task
	row     *work.Row
	head    bool // of what is in no work session
	depth   int
	folds   bool // something can be unfolded below it
	open    bool
	count   int // of what is below
}

// key identifies a node, and what it has folded.
func (n node) key() string {
	name := ""
	if n.session != nil {
		name = n.session.Session.Name
	}
	switch {
	case n.row != nil:
		return name + "\x00\x00" + string(n.row.ID)
	case n.task != nil:
		return name + "\x00" + n.task.Title
	default:
		return name
	}
}

// folds are the nodes that the person has folded or unfolded, by their keys.
type folds map[string]bool

// open reports whether a node is unfolded.
func (f folds) open(key string, usual bool) bool {
	if open, set := f[key]; set {
		return open
	}
	return usual
}

// nodes lays out the record as rows: work sessions, their tasks, and executions, the newest first. What has no work session
// comes last. first is the name of the work session that is unfolded unless the person has folded it.
func nodes(g record.Glance, f folds, first string) []node {
	var out []node
	for i := range g.Sessions {
		s := &g.Sessions[i]
		n := node{session: s, folds: s.Sum.Runs+s.Queued > 0 || len(s.Tasks) > 0, count: s.Sum.Runs + s.Queued}
		n.open = f.open(n.key(), s.Session.Name == first)
		out = append(out, n)
		if n.open {
			out = append(out, inside(s, f)...)
		}
	}
	if len(g.Loose) == 0 {
		return out
	}
	n := node{head: true, folds: true, count: len(g.Loose)}
	n.open = f.open(n.key(), len(g.Sessions) == 0)
	if out = append(out, n); n.open {
		out = append(out, executions(nil, g.Loose, 1)...)
	}
	return out
}

// inside returns what is in a work session: its tasks, the newest first, and executions of none.
func inside(s *record.SessionGlance, f folds) []node {
	byTask := map[string][]work.Row{}
	for _, r := range s.Executions {
		byTask[r.Task] = append(byTask[r.Task], r)
	}
	tasks := slices.Clone(s.Tasks)
	slices.Reverse(tasks)
	for _, r := range s.Executions { // a task that is not written down yet is the newest
		if r.Task != "" && !slices.ContainsFunc(tasks, func(t work.Task) bool { return t.Title == r.Task }) {
			tasks = slices.Insert(tasks, 0, work.Task{Session: s.Session.Name, Title: r.Task, Status: work.TaskPending})
		}
	}
	var out []node
	for i := range tasks {
		of := byTask[tasks[i].Title]
		n := node{session: s, task: &tasks[i], depth: 1, folds: len(of) > 0, count: len(of)}
		n.open = f.open(n.key(), true)
		if out = append(out, n); n.open {
			out = append(out, executions(s, of, 2)...)
		}
	}
	return append(out, executions(s, byTask[""], 1)...)
}

// executions returns some as rows, those that one has started by itself below it.
func executions(s *record.SessionGlance, rows []work.Row, depth int) []node {
	known, below := map[work.ID]bool{}, map[work.ID][]work.Row{}
	for _, r := range rows {
		known[r.ID] = true
	}
	var top []work.Row
	for _, r := range rows {
		if r.Parent != "" && known[r.Parent] && r.Parent != r.ID {
			below[r.Parent] = append(below[r.Parent], r)
			continue
		}
		top = append(top, r)
	}
	var out []node
	shown := map[work.ID]bool{}
	var add func(rows []work.Row, depth int)
	add = func(rows []work.Row, depth int) {
		for i := range rows {
			r := &rows[i]
			if shown[r.ID] {
				continue
			}
			shown[r.ID] = true
			out = append(out, node{session: s, row: r, depth: depth})
			add(below[r.ID], depth+1)
		}
	}
	add(top, depth)
	add(rows, depth) // those that name each other
	return out
}
