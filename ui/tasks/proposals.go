package tasks

import (
	"slices"

	"orchestrator/thread"
	"orchestrator/thread/api"
	"orchestrator/thread/plan"
	"orchestrator/thread/wave"
	"orchestrator/ui/dialog"
	"orchestrator/ui/host"
	"orchestrator/ui/plain"
	"orchestrator/ui/theme"

	tea "charm.land/bubbletea/v2"
)

// proposed is what came of a text.
type proposed struct {
	of   plan.Task
	list []plan.Task
}

// fill shows what came of a text. Who has left meanwhile is told.
func (f *Feature) fill(into *dialog.Picker, p proposed, err error) tea.Cmd {
	if err != nil {
		into.Fill(nil, err.Error())
		return f.Fail("split the text", err)
	}
	list := slices.Clone(p.list)
	slices.Reverse(list) // as they stand in the text
	var items []dialog.Item
	for i, t := range list {
		items = append(items, dialog.Item{Title: plain.Line(t.Title), Note: by(t), Detail: plain.First(t.Body), Result: host.Do(func() tea.Cmd { return f.open(list[i]) })})
	}
	if len(list) > 1 {
		items = append(items, dialog.Item{Title: "Begin all " + plain.Count(len(list), "task"), Acts: true, Result: host.Do(func() tea.Cmd { return f.StartAll(p.list) })})
	}
	into.Fill(items, "There is no task in the text")
	all := []tea.Cmd{f.look(p.of.Name), f.Notify(thread.LevelInfo, p.of.Reason+": nothing of it has begun")}
	for _, t := range list {
		all = append(all, f.look(t.Name))
	}
	return tea.Batch(all...)
}

// by is what would work on a proposal.
func by(t plan.Task) string {
	if t.PlanName != "" {
		return "plan " + plain.Line(t.PlanName)
	}
	if a := plan.Plain(t.Vars[plan.SingleAgent]); a != "" {
		return plain.Line(a)
	}
	return ""
}

// open shows a proposal as it is now, in full, with what can be done with it.
func (f *Feature) open(t plan.Task) tea.Cmd {
	return host.Call(f.Host, host.Quick, api.Tasks.On(f.Server, wave.ListRequest{Task: t.Name}), func(list []plan.Task, err error) tea.Cmd {
		if err != nil {
			return f.Fail("read "+t.Name, err)
		}
		f.show(list[0])
		return nil
	})
}

func (f *Feature) show(t plan.Task) {
	body := []dialog.Line{{Text: plain.Line(t.Title), Tok: theme.Text}, {}}
	for _, l := range plain.Lines(t.Body) {
		body = append(body, dialog.Line{Text: l})
	}
	if who := by(t); who != "" {
		body = append(body, dialog.Line{}, dialog.Line{Text: who, Tok: theme.Muted})
	}
	choices := []dialog.Choice{dialog.Cancel("Leave it")}
	if t.Status == plan.Proposed || t.Status == plan.Pending {
		choices = append(choices,
			dialog.Choice{Label: "Edit", Result: host.Do(func() tea.Cmd { f.edit(t); return nil })},
			dialog.Choice{Label: "Begin", Read: true, Result: host.Do(func() tea.Cmd { return f.Start(t) })},
			dialog.Choice{Label: "Remove", Danger: true, Result: host.Do(func() tea.Cmd { return f.cancel(t.Name) })})
	} else {
		body = append(body, dialog.Line{}, dialog.Line{Text: "It is " + string(t.Status) + ".", Tok: theme.Muted})
	}
	f.Dialogs.Push(dialog.NewAsk(t.Name, body, choices...))
}

// StartAll begins all that is proposed, once the person has agreed to that: each costs.
func (f *Feature) StartAll(list []plan.Task) tea.Cmd {
	var body []string
	for _, t := range slices.Backward(list) {
		body = append(body, t.Name+"  "+plain.Line(t.Title))
	}
	f.Dialogs.Push(dialog.NewAsk("begin all "+plain.Count(len(list), "task")+"?", dialog.Plain(body...), dialog.Cancel("Leave them"),
		dialog.Choice{Label: "Begin all", Read: true, Result: host.Do(func() tea.Cmd { return f.begin(list) })}))
	return nil
}
