// Package search finds threads by what was said in them, and the turns that changed a file.
package search

import (
	"fmt"

	"orchestrator/thread"
	"orchestrator/thread/api"
	"orchestrator/ui/dialog"
	"orchestrator/ui/host"
	"orchestrator/ui/intent"
	"orchestrator/ui/plain"

	tea "charm.land/bubbletea/v2"
)

// most is the number of hits to ask for.
const most = 100

// Feature searches.
type Feature struct {
	*host.Host
	// visit shows a hit.
	visit func(thread.Hit) tea.Cmd

	open *dialog.Picker // the search dialog, open or closed
	gen  int            // counts queries: late results are dropped
}

// New adds the feature to a host.
func New(h *host.Host, visit func(thread.Hit) tea.Cmd) *Feature {
	f := &Feature{Host: h, visit: visit}
	h.Actions.On(intent.Find, func() tea.Cmd {
		f.open = dialog.NewSearch("find")
		h.Dialogs.Push(f.open)
		return nil
	})
	return f
}

// Typed searches for the text in the picker, if the picker is that of the search.
func (f *Feature) Typed(p *dialog.Picker) tea.Cmd {
	if p != f.open {
		return nil
	}
	f.gen++
	gen, q := f.gen, p.Query()
	return host.Call(f.Host, host.Quick, api.Find.On(f.Server, api.FindRequest{Query: q, Limit: most}),
		func(hits []thread.Hit, err error) tea.Cmd {
			if gen == f.gen {
				p.SetItems(f.items(p.Query(), hits, err))
			}
			return nil
		})
}

// items turns hits into items of the picker.
func (f *Feature) items(query string, hits []thread.Hit, err error) ([]dialog.Item, string) {
	if err != nil {
		return nil, err.Error()
	}
	var items []dialog.Item
	for _, h := range hits {
		note := h.Where
		if h.Turn > 0 {
			note = fmt.Sprintf("%s, turn %d", h.Where, h.Turn)
		}
		items = append(items, dialog.Item{Title: f.name(h), Note: note, Detail: plain.First(h.Snippet),
			Result: host.Do(func() tea.Cmd { return f.visit(h) })})
	}
	if query == "" {
		return nil, "Type to search names, prompts, answers and changed files"
	}
	return items, "No matches"
}

// name returns the display name of a hit's thread.
func (f *Feature) name(h thread.Hit) string {
	if f.Threads.Thread(h.Thread) == nil {
		return h.Name
	}
	return f.Name(h.Thread)
}
