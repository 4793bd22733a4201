// Package start begins new threads, and knows the agents that can be started. Who has none is told, once and only
// where there is no thread yet, what was looked for, and is offered the demo.
package start

import (
	"context"

	"orchestrator/thread"
	"orchestrator/ui/dialog"
	"orchestrator/ui/host"
	"orchestrator/ui/intent"
	"orchestrator/ui/theme"

	tea "charm.land/bubbletea/v2"
)

// Server is what starting needs of the server.
type Server interface {
	New(context.Context, thread.NewRequest) (thread.Status, error)
	Agents(context.Context) ([]thread.AgentInfo, error)
}

// Config is what the dialog begins with.
type Config struct {
	Project string // the project's folder
	Git     bool   // threads can have worktrees
	Agent   string // "" for the first that is installed
}

// Feature starts threads.
type Feature struct {
	*host.Host
	srv     Server
	cfg     Config
	agents  []thread.AgentInfo
	listed  bool // the threads are known
	greeted bool // the first run was explained, or was none
}

// New adds the feature.
func New(h *host.Host, srv Server, cfg Config) *Feature {
	f := &Feature{Host: h, srv: srv, cfg: cfg}
	h.On(intent.New, f.Open)
	h.On(intent.Agents, func() tea.Cmd {
		h.Dialogs.Push(dialog.NewText("agents", lines(f.agents, true)))
		return f.Load()
	})
	host.OnResult(h, func(r dialog.NewThread) tea.Cmd { return f.create(r.Request) })
	return f
}

// Agents returns what is known of the agents.
func (f *Feature) Agents() []thread.AgentInfo { return f.agents }

// Load asks which agents there are.
func (f *Feature) Load() tea.Cmd {
	return host.Call(f.Host, host.Quick, f.srv.Agents, func(agents []thread.AgentInfo, err error) tea.Cmd {
		if err != nil {
			return f.Fail("agents", err)
		}
		f.agents = agents
		f.greet()
		return nil
	})
}

// Listed says that the threads are known.
func (f *Feature) Listed() {
	f.listed = true
	f.greet()
}

// Open asks what to start.
func (f *Feature) Open() tea.Cmd {
	d := dialog.Defaults{Agent: f.cfg.Agent, Dir: f.cfg.Project, Git: f.cfg.Git,
		Taken: f.Threads.Sharing(thread.Thread{Dir: f.cfg.Project})}
	if d.Agent == "" {
		d.Agent = dialog.FirstAgent(f.agents)
	}
	f.Dialogs.Push(dialog.NewNewThread(f.agents, d))
	return nil
}

func (f *Feature) create(req thread.NewRequest) tea.Cmd {
	req.Cols, req.Rows = f.PaneSize()
	return tea.Batch(f.Tell(thread.LevelInfo, "starting "+req.Agent+" …"), f.Start("new thread", "started", true,
		func(ctx context.Context) (thread.Status, error) { return f.srv.New(ctx, req) }))
}

// greet explains what was looked for when no coding agent is installed, and offers the demo.
func (f *Feature) greet() {
	if f.greeted || !f.listed || len(f.agents) == 0 {
		return
	}
	f.greeted = true
	if len(f.Threads.All()) > 0 {
		return
	}
	for _, a := range f.agents {
		if a.Found && !builtIn(a.Name) {
			return
		}
	}
	body := []dialog.Line{{Text: "No coding agents found. Checked:"}, {}}
	body = append(body, lines(f.agents, false)...)
	body = append(body, dialog.Line{Text: f.Keys.KeyOf(intent.Agents) + "  List all agents and places checked", Tok: theme.Muted},
		dialog.Line{}, dialog.Line{Text: "The built-in demo agent needs no installation, key or network: " +
			"it follows a script that reads and edits files in a thread like any other."})
	demo := host.Do(func() tea.Cmd { return f.create(thread.NewRequest{Agent: "demo"}) })
	f.Dialogs.Push(dialog.NewAsk("welcome", body,
		dialog.Choice{Label: "Try the demo", Result: demo, Preset: true}, dialog.Cancel("Later")))
}
