package context

import (
	"strings"
	"testing"

	"orchestrator/thread"
)

// based is a sample whose base is known.
func based() thread.ContextReport {
	r := sample()
	r.Base = 10_000
	r.BaseParts = []thread.BasePart{
		{Kind: thread.BaseSystem, Tokens: 5000}, {Kind: thread.BaseTool, Name: "Workflow", Tokens: 3000, Lever: "workflows"},
		{Kind: thread.BaseInstructions, Name: "/srv/CLAUDE.md", Tokens: 2000},
	}
	return r
}

// TestBaseFolds: the base stands before the results, folded, and opens where the cursor is on it; its rows are no results.
func TestBaseFolds(t *testing.T) {
	m := loaded(t, based())
	if m.Selected() == nil || m.Part() != nil || m.Fold() {
		t.Error("the cursor is not on the newest result at first")
	}
	rows := len(m.list.shown)
	m.Move(-100)
	if m.Selected() != nil || m.Part() != nil {
		t.Error("the base is taken for a result")
	}
	if got := see(t, m, 80, 40); !strings.Contains(got, "▸") || strings.Contains(got, "Workflow") || !strings.Contains(got, "12% of the context") || !strings.Contains(got, "Results 4") {
		t.Errorf("folded:\n%s", got)
	}
	if !m.Fold() || len(m.list.shown) != rows+3 {
		t.Errorf("%d rows, had %d", len(m.list.shown), rows)
	}
	if got := see(t, m, 120, 40); !strings.Contains(got, "▾") || !strings.Contains(got, "30%, can go: workflows") || !strings.Contains(got, "/srv/CLAUDE.md") {
		t.Errorf("open:\n%s", got)
	}
	m.Move(2)
	if p := m.Part(); p == nil || p.Name != "Workflow" || m.Selected() != nil {
		t.Errorf("the second part: %v", p)
	}
	next := based()
	next.BaseParts = append([]thread.BasePart{{Kind: thread.BaseSkills, Tokens: 9000}}, next.BaseParts...)
	load(t, m, State{Run: "2"}, next)
	if p := m.Part(); p == nil || p.Name != "Workflow" {
		t.Errorf("with another report the cursor goes to %v", p)
	}
	m.Move(-100)
	load(t, m, State{Run: "3"}, based())
	if !m.Fold() || len(m.list.shown) != rows {
		t.Errorf("%d rows after folding, had %d", len(m.list.shown), rows)
	}
	m.Search("workflow")
	if p := m.Part(); p == nil || p.Name != "Workflow" {
		t.Errorf("a folded part is not found: %v", p)
	}
}
