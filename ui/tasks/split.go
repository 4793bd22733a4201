package tasks

import (
	"context"
	"fmt"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/api"
	"orchestrator/thread/plan"
	"orchestrator/thread/wave"
	"orchestrator/ui/dialog"
	"orchestrator/ui/field"
	"orchestrator/ui/host"

	tea "charm.land/bubbletea/v2"
)

// Split asks for a text to split into tasks.
func (f *Feature) Split() tea.Cmd {
	text := &dialog.Input{Label: "Text", Hint: "Notes, a mail, a dictation: an agent finds the tasks in it", Rows: 10, Text: field.Field{Multi: true}}
	agent := &dialog.Input{Label: "Agent", Hint: f.cfg.Agent}
	f.Dialogs.Push(dialog.NewForm("split a text into tasks", func() (dialog.Result, string) {
		q := wave.SplitRequest{Text: value(text), Agent: value(agent)}
		if q.Agent == "" {
			q.Agent = f.cfg.Agent
		}
		switch {
		case q.Text == "":
			return nil, "Enter a text"
		case q.Agent == "":
			return nil, "Name an agent: none is configured"
		}
		return host.Do(func() tea.Cmd { return f.split(q) }), ""
	}, text, agent).Verb("split"))
	return nil
}

const (
	// splitLimit is how long the screen waits for an agent that splits a text, splitPause how long it waits between looks.
	splitLimit = 30 * time.Minute
	splitPause = 500 * time.Millisecond
)

// split has an agent split a text, and shows what it proposes where the person waits for it.
func (f *Feature) split(q wave.SplitRequest) tea.Cmd {
	into := dialog.NewPicker("tasks in the text", nil)
	into.Status = "An agent reads the text \u2026 esc leaves it to it; what it proposes is in the list of tasks"
	f.Dialogs.Push(into)
	return host.Call(f.Host, host.Slow, api.SplitTask.On(f.Server, q), func(t plan.Task, err error) tea.Cmd {
		if err != nil {
			into.Status = err.Error()
			return f.Fail("split the text", err)
		}
		return host.Call(f.Host, splitLimit, func(ctx context.Context) (proposed, error) { return f.await(ctx, t.Name) },
			func(p proposed, err error) tea.Cmd { return f.fill(into, p, err) })
	})
}

// await waits until a text is split.
func (f *Feature) await(ctx context.Context, name string) (p proposed, err error) {
	for {
		found, err := api.Tasks.Do(ctx, f.Server, wave.ListRequest{Task: name})
		if err != nil {
			return p, err
		}
		p.of = found[0]
		switch {
		case p.of.Status == plan.Complete && p.of.Reason != "":
			p.list, err = api.Tasks.Do(ctx, f.Server, wave.ListRequest{Of: name})
			return p, err
		case p.of.Status.Final() && p.of.Status != plan.Complete:
			return p, thread.Kindf(thread.ErrRefused, "%s is %s: no task was stored", name, p.of.Status)
		}
		select {
		case <-ctx.Done():
			return p, fmt.Errorf("%s goes on: %w", name, ctx.Err())
		case <-time.After(splitPause):
		}
	}
}
