// Package publish pushes a thread's branch to the project's remote, and opens pull requests.
package publish

import (
	"orchestrator/thread"
	"orchestrator/thread/api"
	"orchestrator/ui/dialog"
	"orchestrator/ui/host"
	"orchestrator/ui/intent"

	tea "charm.land/bubbletea/v2"
)

// Feature publishes threads.
type Feature struct {
	*host.Host
}

// Register adds the feature to a host.
func Register(h *host.Host) {
	f := &Feature{h}
	h.Actions.OnThread(intent.Push, func(s *thread.Status) tea.Cmd { return f.open(s, false) })
	h.Actions.OnThread(intent.PR, func(s *thread.Status) tea.Cmd { return f.open(s, true) })
}

func (f *Feature) open(s *thread.Status, pr bool) tea.Cmd {
	title := "push " + f.Name(s.ID)
	if pr {
		title = "open pull request for " + f.Name(s.ID)
	}
	if s.Worktree.Branch == "" {
		f.Dialogs.Push(dialog.NewText(title, dialog.Plain("It has no branch of its own: its changes are in "+s.Dir+".",
			"Fork it first, or push the branch of that folder with git.")))
		return nil
	}
	body := dialog.Plain("Commits its changes and pushes " + s.Worktree.Branch + " to your remote (never a force push).")
	label := "Push"
	if pr {
		label = "Open pull request"
		body = append(body,
			dialog.Line{Text: "Then gh opens a pull request, with the thread's last answer as its description."})
	}
	f.Dialogs.Push(dialog.NewAsk(title, body,
		dialog.Cancel("Cancel"),
		dialog.Choice{Label: label, Result: f.push(thread.PushRequest{Thread: string(s.ID), PR: pr})}))
	return nil
}

func (f *Feature) push(r thread.PushRequest) host.Do {
	return func() tea.Cmd {
		return tea.Batch(f.Notify(thread.LevelInfo, "Pushing …"), host.Call(f.Host, host.Slow, api.Push.On(f.Server, r), f.pushed))
	}
}

func (f *Feature) pushed(report thread.PushReport, err error) tea.Cmd {
	if err != nil {
		return f.Fail("push", err)
	}
	if report.PR != "" {
		return f.Notify(thread.LevelInfo, "Pull request: "+report.PR)
	}
	return f.Notify(thread.LevelInfo, report.Branch+" pushed to "+report.Remote)
}
