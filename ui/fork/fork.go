// Package fork forks a thread at any point of its history.
package fork

import (
	"orchestrator/thread"
	"orchestrator/thread/api"
	"orchestrator/thread/suggest"
	"orchestrator/ui/host"
	"orchestrator/ui/intent"
	"orchestrator/ui/runner"

	tea "charm.land/bubbletea/v2"
)

// Config configures the feature.
type Config struct {
	Git    bool // forks can have worktrees
	Agents func() []thread.AgentInfo
	// Offer returns the fork offered for the selected thread.
	Offer func() *thread.Offer
	// Back returns the lever of its base that is offered back to it.
	Back func() *thread.Offer
}

// Feature forks threads.
type Feature struct {
	*host.Host
	cfg Config
}

// New adds the feature to a host.
func New(h *host.Host, cfg Config) *Feature {
	f := &Feature{Host: h, cfg: cfg}
	h.Actions.OnThread(intent.Fork, func(*thread.Status) tea.Cmd {
		f.Open(host.Point{Text: "newest turn"})
		return nil
	})
	return f
}

// Open opens the dialog to fork the selected thread at a point.
func (f *Feature) Open(at host.Point) {
	s := f.Threads.Selected()
	if s == nil {
		return
	}
	d := defaults{git: f.cfg.Git}
	if o := f.cfg.Offer(); o != nil {
		d.label, d.fresh = o.Label, o.Rule == string(suggest.RuleBand)
	}
	if o := f.cfg.Back(); o != nil {
		d.lever, d.needs = o.Lever, o.Needs
	}
	f.Dialogs.Push(newForm(s, at, f.cfg.Agents(), d, f.ask))
}

// ask asks for what the person must consent to, and forks.
func (f *Feature) ask(req thread.ForkRequest) tea.Cmd {
	s := f.Threads.Thread(thread.ID(req.Thread))
	if s == nil {
		return f.fork(req)
	}
	runsLines := s.RunsLines
	if req.Agent != "" {
		runsLines = runner.RunsLines(f.cfg.Agents(), req.Agent)
	}
	return f.TypeLines(runsLines, req.Prompt, func(lines bool) tea.Cmd {
		req.Lines = lines
		return f.HandOver(runsLines && s.Turn > 0 && req.At != "0", func(agreed bool) tea.Cmd {
			req.HandOver = agreed
			return f.fork(req)
		})
	})
}

func (f *Feature) fork(req thread.ForkRequest) tea.Cmd {
	req.Cols, req.Rows = f.Screen.PaneSize()
	return tea.Batch(f.Notify(thread.LevelInfo, "Forking …"), f.Start("fork", "forked", true, api.Fork.On(f.Server, req)))
}
