// Package why explains the state of a thread by listing its evidence and where each piece comes from.
package why

import (
	"fmt"

	"orchestrator/thread"
	"orchestrator/thread/api"
	"orchestrator/ui/dialog"
	"orchestrator/ui/host"
	"orchestrator/ui/intent"
	"orchestrator/ui/plain"
	"orchestrator/ui/theme"
	"orchestrator/ui/tree"

	tea "charm.land/bubbletea/v2"
)

// Feature explains states.
type Feature struct {
	*host.Host
	// offer returns the offered fork, which is explained too.
	offer func() *thread.Offer
}

// Register adds the feature to a host.
func Register(h *host.Host, offer func() *thread.Offer) {
	f := &Feature{h, offer}
	h.Actions.OnThread(intent.Why, f.open)
}

func (f *Feature) open(s *thread.Status) tea.Cmd {
	d := dialog.NewText("why "+tree.LookOfState(s.State.State).Word+"?", dialog.Plain("…"))
	f.Dialogs.Push(d)
	return host.Call(f.Host, host.Quick, api.Why.On(f.Server, api.Ref{Thread: string(s.ID)}),
		func(r thread.StateReport, err error) tea.Cmd {
			d.Set(f.explain(r, err))
			return nil
		})
}

// explain lists the evidence for a thread's state.
func (f *Feature) explain(r thread.StateReport, err error) []dialog.Line {
	if err != nil {
		return []dialog.Line{{Text: err.Error(), Tok: theme.Bad}}
	}
	look := tree.LookOfReport(r)
	body := []dialog.Line{{Text: look.Glyph + " " + look.Word, Tok: look.Style}}
	if !r.Since.IsZero() {
		body[0].Text += ", for " + thread.Elapsed(f.Clock().Sub(r.Since))
	}
	body = append(body, dialog.Line{})
	for i, e := range r.Evidence {
		mark, tok := "  ", theme.Muted
		if i == 0 {
			mark, tok = "▸ ", theme.Text
		}
		age := ""
		if !e.At.IsZero() {
			age = " (" + thread.Elapsed(f.Clock().Sub(e.At)) + " ago)"
		}
		if e.Source == thread.SourcePrompt {
			body = append(body, dialog.Line{Text: "  prompt " + e.Detail + age, Tok: theme.Muted})
			continue
		}
		word := tree.LookOfState(e.State).Word
		body = append(body, dialog.Line{Tok: tok,
			Text: fmt.Sprintf("%s%s says %s: %s%s", mark, sourceName(e.Source), word, e.Detail, age)})
	}
	if r.Screen != "" {
		body = append(body, dialog.Line{}, dialog.Line{Text: "Last lines on its screen:", Tok: theme.Muted})
		for _, l := range plain.Lines(r.Screen) {
			body = append(body, dialog.Line{Text: "  " + l})
		}
	}
	if len(r.Evidence) == 0 {
		body = append(body, dialog.Line{Text: "There is no evidence for any other state.", Tok: theme.Muted})
	}
	for _, note := range r.Notes {
		body = append(body, dialog.Line{}, dialog.Line{Text: note, Tok: theme.Warn})
	}
	body = append(body, dialog.Line{}, dialog.Line{Tok: theme.Muted,
		Text: "The first source decides. Silence means unknown, never idle."})
	if o := f.offer(); o != nil {
		body = append(body, dialog.Line{}, dialog.Line{Text: "Fork offered: " + o.Label, Tok: theme.Accent},
			dialog.Line{Text: "because " + o.Why}, dialog.Line{Text: "rule: " + o.Rule, Tok: theme.Muted})
	}
	return body
}
