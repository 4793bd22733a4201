// Package scrolling is scroll mode on the screen: it brings the keys of its scope to the pane, whose text is read.
package scrolling

import (
	"context"

	"orchestrator/thread"
	"orchestrator/ui/dialog"
	"orchestrator/ui/host"
	"orchestrator/ui/intent"
	"orchestrator/ui/keyhelp"
	"orchestrator/ui/plain"
	"orchestrator/ui/theme"
	"orchestrator/ui/weblink"

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
	// Where returns where the cursor is.
	Where() string
	// Link returns the page that the text at the cursor leads to, and the text that says so, or "".
	Link() (text, target string)
}

// Config configures the feature.
type Config struct {
	Pane Pane // nil if it has no scroll mode
	// Attached returns the thread whose terminal the pane has, or "".
	Attached func() thread.ID
	// Copy copies a text of a thread.
	Copy func(name, what, text string) tea.Cmd
	// Browse opens a page in the person's browser; nil if there is none.
	Browse func(context.Context, string) error
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

// Where returns where the cursor is, "" if the pane is not read.
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
		return f.Notify(thread.LevelInfo, f.Name(s.ID)+": no terminal to read. Its turns are in the timeline: "+
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
	if in == intent.Open {
		return f.open(), true
	}
	cmd, ok := f.cfg.Pane.Act(in)
	if ok && !f.On() {
		f.cfg.Left()
	}
	return cmd, ok
}

// open shows where the link at the cursor leads, and asks what to do with it: nothing is opened before.
func (f *Feature) open() tea.Cmd {
	text, target := f.cfg.Pane.Link()
	name := f.Name(f.cfg.Attached())
	if target == "" {
		return f.Notify(thread.LevelInfo, name+": no link here")
	}
	body := []dialog.Line{{Text: target, Tok: theme.Strong}}
	if text != target {
		body = append(body, dialog.Line{}, dialog.Line{Text: "The text says: " + plain.Cut(plain.Line(text), 200)})
	}
	if weblink.Misleads(text, target) {
		body = append(body, dialog.Line{Text: "It names another host than the link leads to.", Tok: theme.Bad})
	}
	choices := []dialog.Choice{dialog.Cancel("Cancel"), {Label: "Copy", Preset: true,
		Result: host.Do(func() tea.Cmd { return f.cfg.Copy(name, "link", target) })}}
	if f.cfg.Browse != nil {
		choices = append(choices, dialog.Choice{Label: "Open in the browser", Result: host.Do(func() tea.Cmd {
			return f.Change("open the link", "", func(ctx context.Context) error { return f.cfg.Browse(ctx, target) }, nil)
		})})
	}
	f.Dialogs.Push(dialog.NewAsk("link in "+name, body, choices...))
	return nil
}

// Hints returns the most useful keys.
func (f *Feature) Hints() keyhelp.Hints {
	return keyhelp.Hints{}.Add(intent.Search, "search").Add(intent.SelectText, "select").Add(intent.SelectLines, "lines").
		Add(intent.SelectOutput, "block").Add(intent.Copy, "copy").Add(intent.NextBlock, "next block").
		Add(intent.Leave, "leave").Add(intent.Help, "keys")
}

// Search goes to the closest match of what was typed so far.
func (f *Feature) Search(text string) { f.cfg.Pane.Search(text) }
