package ui

import (
	"fmt"
	"path/filepath"

	"orchestrator/thread"
	"orchestrator/ui/dialog"
	"orchestrator/ui/diff"
	"orchestrator/ui/field"
	"orchestrator/ui/intent"

	tea "charm.land/bubbletea/v2"
)

// inView acts in the main pane while it has the keys.
func (m *Model) inView(a intent.Action) (tea.Cmd, bool) {
	if m.screen.area != areaMain {
		return nil, false
	}
	if a == intent.Search {
		m.typing = &typing{what: intent.Search, field: field.New("")}
		return nil, true
	}
	switch m.viewScope() {
	case intent.Timeline:
		return m.inTimeline(a)
	case intent.Turn:
		return m.inTurn(a)
	case intent.Diff:
		return m.inDiff(a)
	default:
		return nil, m.views.detail.Handle(a)
	}
}

func (m *Model) inTimeline(a intent.Action) (tea.Cmd, bool) {
	tl := m.views.timeline
	if tl.Handle(a) {
		return m.loadTimeline(), true
	}
	cp := tl.Selected()
	if cp == nil {
		return nil, false
	}
	switch a {
	case intent.Open:
		m.views.reading = true
		return m.loadTurn(tl.Thread(), *cp), true
	case intent.ForkAt:
		m.openFork(pointOf(*cp))
	case intent.Rewind:
		return m.openRewind(cp.ID, cp.Turn), true
	case intent.ShowDiff:
		m.views.now = viewDiff
		return m.loadDiff(tl.Thread(), diff.OfTurn(cp.Turn)), true
	case intent.Compare:
		if from, to, both := tl.Mark(); both {
			m.views.now = viewDiff
			return m.loadDiff(tl.Thread(), diff.Between(from, to)), true
		}
	default:
		return nil, false
	}
	return nil, true
}

func pointOf(cp thread.Checkpoint) dialog.Point {
	p := dialog.Point{At: string(cp.ID), Text: fmt.Sprintf("turn %d", cp.Turn), Inside: !cp.Whole()}
	if p.Inside {
		p.Text = "a response of " + p.Text
	}
	return p
}

func (m *Model) inTurn(a intent.Action) (tea.Cmd, bool) {
	id, at, n := m.views.turn.At()
	switch a {
	case intent.Leave:
		m.views.reading = false
	case intent.Older, intent.Newer:
		dir := 1
		if a == intent.Older {
			dir = -1
		}
		if cp := m.views.timeline.Step(n, dir); cp != nil {
			m.views.timeline.Select(cp.ID)
			return tea.Batch(m.loadTurn(id, *cp), m.loadTimeline()), true
		}
	case intent.ForkAt:
		cp := thread.Checkpoint{ID: at, Turn: n}
		if in := m.views.timeline.Selected(); in != nil && in.ID == at {
			cp = *in
		}
		m.openFork(pointOf(cp))
	case intent.Rewind:
		return m.openRewind(at, n), true
	default:
		return nil, m.views.turn.Handle(a)
	}
	return nil, true
}

func (m *Model) inDiff(a intent.Action) (tea.Cmd, bool) {
	v := m.views.diff
	s := m.tree.Selected()
	switch a {
	case intent.Base:
		if s != nil && v.Range().Turn == 0 && s.Turn > 0 {
			return m.loadDiff(s.ID, diff.OfTurn(s.Turn)), true
		}
		if s != nil {
			return m.loadDiff(s.ID, baseOf(s)), true
		}
	case intent.Older, intent.Newer:
		if s == nil {
			return nil, true
		}
		turn := v.Range().Turn
		if turn == 0 {
			turn = s.Turn + 1
		}
		if turn += step(a); turn >= 1 && turn <= s.Turn {
			return m.loadDiff(s.ID, diff.OfTurn(turn)), true
		}
	case intent.Editor:
		if s != nil && v.File() != "" && filepath.IsLocal(v.File()) {
			return m.edit(filepath.Join(s.Dir, v.File())), true
		}
	default:
		return nil, v.Handle(a)
	}
	return nil, true
}

func step(a intent.Action) int {
	if a == intent.Older {
		return -1
	}
	return 1
}

// baseOf is what the diff view begins with.
func baseOf(*thread.Status) diff.Range { return diff.BaseToNow() }

func (m *Model) reloadDiff() tea.Cmd {
	if s := m.tree.Selected(); s != nil && m.views.diff.Thread() == s.ID && m.views.now == viewDiff {
		return m.loadDiff(s.ID, m.views.diff.Range())
	}
	return nil
}
