package paint

import (
	"github.com/charmbracelet/colorprofile"

	tea "charm.land/bubbletea/v2"

	"orchestrator/agent/vterm"
)

// ProfileOf translates Bubble Tea's profile.
func ProfileOf(p colorprofile.Profile) Profile {
	switch p {
	case colorprofile.TrueColor:
		return TrueColor
	case colorprofile.ANSI256:
		return Color256
	case colorprofile.ANSI:
		return Color16
	case colorprofile.ASCII:
		return NoColor
	default:
		return Plain
	}
}

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
		w.SetProfile(ProfileOf(msg.Profile))
	}
	return msg
}
