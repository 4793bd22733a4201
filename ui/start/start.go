// Package start starts new threads.
package start

import (
	"cmp"
	"path/filepath"

	"orchestrator/thread"
	"orchestrator/thread/api"
	"orchestrator/ui/host"
	"orchestrator/ui/intent"
	"orchestrator/ui/runner"

	tea "charm.land/bubbletea/v2"
)

// Config configures the feature.
type Config struct {
	Folder string // where new threads work, if nothing else is said; what is typed is relative to it
	Git    bool   // threads can have worktrees
	Agent  string // the default agent; "" is the first one installed
	Agents func() []thread.AgentInfo
}

// Feature starts threads.
type Feature struct {
	*host.Host
	cfg Config
}

// New adds the feature to a host.
func New(h *host.Host, cfg Config) *Feature {
	f := &Feature{Host: h, cfg: cfg}
	h.Actions.On(intent.New, f.Open)
	return f
}

// Open opens the dialog for a new thread.
func (f *Feature) Open() tea.Cmd {
	d := defaults{agent: f.cfg.Agent, dir: f.cfg.Folder, git: f.cfg.Git,
		taken: f.Threads.Sharing(thread.Thread{Dir: f.cfg.Folder})}
	if d.agent == "" {
		d.agent = runner.First(f.cfg.Agents())
	}
	f.Dialogs.Push(newForm(f.cfg.Agents(), d, f.create))
	return nil
}

// Demo starts a thread with the built-in demo agent.
func (f *Feature) Demo() tea.Cmd { return f.create(thread.NewRequest{Agent: "demo"}) }

// place is the folder that a person means.
func (f *Feature) place(typed string) string {
	if typed == "" || filepath.IsAbs(typed) {
		return cmp.Or(typed, f.cfg.Folder)
	}
	return filepath.Join(f.cfg.Folder, typed)
}

func (f *Feature) create(req thread.NewRequest) tea.Cmd {
	return f.TypeLines(runner.RunsLines(f.cfg.Agents(), req.Agent), req.Prompt, func(lines bool) tea.Cmd {
		req.Lines = lines
		req.Cols, req.Rows = f.Screen.PaneSize()
		req.Dir = f.place(req.Dir)
		return tea.Batch(f.Notify(thread.LevelInfo, "Starting "+req.Agent+" …"), f.Start("start a thread", "started", true,
			api.New.On(f.Server, req)))
	})
}
