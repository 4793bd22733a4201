package views

import (
	"fmt"
	"strings"

	"orchestrator/thread"
	"orchestrator/thread/api"
	contextview "orchestrator/ui/context"
	"orchestrator/ui/dialog"
	"orchestrator/ui/host"
	"orchestrator/ui/intent"
	"orchestrator/ui/plain"
	"orchestrator/ui/theme"

	tea "charm.land/bubbletea/v2"
)

// summaries has the dialog for summaries in the context view.
type summaries struct {
	*host.Host
	view *contextview.Model
	// change makes a change, and says what was done. follow loads the context if it is out of date.
	change func(task, done string, c thread.ContextChange) tea.Cmd
	follow func() tea.Cmd
}

// mostSummary is how many lines of a summary are laid out.
const mostSummary = 500

// ask shows the newest summary of a thread, and what another one would mean.
func (f *summaries) ask(s *thread.Status) tea.Cmd {
	id, name, r := s.ID, f.Name(s.ID), f.view.Report()
	choices := []dialog.Choice{dialog.Cancel("Close")}
	var body []dialog.Line
	if o := r.Offer; o != nil {
		body = append(body, offered(*o)...)
		for _, by := range []struct {
			label, doing string
			author       thread.SummaryAuthor
		}{
			{"Write summary", "the summary is being written", "default"},
			{"Extract only", "an extract is being made", thread.ByExtract},
		} {
			choices = append(choices, dialog.Choice{Label: by.label, Result: host.Do(func() tea.Cmd {
				return tea.Batch(f.Notify(thread.LevelInfo, f.Name(id)+": "+by.doing), f.summarise(id, by.author))
			})})
		}
	}
	if sum, ok := newestSummary(r); ok {
		if len(body) > 0 {
			body = append(body, dialog.Line{})
		}
		body = append(body, summaryLines(sum)...)
		choices = append(choices, dialog.Choice{Label: "Drop", Danger: true, Result: host.Do(func() tea.Cmd {
			return f.change("drop the summary", "Dropped: everything is sent again from the next request on, with one cache write",
				thread.ContextChange{Thread: string(id), DropSummary: sum.ID})
		})})
	}
	if len(body) == 0 {
		return f.Notify(thread.LevelInfo, "No older turns can be summarised now")
	}
	f.Dialogs.Push(dialog.NewAsk("summary of older turns of "+name, body, choices...).
		Until(func() string { return f.Gone(id, name) }))
	return nil
}

// summarise has a summary written. That takes a while, in which the view goes on as before.
func (f *summaries) summarise(id thread.ID, by thread.SummaryAuthor) tea.Cmd {
	change := thread.ContextChange{Thread: string(id), Summarise: by}
	return host.Call(f.Host, host.Slow, api.ChangeContext.On(f.Server, change),
		func(_ thread.ContextReport, err error) tea.Cmd {
			if f.view.Thread() == id {
				f.view.Stale()
			}
			if err != nil {
				return tea.Batch(f.Fail("summarise "+f.Name(id), err), f.follow())
			}
			return tea.Batch(f.follow(), f.Notify(thread.LevelInfo, f.Name(id)+": "+f.ready(id)))
		})
}

// ready returns from when on a summary is used, and how a prompt that was not answered goes out again.
func (f *summaries) ready(id thread.ID) string {
	said := "Summary ready; used from the next prompt."
	if s := f.Threads.Thread(id); s != nil {
		for _, p := range s.Prompts {
			if p.State.Again() {
				said += fmt.Sprintf(" %s sends “%s” again", f.Keys.KeyOf(intent.Prompts), plain.Cut(plain.First(p.Text), 30))
				break
			}
		}
	}
	return said
}

// newestSummary returns the newest summary that was not dropped.
func newestSummary(r thread.ContextReport) (thread.ContextSummary, bool) {
	for i := len(r.Summaries) - 1; i >= 0; i-- {
		if !r.Summaries[i].Dropped {
			return r.Summaries[i], true
		}
	}
	return thread.ContextSummary{}, false
}

// offered returns what a summary would mean.
func offered(o thread.SummaryOffer) []dialog.Line {
	cost := "By the model: ?. Extract: free."
	if o.Priced {
		cost = "By the model: about " + thread.USD(o.CostUSD) + ". Extract: free."
	}
	return dialog.Plain(
		fmt.Sprintf("A summary of %s would free %s tokens.", plain.Count(o.Turns, "older turn"), thread.Tokens(o.Frees)), cost,
		"Nothing is lost: the agent can read all of it, and you can drop the summary.")
}

// summaryLines shows a summary.
func summaryLines(s thread.ContextSummary) []dialog.Line {
	by := "An extract"
	if s.Source != "" {
		by = "A summary by " + plain.Line(s.Source)
	}
	state := "is stored, but not in the last request."
	if s.Stands {
		state = "is sent."
	}
	out := []dialog.Line{{Text: fmt.Sprintf("%s, %s tokens in place of %s, %s",
		plain.Cut(by, 80), thread.Tokens(s.Tokens), thread.Tokens(s.Replaced), state), Tok: theme.Strong}, {}}
	lines := plain.Lines(strings.TrimSpace(s.Text))
	for i, l := range lines {
		if i == mostSummary {
			out = append(out, dialog.Line{Text: "… there is more: `orchestrator context summary`", Tok: theme.Muted})
			break
		}
		tok := theme.Text
		if strings.HasPrefix(l, "## ") {
			tok = theme.Heading
		}
		out = append(out, dialog.Line{Text: l, Tok: tok})
	}
	if s.File != "" {
		out = append(out, dialog.Line{}, dialog.Line{Text: "All of it: " + s.File, Tok: theme.Muted})
	}
	return out
}
