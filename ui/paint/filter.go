package paint

import (
	"github.com/charmbracelet/colorprofile"

	tea "charm.land/bubbletea/v2"
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
// terminal from those that tell them.
func (w *Writer) Filter(_ tea.Model, msg tea.Msg) tea.Msg {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		w.Resize(msg.Width, msg.Height)
	case tea.ColorProfileMsg:
		w.SetProfile(ProfileOf(msg.Profile))
	}
	return msg
}
