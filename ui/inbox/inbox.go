// Package inbox lists everything that is open for the person in all threads, the most urgent first, and goes to the
// thread that is chosen.
package inbox

import (
	"orchestrator/thread"
	"orchestrator/ui/dialog"
	"orchestrator/ui/host"
	"orchestrator/ui/intent"
	"orchestrator/ui/plain"

	tea "charm.land/bubbletea/v2"
)

// Feature shows the inbox.
type Feature struct {
	*host.Host
	visit func(thread.ID) tea.Cmd
	open  *dialog.Picker // open or closed
}

// New adds the feature to a host. visit shows a thread.
func New(h *host.Host, visit func(thread.ID) tea.Cmd) *Feature {
	f := &Feature{Host: h, visit: visit}
	h.Actions.On(intent.Inbox, f.show)
	return f
}

func (f *Feature) show() tea.Cmd {
	f.open = dialog.NewPicker("inbox", nil)
	f.Changed()
	f.Dialogs.Push(f.open)
	return nil
}

// Changed brings the open list up to date.
func (f *Feature) Changed() {
	if f.open == nil {
		return
	}
	var all []thread.Status
	for _, s := range f.Threads.All() {
		all = append(all, *s)
	}
	var items []dialog.Item
	for _, i := range thread.Inbox(all) {
		age := ""
		if !i.Since.IsZero() {
			age = thread.Age(f.Clock().Sub(i.Since))
		}
		items = append(items, dialog.Item{
			Title: plain.Line(i.Label), Note: age, Detail: words(i), Result: host.Do(func() tea.Cmd { return f.visit(i.Thread) }),
		})
	}
	f.open.Fill(items, "Nothing is open")
}

// words says what an item is about.
func words(i thread.InboxItem) string {
	kind := map[thread.InboxKind]string{
		thread.InboxQuestion: "asks", thread.InboxSignIn: "must sign in", thread.InboxStuck: "gave up", thread.InboxPrompt: "prompt cut off", thread.InboxMerge: "waits for you",
		thread.InboxInterrupted: "interrupted", thread.InboxLimited: "waits", thread.InboxOffer: "offers", thread.InboxUnread: "has answered",
	}[i.Kind]
	if i.Text == "" {
		return kind
	}
	return kind + ": " + plain.First(i.Text)
}
