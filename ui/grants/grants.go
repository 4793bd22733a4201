// Package grants changes what a thread's agent may do with other threads.
package grants

import (
	"slices"
	"strings"

	"orchestrator/thread"
	"orchestrator/thread/api"
	"orchestrator/thread/grant"
	"orchestrator/ui/dialog"
	"orchestrator/ui/host"
	"orchestrator/ui/intent"

	tea "charm.land/bubbletea/v2"
)

// Feature changes grants.
type Feature struct {
	*host.Host
}

// Register adds the feature to a host.
func Register(h *host.Host) {
	f := &Feature{h}
	h.Actions.OnThread(intent.Grants, f.open)
}

// open opens the form with the grants of a thread.
func (f *Feature) open(s *thread.Status) tea.Cmd {
	id, was := s.ID, slices.Clone(s.Grants)
	all := grant.All()
	inputs := make([]*dialog.Input, len(all))
	for i, m := range all {
		inputs[i] = dialog.YesNo(string(m.Grant), grant.Of(was, m.Grant) != "", m.May)
	}
	f.Dialogs.Push(dialog.NewForm("grants of "+f.Name(s.ID), func() (dialog.Result, string) {
		var add, remove []thread.Grant
		for i, m := range all {
			switch had := grant.Of(was, m.Grant) != ""; {
			case inputs[i].On() && !had:
				add = append(add, m.Grant)
			case !inputs[i].On() && had:
				remove = append(remove, m.Grant)
			}
		}
		return host.Do(func() tea.Cmd { return f.change(id, add, remove) }), ""
	}, inputs...).Verb("save"))
	return nil
}

func (f *Feature) change(id thread.ID, add, remove []thread.Grant) tea.Cmd {
	if len(add)+len(remove) == 0 {
		return nil
	}
	var parts []string
	if len(add) > 0 {
		parts = append(parts, "added "+grant.Format(add))
	}
	if len(remove) > 0 {
		parts = append(parts, "removed "+grant.Format(remove))
	}
	return f.Change("change grants", "Grants of "+f.Name(id)+": "+strings.Join(parts, ", "),
		api.SetGrants.Command().On(f.Server, api.GrantsRequest{Thread: string(id), Add: add, Remove: remove}), nil)
}
