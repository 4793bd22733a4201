package paint

import (
	tea "charm.land/bubbletea/v2"

	"orchestrator/agent/vterm"
)

// Filter is to be given to tea.WithFilter: it lets every message pass and learns size and colours of the
// terminal from those that tell them. A size that no terminal has is cut to what can be drawn.
func (w *Writer) Filter(_ tea.Model, msg tea.Msg) tea.Msg {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		if msg.Width > vterm.MaxCols || msg.Height > vterm.MaxRows { // 0 is left as it is: nothing can be drawn
			msg.Width, msg.Height = vterm.Bound(msg.Width, msg.Height)
		}
		w.Resize(msg.Width, msg.Height)
		return msg
	case tea.ColorProfileMsg:
		w.SetProfile(msg.Profile)
	}
	return msg
}
