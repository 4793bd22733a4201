package ui

import (
	"context"

	"orchestrator/thread"
	"orchestrator/thread/api"
	"orchestrator/ui/host"

	tea "charm.land/bubbletea/v2"
)

// mostArchived is how many archived threads a screen asks for, the newest ones. The search finds the others.
const mostArchived = 500

// archive shows the archived threads, or the others. Only a few are known before: the server has those that are used.
func archive(m *Model) tea.Cmd {
	m.tree.ShowArchive(!m.tree.Archive())
	if !m.tree.Archive() {
		return nil
	}
	return host.Call(m.host, host.Quick, func(ctx context.Context) (api.ArchivedPage, error) {
		return api.Archived.Do(ctx, m.host.Server, api.ArchivedRequest{Limit: mostArchived})
	}, func(page api.ArchivedPage, err error) tea.Cmd {
		if err != nil {
			return m.host.Fail("show the archive", err)
		}
		for _, s := range page.Threads {
			if m.tree.Thread(s.ID) == nil { // what is known is newer
				m.tree.Put(s)
			}
		}
		m.host.Screen.Redraw()
		if page.Next != 0 {
			return m.host.Notify(thread.LevelInfo, "These are the newest; search for older ones")
		}
		return nil
	})
}

// fetch asks for a thread that is not known here, shows it in the list and goes on with it.
func fetch(m *Model, id thread.ID, then func() tea.Cmd) tea.Cmd {
	return host.Call(m.host, host.Quick, func(ctx context.Context) (thread.Status, error) {
		return api.Status.Do(ctx, m.host.Server, api.Ref{Thread: string(id)})
	}, func(s thread.Status, err error) tea.Cmd {
		if err != nil {
			return m.host.Notify(thread.LevelWarn, "That thread no longer exists")
		}
		if m.tree.Thread(id) == nil {
			m.tree.Put(s)
		}
		if m.tree.Thread(id) == nil {
			return nil
		}
		m.host.Screen.Redraw()
		return then()
	})
}
