package servers

import (
	"orchestrator/thread"
	"orchestrator/thread/api"
	"orchestrator/ui/dialog"
	"orchestrator/ui/host"
	"orchestrator/ui/plain"

	tea "charm.land/bubbletea/v2"
)

// change switches a server or a tool, shows the report that follows, and says what was done. While a change of the same
// server or tool is on its way there is nothing to see that another one could be meant for.
func (r *reports) change(task string, c thread.MCPChange, done func(thread.MCPReport) string) tea.Cmd {
	what := c.Thread + "/" + c.Server + "/" + c.Tool
	if r.busy[what] {
		return nil
	}
	r.busy[what] = true
	return host.Call(r.Host, host.Slow, api.SwitchMCP.On(r.Server, c),
		func(got thread.MCPReport, err error) tea.Cmd {
			delete(r.busy, what)
			r.discard()
			if err != nil {
				return r.Fail(task, err)
			}
			if c.Thread == string(r.thread) {
				r.fill(r.thread, got, nil)
			}
			return r.Notify(thread.LevelInfo, done(got))
		})
}

// act does something else to a server, and says what was done.
func (r *reports) act(task, done string, a thread.MCPAct) tea.Cmd {
	return host.Call(r.Host, host.Slow, api.ActMCP.On(r.Server, a),
		func(d thread.MCPDetail, err error) tea.Cmd {
			r.discard()
			if err != nil {
				return r.Fail(task, err)
			}
			if d.Page != "" {
				r.Dialogs.Push(dialog.NewText("sign in", dialog.Plain("Sign in on this page, if your browser has not opened it:", "",
					plain.Exact(d.Page))))
				return nil
			}
			return r.Notify(thread.LevelInfo, done)
		})
}
