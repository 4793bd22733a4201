package tasks

import (
	"encoding/json"
	"strings"

	"orchestrator/thread"
	"orchestrator/thread/api"
	"orchestrator/thread/plan"
	"orchestrator/thread/wave"
	"orchestrator/ui/dialog"
	"orchestrator/ui/field"
	"orchestrator/ui/host"

	tea "charm.land/bubbletea/v2"
)

// fields are those of a task.
type fields struct{ title, body, plan, agent *dialog.Input }

func newFields() fields {
	return fields{
		title: &dialog.Input{Label: "Title", Hint: "What is to be done"},
		body:  &dialog.Input{Label: "More", Hint: "All that there is to say about it (optional)", Rows: 6, Text: field.Field{Multi: true}},
		plan:  &dialog.Input{Label: "Plan", Hint: "one agent does all of it"},
		agent: &dialog.Input{Label: "Agent", Hint: "as configured"},
	}
}

// inputs returns them. What works on a task is said where no plan says it.
func (f fields) inputs() []*dialog.Input {
	f.agent.Hidden = func() bool { return value(f.plan) != "" }
	return []*dialog.Input{f.title, f.body, f.plan, f.agent}
}

func value(in *dialog.Input) string { return strings.TrimSpace(in.Text.Value()) }

// vars are the variables of a task without a plan.
func (f fields) vars() map[string]json.RawMessage {
	if value(f.plan) != "" || value(f.agent) == "" {
		return map[string]json.RawMessage{}
	}
	raw, err := json.Marshal(value(f.agent))
	if err != nil {
		return map[string]json.RawMessage{} // a text can always be marshalled
	}
	return map[string]json.RawMessage{plan.SingleAgent: raw}
}

const noTitle = "Say in a few words what is to be done"

// Add asks for a task to add.
func (f *Feature) Add() tea.Cmd {
	in := newFields()
	f.Dialogs.Push(dialog.NewForm("new task", func() (dialog.Result, string) {
		q := wave.AddRequest{Title: value(in.title), Body: in.body.Text.Value(), Plan: value(in.plan), Vars: in.vars()}
		if q.Title == "" {
			return nil, noTitle
		}
		return host.Do(func() tea.Cmd { return f.add(q) }), ""
	}, in.inputs()...).Verb("add"))
	return nil
}

func (f *Feature) add(q wave.AddRequest) tea.Cmd {
	return host.Call(f.Host, host.Quick, api.AddTask.On(f.Server, q), func(t plan.Task, err error) tea.Cmd {
		if err != nil {
			return f.Fail("add a task", err)
		}
		return tea.Batch(f.look(t.Name), f.Notify(thread.LevelInfo, t.Name+" waits until it is begun, or its plan takes it"))
	})
}

// Edit asks for what is to change of a task that waits. Its body is read in full before.
func (f *Feature) Edit(t plan.Task) tea.Cmd {
	return host.Call(f.Host, host.Quick, api.Tasks.On(f.Server, wave.ListRequest{Task: t.Name}), func(list []plan.Task, err error) tea.Cmd {
		if err != nil {
			return f.Fail("read "+t.Name, err)
		}
		f.edit(list[0])
		return nil
	})
}

func (f *Feature) edit(t plan.Task) {
	in := newFields()
	in.title.Text.Set(t.Title)
	in.body.Text.Set(t.Body)
	in.plan.Text.Set(t.PlanName)
	in.agent.Text.Set(plan.Plain(t.Vars[plan.SingleAgent]))
	accept := dialog.YesNo("Accept", false, "it stays a proposal")
	accept.Options[1].Note = "it waits as others do: its plan takes it if that is armed"
	accept.Hidden = func() bool { return t.Status != plan.Proposed }
	f.Dialogs.Push(dialog.NewForm("edit "+t.Name, func() (dialog.Result, string) {
		title, body, name := value(in.title), in.body.Text.Value(), value(in.plan)
		if title == "" {
			return nil, noTitle
		}
		q := wave.EditRequest{Task: t.Name, Title: &title, Body: &body, Plan: &name, Accept: accept.Pick == 1}
		if name != t.PlanName || name == "" { // else it keeps the variables of its plan
			q.Vars = in.vars()
		}
		return host.Do(func() tea.Cmd { return f.edited("edit "+t.Name, t.Name+" is changed", q) }), ""
	}, append(in.inputs(), accept)...).Verb("change"))
}
