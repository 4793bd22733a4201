// Package connection keeps the screen up to date with the server: the stream of events, the list of threads, what to do
// when the server is gone, and restarting it if it runs another build.
//
// No event is missed: it asks for the list once the stream is open, and again after a gap in it.
package connection

import (
	"context"
	"fmt"

	"orchestrator/thread"
	"orchestrator/ui/dialog"
	"orchestrator/ui/host"
	"orchestrator/ui/intent"
	"orchestrator/ui/plain"

	tea "charm.land/bubbletea/v2"
)

// offer shows what can be resumed since the server is back, if that is still so.
type offer struct{ gen int }

// Config configures a connection.
type Config struct {
	// First is what was asked for before there was a screen; nil for nothing.
	First *First

	Version string // of this program
	// Outdated is the version of the server if it runs another build.
	Outdated string
	// StartServer starts a server if none is running any more; nil leaves that to the user.
	StartServer func(context.Context) error
	// Restart replaces the server with this program and resumes its agents; nil leaves that to the user.
	Restart func(ctx context.Context, cols, rows int) (Restarted, error)

	// Event handles an event, Soon schedules a redraw after some.
	Event func(thread.Event) tea.Cmd
	Soon  func() tea.Cmd
	// Listed is called when the threads are first listed, Back when the server is back.
	Listed, Back func()
	// Interrupted shows which agents can be resumed.
	Interrupted func()
}

// Feature is the connection to the server.
type Feature struct {
	*host.Host
	cfg     Config
	stream  stream
	listed  bool
	late    bool // the first list is taking a while
	lost    bool
	tries   int         // since the connection was lost
	asking  *dialog.Ask // the question whether to start a server
	started bool        // this screen has started the server that it waits for

	outdated   string      // the version of a server that runs another build
	offering   *dialog.Ask // the question whether to restart it
	restarting bool
	// restarted is set when the new server is running and not connected yet.
	restarted *Restarted
}

// New adds the feature to a host.
func New(h *host.Host, cfg Config) *Feature {
	f := &Feature{Host: h, cfg: cfg, stream: stream{srv: h.Server, first: cfg.First}, outdated: cfg.Outdated}
	h.Actions.On(intent.Restart, f.openRestart)
	return f
}

// Open starts listening.
func (f *Feature) Open() tea.Cmd {
	return tea.Batch(f.stream.subscribe(f.Context()), f.After(Moment, late{}))
}

// Listed reports whether the threads have been listed.
func (f *Feature) Listed() bool { return f.listed }

// Lost reports whether the server is gone.
func (f *Feature) Lost() bool { return f.lost }

// Known reports whether the threads have been listed, or should have been by now.
func (f *Feature) Known() bool { return f.listed || f.late }

// Restarting reports whether the server is being restarted.
func (f *Feature) Restarting() bool { return f.restarting }

// Outdated returns the version of the server if it is known to run another build, or "".
func (f *Feature) Outdated() string { return f.outdated }

// Generation counts the streams.
func (f *Feature) Generation() int { return f.stream.gen }

// Update handles a message of the connection.
func (f *Feature) Update(msg tea.Msg) (cmd tea.Cmd, known bool) {
	switch msg := msg.(type) {
	case Subscribed:
		return f.subscribed(msg), true
	case Happened:
		return f.happened(msg), true
	case Listed:
		f.Screen.Redraw()
		return f.list(msg), true
	case Retry:
		if msg.Gen == f.stream.gen {
			return f.stream.subscribe(f.Context()), true
		}
	case offer:
		if msg.gen == f.stream.gen && !f.lost && !f.restarting {
			f.cfg.Interrupted()
			f.Screen.Redraw()
		}
	case late:
		f.late = true
		if !f.listed {
			f.Screen.Redraw()
		}
	default:
		return nil, false
	}
	return nil, true
}

func (f *Feature) subscribed(msg Subscribed) tea.Cmd {
	if msg.Gen != f.stream.gen {
		return nil
	}
	if msg.Err != nil {
		return f.Disconnected(msg.Err)
	}
	f.stream.events, f.stream.seq = msg.Events, 0
	f.Threads.Restart() // it may be another server
	return tea.Batch(f.stream.next(), f.stream.list(f.Context()))
}

// happened handles a batch of events.
func (f *Feature) happened(msg Happened) tea.Cmd {
	if msg.Gen != f.stream.gen {
		return nil
	}
	var cmds []tea.Cmd
	gap := false
	for _, e := range msg.Events {
		gap = gap || (f.stream.seq != 0 && e.Seq != f.stream.seq+1)
		f.stream.seq = e.Seq
		cmds = append(cmds, f.cfg.Event(e))
	}
	f.Dialogs.Recheck()
	if gap {
		cmds = append(cmds, f.stream.list(f.Context()))
	}
	if msg.Over {
		cmds = append(cmds, f.Disconnected(nil))
	} else {
		cmds = append(cmds, f.stream.next())
	}
	return tea.Batch(append(cmds, f.cfg.Soon())...)
}

