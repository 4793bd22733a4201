package paint

import (
	tea "charm.land/bubbletea/v2"

	"orchestrator/agent/vterm"
)

// Filter is for tea.WithFilter. It passes all messages through, and learns the terminal's size and colours from them.
// It limits an absurd size to what can be drawn.
func (w *Writer) Filter(_ tea.Model, msg tea.Msg) tea.Msg {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		if msg.Width > vterm.MaxCols || msg.Height > vterm.MaxRows { // 0 is unchanged: nothing can be drawn
			msg.Width, msg.Height = vterm.Bound(msg.Width, msg.Height)
		}
		w.Resize(msg.Width, msg.Height)
		return msg
	case tea.ColorProfileMsg:
		w.SetProfile(msg.Profile)
	}
	return msg
}
