package palette

import (
	"fmt"
	"slices"
	"strings"

	"orchestrator/thread"
	"orchestrator/thread/api"
	"orchestrator/ui/dialog"
	"orchestrator/ui/host"
	"orchestrator/ui/plain"

	tea "charm.land/bubbletea/v2"
)

const (
	// mostTurns is how many of a thread's newest turns can be gone to by their prompts, mostPast how many texts are
	// remembered, and mostFiles how many changed files are shown.
	mostTurns = 500
	mostPast  = 50
	mostFiles = 50
)

// Feature goes to what has a name.
type Feature struct {
	*host.Host
	cfg   Config
	open  *dialog.Picker // open or closed
	past  []string
	turns []thread.Checkpoint // of the selected thread
	asked bool                // they were asked for
}

// jump opens the field.
func (f *Feature) jump() tea.Cmd {
	f.open = dialog.NewSearch("go to")
	f.open.Past = f.past
	f.turns, f.asked = nil, false
	f.Dialogs.Push(f.open)
	return f.Typed(f.open)
}

// Typed shows what the text in the picker leads to, if it is the one that goes.
func (f *Feature) Typed(p *dialog.Picker) tea.Cmd {
	if p != f.open || p == nil {
		return nil
	}
	query := strings.ToLower(strings.TrimLeft(p.Query(), " :"))
	if of, asked := wantsTurn(query); asked {
		return f.showTurns(of)
	}
	if of, asked := strings.CutPrefix(query, "file "); asked {
		return f.findFile(strings.TrimSpace(of))
	}
	f.set(ranked(entries(f.Host, f.cfg), strings.TrimSpace(query)), "No matches")
	return nil
}

// showTurns shows turns of the selected thread, which are loaded once.
func (f *Feature) showTurns(of string) tea.Cmd {
	s, p := f.Threads.Selected(), f.open
	if s == nil || s.Turn == 0 {
		f.set(nil, "No turns yet")
		return nil
	}
	if f.asked {
		f.set(turnItems(f.turns, of, f.cfg.Visit), "No such turn")
		return nil
	}
	f.asked = true
	f.set(nil, "Loading …")
	return host.Call(f.Host, host.Quick,
		api.Timeline.On(f.Server, api.TimelineRequest{Thread: string(s.ID), Page: thread.Page{Turns: true, Limit: mostTurns}}),
		func(turns []thread.Checkpoint, err error) tea.Cmd {
			switch {
			case p != f.open:
			case err != nil:
				f.set(nil, err.Error())
			default:
				f.turns = turns
				return f.Typed(p)
			}
			return nil
		})
}

// findFile shows the turns that changed files last, those of the selected thread first.
func (f *Feature) findFile(of string) tea.Cmd {
	p := f.open
	query := p.Query()
	return host.Call(f.Host, host.Quick, api.Find.On(f.Server, api.FindRequest{Query: of, Files: true, Limit: mostFiles}),
		func(hits []thread.Hit, err error) tea.Cmd {
			if p != f.open || p.Query() != query {
				return nil
			}
			if err != nil {
				f.set(nil, err.Error())
				return nil
			}
			var items, others []dialog.Item
			for _, h := range hits {
				it := dialog.Item{Title: h.Snippet, Note: fmt.Sprintf("%s, turn %d", plain.Cut(plain.Line(f.Name(h.Thread)), 24), h.Turn),
					Fill: "file " + h.Snippet, Result: host.Do(func() tea.Cmd { return f.cfg.Visit(h) })}
				if s := f.Threads.Selected(); s != nil && s.ID == h.Thread {
					items = append(items, it)
				} else {
					others = append(others, it)
				}
			}
			items = append(items, others...)
			f.set(items, "No turn changed such a file")
			return nil
		})
}

// set shows items; each that is picked is remembered.
func (f *Feature) set(items []dialog.Item, status string) {
	for i, it := range items {
		if do, ok := it.Result.(host.Do); ok {
			items[i].Result = host.Do(func() tea.Cmd {
				f.remember(it.Fill)
				return do()
			})
		}
	}
	f.open.SetItems(items, status)
}

func (f *Feature) remember(text string) {
	if text == "" {
		text = f.open.Query()
	}
	f.past = slices.DeleteFunc(f.past, func(t string) bool { return t == text })
	f.past = append(f.past, text)
	f.past = f.past[max(len(f.past)-mostPast, 0):]
}