// Disconnected reports once that the server is gone, and retries. After some retries it asks whether to start a server.
func (f *Feature) Disconnected(err error) tea.Cmd {
	if f.Context().Err() != nil {
		return nil
	}
	var cmd tea.Cmd
	f.tries++
	if !f.lost {
		f.lost, f.tries, f.Threads.Lost = true, 0, true
		text := "The server does not answer; retrying"
		if err != nil {
			text = "Server: " + err.Error() + "; retrying"
		}
		if !f.restarting {
			cmd = f.Notify(thread.LevelError, text)
		}
	}
	if f.tries == AskAfter && f.cfg.StartServer != nil && !f.restarting {
		f.asking = dialog.NewAsk("the server is not running",
			dialog.Plain("The server stopped. Answers are saved; agents can be resumed."),
			dialog.Choice{Label: "Start server", Result: host.Do(f.startServer), Preset: true}, dialog.Cancel("Wait"))
		f.Dialogs.Push(f.asking)
	}
	f.Screen.Redraw()
	return tea.Batch(cmd, f.After(RetryAfter, Retry{f.stream.gen}))
}

// startServer starts a server; the stream reconnects by itself.
func (f *Feature) startServer() tea.Cmd {
	f.started = true
	return tea.Batch(f.Notify(thread.LevelInfo, "Starting the server …"), host.Call(f.Host, host.Slow,
		func(ctx context.Context) (struct{}, error) { return struct{}{}, f.cfg.StartServer(ctx) },
		func(_ struct{}, err error) tea.Cmd {
			if err != nil {
				f.started = false
				return f.Fail("start the server", err)
			}
			return nil
		}))
}

// list handles the list of threads.
func (f *Feature) list(msg Listed) tea.Cmd {
	if msg.Err != nil {
		return tea.Batch(f.Fail("list threads", msg.Err), f.After(RetryAfter, Retry{f.stream.gen}))
	}
	f.Threads.Set(msg.Threads, msg.Since)
	f.Dialogs.Recheck()
	var cmd tea.Cmd
	if f.lost {
		f.lost, f.Threads.Lost = false, false
		f.Dialogs.Close(f.asking)
		f.cfg.Back()
		switch {
		case f.restarted != nil:
			cmd = f.endRestart(*f.restarted, nil)
		case !f.restarting: // a restart resumes by itself
			f.outdated = "" // it may be another server, restarted from another screen
			f.Dialogs.Close(f.offering)
			cmd = f.Notify(thread.LevelInfo, "Reconnected to the server")
			if f.started {
				f.started = false
				f.cfg.Interrupted()
			} else { // whoever has started it may resume its agents
				cmd = tea.Batch(cmd, f.After(OfferAfter, offer{f.stream.gen}))
			}
		}
	}
	if !f.listed {
		f.listed = true
		f.cfg.Listed()
		cmd = tea.Batch(cmd, f.sayOutdated())
	}
	return cmd
}

// sayOutdated asks whether to restart a server that runs another build, and says how to do so later.
func (f *Feature) sayOutdated() tea.Cmd {
	if f.outdated == "" || f.cfg.Restart == nil {
		return nil
	}
	how := f.Keys.KeyOf(intent.Restart)
	if how == "" {
		how = f.Keys.KeyOf(intent.Palette) + " restart"
	}
	return tea.Batch(f.Notify(thread.LevelWarn, how+" restarts the outdated server"), f.openRestart())
}

// openRestart asks whether to restart the server with this program. Enter alone does nothing.
func (f *Feature) openRestart() tea.Cmd {
	switch {
	case f.cfg.Restart == nil:
		return f.Notify(thread.LevelInfo, "Run `orchestrator restart` in a terminal")
	case f.restarting:
		return f.Notify(thread.LevelInfo, "The server is already restarting")
	}
	f.offering = dialog.NewAsk("restart the server?", restartLines(f.outdated, f.cfg.Version, f.Threads.All()),
		dialog.Cancel("Not now"), dialog.Choice{Label: "Restart", Result: host.Do(f.restart), Danger: true})
	f.Dialogs.Push(f.offering)
	return nil
}

// restart restarts the server; the stream reconnects by itself.
func (f *Feature) restart() tea.Cmd {
	f.restarting = true
	cols, rows := f.Screen.PaneSize()
	return tea.Batch(f.Notify(thread.LevelInfo, "Restarting the server …"), host.Call(f.Host, host.Slow,
		func(ctx context.Context) (Restarted, error) { return f.cfg.Restart(ctx, cols, rows) }, f.endRestart))
}

// endRestart reports the result of a restart, once the new server is connected.
func (f *Feature) endRestart(done Restarted, err error) tea.Cmd {
	if err == nil && f.lost {
		f.restarted = &done
		return f.stream.subscribe(f.Context())
	}
	f.restarting, f.restarted, f.tries = false, nil, 0
	if err != nil {
		if !f.Dialogs.Open() { // it may have stopped the agents
			f.cfg.Interrupted()
		}
		return f.Fail("restart the server", err)
	}
	f.outdated = ""
	for _, p := range done.Problems {
		if !f.Notices.Contains(p) {
			f.Notices.Add(host.Notice{Level: thread.LevelWarn, Text: p, At: f.Clock()})
		}
	}
	said := "Server restarted; " + plain.Count(done.Resumed, "agent") + " resumed"
	if n := len(done.Failed); n > 0 {
		f.Dialogs.Push(dialog.NewText("not resumed", done.failed()))
		return f.Notify(thread.LevelWarn, fmt.Sprintf("%s, %d failed", said, n))
	}
	return f.Notify(thread.LevelInfo, said)
}
