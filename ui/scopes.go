package ui

import (
	"orchestrator/ui/intent"
	"orchestrator/ui/views"
)

// scopes returns the active scopes, innermost first.
func (m *Model) scopes() []intent.Scope {
	switch {
	case m.dialogs.Open():
		return []intent.Scope{m.dialogs.Top().Scope(), intent.Global}
	case m.statusInput != nil:
		return []intent.Scope{intent.Field, intent.Global}
	case m.scrolling.On():
		return []intent.Scope{intent.Scroll}
	case m.screen.area == areaMain && m.views.Now() == views.Terminal:
		return []intent.Scope{intent.Terminal}
	}
	var out []intent.Scope
	if _, q := m.questions.Current(); q != nil && m.screen.area == areaTree {
		out = append(out, intent.Question)
	}
	if m.offers.Current() != nil {
		out = append(out, intent.Offer)
	}
	if m.screen.area == areaTree {
		return append(out, intent.Tree, intent.Global)
	}
	if m.views.Searched() {
		out = append(out, intent.Searching)
	}
	return append(out, m.views.Scope(), intent.Global)
}
