package page

import (
	"fmt"
	"io"
	"slices"
	"time"

	"orchestrator/thread"
	"orchestrator/ui/plain"
	"orchestrator/ui/tree"
)

// Thread is a thread of the list.
type Thread struct {
	*thread.Status
	Group thread.Group `json:"group"`
	// SharedWith names the threads that work in the same folder, up to mostShared of them.
	SharedWith []string `json:"sharedWith,omitempty"`
	// SharedMore is how many more there are.
	SharedMore int `json:"sharedMore,omitempty"`
}

// MostShared limits the names of threads in the same folder per row: with 5,000 threads in one folder, there would be
// 25 million names in total.
const MostShared = 50

// sharedWith names the first of them and how many more there are.
func (l Thread) sharedWith() string {
	if l.SharedMore == 0 {
		return plain.Few(l.SharedWith)
	}
	return fmt.Sprintf("%s +%d", l.SharedWith[0], len(l.SharedWith)-1+l.SharedMore)
}

// Threads prints a table of threads. names has the names of all threads, for forks whose parent is not in the
// table; filter is what selected them, "" for nothing.
func Threads(w io.Writer, list []Thread, asTree bool, names map[thread.ID]string, filter string, now time.Time) {
	if len(list) == 0 && filter != "" {
		fmt.Fprintf(w, "no thread is like that: %s\n", plain.Line(filter))
		return
	}
	if len(list) == 0 {
		fmt.Fprintln(w, "no threads yet; `orchestrator new` starts one")
		return
	}
	has := func(f func(Thread) bool) bool { return slices.ContainsFunc(list, f) }
	titles := has(func(s Thread) bool { return s.Title != "" })
	shared := has(func(s Thread) bool { return len(s.SharedWith) > 0 })
	var t Columns
	add := func(name, title string, rest []string, with string) {
		cells := []string{name}
		if titles {
			cells = append(cells, title)
		}
		if cells = append(cells, rest...); shared {
			cells = append(cells, with)
		}
		t.Row(cells...)
	}
	add("THREAD", "TITLE", []string{"AGENT", "GROUP", "STATE", "TURNS", "CONTEXT", "COST", "AGE"}, "SHARED WITH")
	for _, row := range rowsOf(list, asTree) {
		s := row.status
		of := ""
		if asTree && row.branch == "" && names[s.Parent] != "" {
			of = " (of " + names[s.Parent] + ")"
		}
		add(row.branch+s.Name+of, plain.Cut(plain.Line(s.Title), mostTitle),
			[]string{s.Agent, string(s.Group), State(*s.Status), fmt.Sprint(s.Turn), Gauge(s.Gauge),
				Cost(*s.Status), thread.Age(now.Sub(s.Updated))}, s.sharedWith())
	}
	t.Print(w)
	for _, s := range list {
		if q := s.State.Question; q != nil {
			fmt.Fprintf(w, "%s asks: %s\n", s.Name, plain.Cut(plain.Line(q.Line()), mostText))
		}
		if s.Aside != "" {
			fmt.Fprintf(w, "%s: not through the gateway, so that nothing can be masked: %s\n", s.Name, plain.Line(s.Aside))
		}
	}
}

// treeRow is a thread with its tree lines.
type treeRow struct {
	status Thread
	branch string
}

// rowsOf orders threads as a tree, as the screen does, or leaves them as they are.
func rowsOf(list []Thread, asTree bool) []treeRow {
	rows := make([]treeRow, 0, len(list))
	if !asTree {
		for _, s := range list {
			rows = append(rows, treeRow{status: s})
		}
		return rows
	}
	byID := make(map[thread.ID]Thread, len(list))
	all := make([]*thread.Status, len(list))
	for i := range list {
		byID[list[i].ID], all[i] = list[i], list[i].Status
	}
	for _, r := range tree.Rows(all, nil) {
		rows = append(rows, treeRow{status: byID[r.ID], branch: r.Guide})
	}
	return rows
}
