package wave

import (
	"orchestrator/thread"
	"orchestrator/thread/api"
	"orchestrator/thread/plan"
	"orchestrator/thread/wave"
	"orchestrator/ui/dialog"
	"orchestrator/ui/host"
	"orchestrator/ui/intent"
	"orchestrator/ui/plain"

	tea "charm.land/bubbletea/v2"
)

// acts does what a menu offers.
type acts struct{ src *source }

// menu opens the menu of what can be done with a task, and with a node of it.
func (f *acts) menu(t plan.Task, n *wave.NodeView) tea.Cmd {
	others := f.src.cfg.Acts
	can := map[intent.Action]menuItem{}
	offer := func(a intent.Action, text string, do func() tea.Cmd) { can[a] = menuItem{text, do} }
	waits := t.Status == plan.Pending || t.Status == plan.Proposed
	if others.Add != nil {
		offer(intent.New, "add a task", others.Add)
	}
	if others.Split != nil {
		offer(intent.SplitText, "split a text into tasks", others.Split)
	}
	if others.Edit != nil && waits {
		offer(intent.EditTask, "edit "+t.Name, func() tea.Cmd { return others.Edit(t) })
	}
	if others.Start != nil && waits {
		offer(intent.BeginTask, "begin "+t.Name, func() tea.Cmd { return others.Start(t) })
	}
	if all := f.proposed(); others.StartAll != nil && len(all) > 0 {
		offer(intent.BeginAll, "begin what is proposed: "+plain.Count(len(all), "task"), func() tea.Cmd { return others.StartAll(all) })
	}
	if n != nil && n.Agent != "" && !n.Gate && n.Round > 0 {
		offer(intent.RetryNode, "begin "+plain.Line(n.Agent)+" again", func() tea.Cmd { return f.ask(wave.RetryRequest{Task: t.Name, Agent: n.Agent}) })
		offer(intent.RetryFrom, "begin "+plain.Line(n.Agent)+" again, and all that follows on it", func() tea.Cmd {
			return f.ask(wave.RetryRequest{Task: t.Name, Agent: n.Agent, From: true})
		})
	}
	if s, known := f.src.of(t.Name); known && s.States[plan.NodeFailed]+s.States[plan.NodeCancelled] > 0 {
		offer(intent.RetryFailed, "begin the failed agents of "+t.Name+" again", func() tea.Cmd { return f.ask(wave.RetryRequest{Task: t.Name}) })
	}
	if t.Name != "" && !t.Status.Final() {
		offer(intent.CancelTask, "cancel "+t.Name, func() tea.Cmd { return f.askCancel(t) })
	}
	var items []dialog.MenuItem
	for _, b := range f.src.Keys.Entries(intent.WavesMenu) {
		if it, ok := can[b.Action]; ok {
			items = append(items, dialog.MenuItem{Action: b.Action, Label: b.Label(), Text: it.text, Result: host.Do(it.do)})
		}
	}
	if len(items) == 0 {
		return f.src.Notify(thread.LevelInfo, "Nothing can be done with it now")
	}
	title := t.Name
	if title == "" {
		title = "tasks"
	}
	f.src.Dialogs.Push(dialog.NewMenu(title, intent.WavesMenu, items))
	return nil
}

// menuItem is an entry of the menu.
type menuItem struct {
	text string
	do   func() tea.Cmd
}

// proposed returns the tasks that an agent proposes.
func (f *acts) proposed() (all []plan.Task) {
	for _, s := range f.src.known {
		if s.Task.Status == plan.Proposed {
			all = append(all, s.Task)
		}
	}
	return all
}

// ask asks whether to begin again: it costs, and what read the old hand-over has to be looked at.
func (f *acts) ask(r wave.RetryRequest) tea.Cmd {
	what := "the failed agents"
	if r.Agent != "" {
		what = plain.Line(r.Agent)
	}
	body := "It works once more, and costs once more. What has read what it handed over before is stale then, and does not begin again by itself."
	if r.From {
		what += " and all that follows"
		body = "They work once more, one after the other as the plan says, and cost once more."
	}
	r.Agreed = true
	f.src.Dialogs.Push(dialog.NewAsk("begin again?", dialog.Plain(r.Task+": "+what+".", "", body), dialog.Cancel("Leave it"),
		dialog.Choice{Label: "Begin again", Read: true, Result: host.Do(func() tea.Cmd { return f.again(r, r.Task+": "+what+" begin again") })}))
	return nil
}

func (f *acts) askCancel(t plan.Task) tea.Cmd {
	f.src.Dialogs.Push(dialog.NewAsk("cancel "+t.Name+"?", dialog.Plain(plain.Line(t.Title), "", "What works is stopped, what waits does not begin. What was handed over stays."),
		dialog.Cancel("Leave it"), dialog.Choice{Label: "Cancel it", Danger: true, Read: true, Result: host.Do(func() tea.Cmd { return f.cancel(t.Name) })}))
	return nil
}

// again begins nodes again.
func (f *acts) again(r wave.RetryRequest, said string) tea.Cmd {
	return host.Call(f.src.Host, host.Slow, api.RetryWave.On(f.src.Server, r), func(_ wave.View, err error) tea.Cmd {
		ask := f.src.look(r.Task)
		if err != nil {
			return tea.Batch(ask, f.src.Fail("begin "+r.Task+" again", err))
		}
		return tea.Batch(ask, f.src.Notify(thread.LevelInfo, said))
	})
}

// cancel cancels a task.
func (f *acts) cancel(name string) tea.Cmd {
	return host.Call(f.src.Host, host.Slow, api.CancelWave.On(f.src.Server, wave.TaskRef{Task: name}), func(_ wave.View, err error) tea.Cmd {
		ask := f.src.look(name)
		if err != nil {
			return tea.Batch(ask, f.src.Fail("cancel "+name, err))
		}
		return tea.Batch(ask, f.src.Notify(thread.LevelInfo, name+" is cancelled"))
	})
}
