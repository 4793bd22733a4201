package work

import (
	"fmt"
	"slices"
	"testing"

	"orchestrator/thread/record"
	"orchestrator/thread/work"
)

func names(all []node) (out []string) {
	for _, n := range all {
		name := "(none)"
		switch {
		case n.row != nil:
			name = n.row.Execution
		case n.task != nil:
			name = n.task.Title
		case n.session != nil:
			name = n.session.Session.Name
		}
		out = append(out, fmt.Sprintf("%d %s", n.depth, name))
	}
	return out
}

// TestNodes: sessions, tasks and executions, the newest first; what a native one was started by stands above it; a row comes
// once, also where rows name each other.
func TestNodes(t *testing.T) {
	row := func(id, task string, parent work.ID) work.Row {
		return work.Row{ID: work.ID(id), Execution: id, Task: task, Parent: parent}
	}
	s := record.SessionGlance{
		Session: work.Session{Name: "search"}, Sum: work.Stat{Runs: 7},
		Tasks: []work.Task{{Title: "one"}, {Title: "two"}},
		Executions: []work.Row{
			row("f", "new", ""), row("e", "two", "d"), row("d", "two", ""), row("c", "", ""), row("b", "one", "gone"),
			row("x", "one", "y"), row("y", "one", "x"), row("z", "one", "z"),
		},
	}
	g := record.Glance{Sessions: []record.SessionGlance{s, {Session: work.Session{Name: "old"}}}, Loose: []work.Row{row("l", "", "")}}
	for name, c := range map[string]struct {
		folds folds
		want  []string
	}{
		"as it begins": {folds{}, []string{"0 search", "1 new", "2 f", "1 two", "2 d", "3 e", "1 one", "2 b", "2 z", "2 x", "3 y", "1 c", "0 old", "0 (none)"}},
		"folded":       {folds{"search": false}, []string{"0 search", "0 old", "0 (none)"}},
		"a task, and what is in none": {folds{"search\x00two": false, "": true},
			[]string{"0 search", "1 new", "2 f", "1 two", "1 one", "2 b", "2 z", "2 x", "3 y", "1 c", "0 old", "0 (none)", "1 l"}},
	} {
		if got := names(nodes(g, c.folds, "search")); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	if got := names(nodes(record.Glance{Loose: g.Loose}, folds{}, "")); !slices.Equal(got, []string{"0 (none)", "1 l"}) {
		t.Errorf("without work sessions: %q", got)
	}
	if got := nodes(record.Glance{}, folds{}, ""); len(got) != 0 {
		t.Errorf("nothing: %q", names(got))
	}
}
