// Package scrolling is scroll mode on the screen: it brings the keys of its scope to the pane, whose text is read.
package scrolling

import (
	"orchestrator/thread"
	"orchestrator/ui/host"
	"orchestrator/ui/intent"
	"orchestrator/ui/keyhelp"

	tea "charm.land/bubbletea/v2"
)

// Pane is a terminal whose text can be read by keys.
type Pane interface {
	// Read enters scroll mode, and reports whether there is anything to read.
	Read() bool
	// Unread leaves it.
	Unread()
	Reading() bool
	// Act does what a key asks for, and reports whether that means something in scroll mode. It may leave it.
	Act(intent.Intent) (tea.Cmd, bool)
	// BeginSearch starts a search, up if back; Search goes to the closest match of what was typed so far.
	BeginSearch(back bool)
	Search(text string)
	// Where says where the cursor is.
	Where() string
}

// Config configures the feature.
type Config struct {
	Pane Pane // nil if it has no scroll mode
	// Attached returns the thread whose terminal the pane has, or "".
	Attached func() thread.ID
	// Entered shows and focuses the pane; Left gives the focus back.
	Entered, Left func()
}

// Feature is scroll mode.
type Feature struct {
	*host.Host
	cfg Config
}

// New returns the feature, and registers its action.
func New(h *host.Host, cfg Config) *Feature {
	f := &Feature{h, cfg}
	h.Actions.OnThread(intent.ScrollMode, f.enter)
	return f
}

// On reports whether the pane is read.
func (f *Feature) On() bool { return f.cfg.Pane != nil && f.cfg.Pane.Reading() }

// Where says where the cursor is, "" if the pane is not read.
func (f *Feature) Where() string {
	if !f.On() {
		return ""
	}
	return f.cfg.Pane.Where()
}

// End leaves scroll mode because the pane is no longer focused.
func (f *Feature) End() {
	if f.On() {
		f.cfg.Pane.Unread()
	}
}

// enter reads the terminal of a thread.
func (f *Feature) enter(s *thread.Status) tea.Cmd {
	if !host.Running(s) || f.cfg.Attached() != s.ID || f.cfg.Pane == nil || !f.cfg.Pane.Read() {
		return f.Notify(thread.LevelInfo, s.DisplayName()+": no terminal to read. Its turns are in the timeline: "+
			f.Keys.KeyOf(intent.NextView))
	}
	f.cfg.Entered()
	return nil
}

// Act handles a key in scroll mode, and reports whether it means something there.
func (f *Feature) Act(in intent.Intent) (tea.Cmd, bool) {
	if in == intent.Search || in == intent.SearchBack {
		f.cfg.Pane.BeginSearch(in == intent.SearchBack)
		return nil, true
	}
	cmd, ok := f.cfg.Pane.Act(in)
	if ok && !f.On() {
		f.cfg.Left()
	}
	return cmd, ok
}

// Hints returns the most useful keys.
func (f *Feature) Hints() keyhelp.Hints {
	return keyhelp.Hints{}.Add(intent.Search, "search").Add(intent.SelectText, "select").Add(intent.SelectLines, "lines").
		Add(intent.SelectOutput, "block").Add(intent.Copy, "copy").Add(intent.NextBlock, "next block").
		Add(intent.Leave, "leave").Add(intent.Help, "keys")
}

// Search goes to the closest match of what was typed so far.
func (f *Feature) Search(text string) { f.cfg.Pane.Search(text) }
