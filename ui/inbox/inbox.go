// Package inbox lists everything that is open for the person in all threads, the most urgent first. What is open is
// answered from its row by the keys of the list of threads, or opened.
package inbox

import (
	"fmt"

	"orchestrator/thread"
	"orchestrator/thread/api"
	"orchestrator/ui/dialog"
	"orchestrator/ui/host"
	"orchestrator/ui/intent"
	"orchestrator/ui/tree"

	tea "charm.land/bubbletea/v2"
)

// Config is what the inbox needs of the root and of other features.
type Config struct {
	// Visit shows a thread.
	Visit func(thread.ID) tea.Cmd
	// Review shows what an MCP server would start, and asks whether to accept it.
	Review func(thread.MCPServer) tea.Cmd
	// Asked returns what tasks of plans ask, Respond answers it, or shows all of it first, and Graph shows where it is asked.
	Asked   func() []thread.NodeQuestion
	Respond func(q thread.NodeQuestion, yes, whole bool) tea.Cmd
	Graph   func(thread.NodeQuestion) tea.Cmd
}

// Feature shows the inbox.
type Feature struct {
	*host.Host
	cfg     Config
	open    *rows // open or closed
	was     tree.Sight
	servers []thread.MCPServer // of the project
	loading bool
	again   bool // the servers changed while they were being loaded
}

// New adds the feature to a host.
func New(h *host.Host, cfg Config) *Feature {
	f := &Feature{Host: h, cfg: cfg}
	h.Actions.On(intent.Inbox, f.show)
	return f
}

func (f *Feature) show() tea.Cmd {
	f.open = &rows{do: does{now: f.Clock, choose: func(id thread.ID) { f.Threads.Select(id) }, enter: f.enter, act: f.act, leave: f.leave}}
	f.was = f.Threads.Sight()
	f.Dialogs.Push(f.open)
	f.Changed()
	return f.load()
}

// leave shows the list of threads as it was before: the cursor went from thread to thread in it, also where a filter or a
// fold hides them.
func (f *Feature) leave() tea.Cmd {
	f.Threads.See(f.was)
	return nil
}

// Changed brings the open list up to date.
func (f *Feature) Changed() {
	if f.open == nil || !f.Dialogs.Has(f.open) {
		return
	}
	var all []thread.Status
	for _, s := range f.Threads.All() {
		all = append(all, *s)
	}
	f.open.fill(thread.Inbox(all, f.cfg.Asked(), f.servers))
}

// ServersChanged tells that the MCP servers of the project may have changed.
func (f *Feature) ServersChanged() tea.Cmd {
	if f.open == nil || !f.Dialogs.Has(f.open) {
		return nil
	}
	return f.load()
}

// load asks for the project's MCP servers, of which some may wait to be accepted.
func (f *Feature) load() tea.Cmd {
	if f.loading {
		f.again = true
		return nil
	}
	f.loading, f.again = true, false
	return host.Call(f.Host, host.Quick, api.MCP.On(f.Server, thread.MCPQuery{}), func(got thread.MCPReport, err error) tea.Cmd {
		f.loading = false
		if f.open.problem = ""; err != nil {
			f.open.problem = err.Error()
		} else {
			f.servers = got.Servers
			f.Changed()
		}
		if f.again {
			return f.load()
		}
		return nil
	})
}

// Asks reports whether the item under the cursor is a question that a key answers: that of the selected thread, as the
// row shows it. Something else may have selected another thread meanwhile; the row's is then selected again.
func (f *Feature) Asks() bool {
	it, ok := f.open.item()
	if !ok || it.Kind != thread.InboxQuestion || !f.at(it) {
		return false
	}
	now := f.Threads.Selected().State.Question
	return it.Question != nil && now != nil && now.ID == it.Question.ID
}

// Cut reports whether the row of the item under the cursor does not say all that is asked.
func (f *Feature) Cut() bool { return f.open.cut() }

// Item names what is under the cursor, to see later whether it still is.
func (f *Feature) Item() string {
	it, ok := f.open.item()
	if !ok {
		return ""
	}
	if it.Node != nil {
		return fmt.Sprintf("%s %s %v", it.Kind, it.Name, it.Since)
	}
	return fmt.Sprintf("%s %s %s %v", it.Kind, it.Thread, it.Server, it.Question)
}

// at reports whether an item's thread is selected, and selects it otherwise.
func (f *Feature) at(it thread.InboxItem) bool {
	if s := f.Threads.Selected(); s != nil && s.ID == it.Thread {
		return true
	}
	f.Threads.Select(it.Thread)
	return false
}

// enter opens an item: its thread, or what a server would start.
func (f *Feature) enter(it thread.InboxItem) dialog.Result {
	if it.Kind == thread.InboxServer {
		return f.act(it, intent.Yes)
	}
	if it.Node != nil {
		return host.Stay(func() tea.Cmd { return f.cfg.Graph(*it.Node) })
	}
	return host.Do(func() tea.Cmd {
		f.Threads.See(f.was)
		return f.cfg.Visit(it.Thread)
	})
}

// act does what a key means for an item, nil if it means nothing.
func (f *Feature) act(it thread.InboxItem, a intent.Action) dialog.Result {
	if it.Thread != "" && !f.at(it) {
		return nil // another thread was selected from elsewhere
	}
	do := func(a intent.Action) dialog.Result {
		return host.Stay(func() tea.Cmd { return f.ActOn(a, f.Threads.Thread(it.Thread)) })
	}
	switch it.Kind {
	case thread.InboxTask:
		if a != intent.Yes && a != intent.No {
			return nil
		}
		whole := !f.open.cut()
		return host.Stay(func() tea.Cmd { return f.cfg.Respond(*it.Node, a == intent.Yes, whole) })
	case thread.InboxServer:
		if a != intent.Yes {
			return nil
		}
		for _, s := range f.servers {
			if s.ID == it.Server {
				return host.Stay(func() tea.Cmd { return f.cfg.Review(s) })
			}
		}
		return nil
	case thread.InboxOffer:
		switch a {
		case intent.Yes:
			return do(intent.TakeOffer)
		case intent.No:
			return do(intent.DismissOffer)
		default:
			return nil
		}
	case thread.InboxInterrupted:
		if a == intent.Yes {
			return do(intent.Resume)
		}
		return nil
	default:
	}
	switch a {
	case intent.Reply, intent.Prompts, intent.Read:
		return do(a)
	default:
		return nil
	}
}
