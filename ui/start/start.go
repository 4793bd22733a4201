// Package start starts new threads.
package start

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"orchestrator/thread"
	"orchestrator/thread/api"
	"orchestrator/ui/dialog"
	"orchestrator/ui/field"
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
	Habits Habits // nil if none are known
}

// Habits are how the person starts threads. Its methods may be called at the same time; those that return an error
// write files.
type Habits interface {
	// Recent are how threads were started last, newest first, each agent once.
	Recent() []thread.Profile
	// Named are the profiles that have a name.
	Named() []thread.Profile
	// Chose notes how a thread was started.
	Chose(thread.Profile) error
	// Keep keeps a profile under its name.
	Keep(thread.Profile) error
}

// noHabits knows nothing and keeps nothing.
type noHabits struct{}

func (noHabits) Recent() []thread.Profile   { return nil }
func (noHabits) Named() []thread.Profile    { return nil }
func (noHabits) Chose(thread.Profile) error { return nil }
func (noHabits) Keep(thread.Profile) error {
	return fmt.Errorf("there is no configuration: %w", thread.ErrUnsupported)
}

// Feature starts threads.
type Feature struct {
	*host.Host
	cfg Config
}

// New adds the feature to a host.
func New(h *host.Host, cfg Config) *Feature {
	if cfg.Habits == nil {
		cfg.Habits = noHabits{}
	}
	f := &Feature{Host: h, cfg: cfg}
	h.Actions.On(intent.New, f.Open)
	h.Actions.OnThread(intent.Remember, f.remember)
	return f
}

// Open opens the dialog for a new thread.
func (f *Feature) Open() tea.Cmd {
	d := defaults{dir: f.cfg.Folder, git: f.cfg.Git, recent: f.cfg.Habits.Recent(), named: f.cfg.Habits.Named(),
		taken: f.Threads.Sharing(thread.Thread{Dir: f.cfg.Folder})}
	agents := f.cfg.Agents()
	for _, p := range d.recent {
		if d.agent == "" && runner.Found(agents, p.Agent) {
			d.agent = p.Agent
		}
	}
	d.agent = cmp.Or(d.agent, f.cfg.Agent, runner.First(agents))
	f.Dialogs.Push(newForm(agents, d, f.chosen))
	return nil
}

// Demo starts a thread with the built-in demo agent.
func (f *Feature) Demo() tea.Cmd {
	return f.create(thread.NewRequest{Agent: "demo"}, func() {})
}

// chosen starts a thread as it was chosen in the dialog, which begins with that the next time.
func (f *Feature) chosen(req thread.NewRequest, as thread.Profile) tea.Cmd {
	return f.create(req, func() {
		_ = f.cfg.Habits.Chose(as) // the thread runs; the dialog begins with what was chosen before
	})
}

// remember asks for a name under which to keep how a thread was started.
func (f *Feature) remember(s *thread.Status) tea.Cmd {
	p := thread.ProfileOf(s.Thread)
	name := &dialog.Input{Label: "Name", Hint: p.Summary(), Text: field.Suggest(p.Agent)}
	f.Dialogs.Push(dialog.NewOne("remember: "+p.Summary(), name, "Enter a name", func(v string) dialog.Result {
		return host.Do(func() tea.Cmd {
			p.Name = v
			return host.Call(f.Host, host.Quick, func(context.Context) (int, error) {
				err := f.cfg.Habits.Keep(p)
				return slices.IndexFunc(f.cfg.Habits.Named(), func(q thread.Profile) bool { return q.Name == v }) + 1, err
			}, func(n int, err error) tea.Cmd {
				switch {
				case err != nil:
					return f.Fail("remember", err)
				case n > 0 && n <= mostDigits:
					return f.Notify(thread.LevelInfo, fmt.Sprintf("Profile %s: %s %d starts it", v, f.Keys.KeyOf(intent.New), n))
				default:
					return f.Notify(thread.LevelInfo, fmt.Sprintf("Profile %s: choose it at %s", v, f.Keys.KeyOf(intent.New)))
				}
			})
		})
	}).Verb("remember"))
	return nil
}

// place is the folder that a person means.
func (f *Feature) place(typed string) string {
	if typed == "" || filepath.IsAbs(typed) {
		return cmp.Or(typed, f.cfg.Folder)
	}
	return filepath.Join(f.cfg.Folder, typed)
}

// create starts a thread, and does something once it is started.
func (f *Feature) create(req thread.NewRequest, started func()) tea.Cmd {
	lines := !req.Once.On && runner.RunsLines(f.cfg.Agents(), req.Agent) // a run is typed nothing
	return f.TypeLines(lines, req.Prompt, func(lines bool) tea.Cmd {
		req.Lines = lines
		req.Cols, req.Rows = f.Screen.PaneSize()
		req.Dir = f.place(req.Dir)
		begin := api.New.On(f.Server, req)
		if req.Once.On {
			begin = api.StartRun.On(f.Server, req)
		}
		return tea.Batch(f.Notify(thread.LevelInfo, "Starting "+req.Agent+" …"), f.Start("start a thread", "started", !req.Once.On,
			func(ctx context.Context) (thread.Status, error) {
				s, err := begin(ctx)
				if err == nil {
					started()
				}
				return s, err
			}))
	})
}
