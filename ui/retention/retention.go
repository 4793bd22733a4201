// Package retention deletes threads past the retention limits, after showing them.
package retention

import (
	"fmt"
	"strings"

	"orchestrator/thread"
	"orchestrator/thread/api"
	"orchestrator/ui/dialog"
	"orchestrator/ui/host"
	"orchestrator/ui/intent"
	"orchestrator/ui/plain"
	"orchestrator/ui/theme"

	tea "charm.land/bubbletea/v2"
)

// Feature deletes old threads.
type Feature struct {
	*host.Host
}

// Register adds the feature to a host.
func Register(h *host.Host) {
	f := &Feature{h}
	h.Actions.On(intent.Collect, f.open)
}

// open shows what would be deleted, and asks.
func (f *Feature) open() tea.Cmd {
	d := dialog.NewAsk("delete old threads",
		dialog.Plain("Looking for threads past the retention limits …"), dialog.Cancel("Cancel"))
	f.Dialogs.Push(d)
	return f.collect(true, func(done thread.Collected, err error) tea.Cmd {
		f.fill(d, done, err)
		return nil
	})
}

func (f *Feature) collect(dry bool, then func(thread.Collected, error) tea.Cmd) tea.Cmd {
	return host.Call(f.Host, host.Slow, api.Collect.On(f.Server, thread.CollectRequest{DryRun: dry}), then)
}

// remove deletes what was shown.
func (f *Feature) remove() tea.Cmd {
	return tea.Batch(f.Notify(thread.LevelInfo, "Deleting …"), f.collect(false, f.removed))
}

func (f *Feature) removed(done thread.Collected, err error) tea.Cmd {
	if err != nil {
		return f.Fail("delete old threads", err)
	}
	return f.Notify(thread.LevelInfo,
		fmt.Sprintf("%s deleted, %s freed", plain.Count(len(done.Threads), "thread"), thread.Bytes(done.Freed)))
}

// fill fills the dialog with what would be deleted.
func (f *Feature) fill(d *dialog.Ask, done thread.Collected, err error) {
	closing := dialog.Cancel("Close")
	switch {
	case err != nil:
		d.Set([]dialog.Line{{Text: err.Error(), Tok: theme.Bad}}, closing)
	case len(done.Threads) == 0:
		d.Set(dialog.Plain("No threads are past the retention limits (retention.days, retention.threads, "+
			"retention.size_mb)."), closing)
	default:
		body := append(dialog.Plain(done.Notes...), dialog.Plain("These threads are deleted permanently. "+
			"Pinned threads and threads that others depend on are kept.", "")...)
		for _, t := range done.Threads {
			body = append(body, dialog.Line{Tok: theme.Muted,
				Text: strings.Join([]string{"  " + t.Name, thread.Bytes(t.Bytes), t.Why}, "  ")})
		}
		d.Set(body, dialog.Cancel("Cancel"), dialog.Choice{Label: "Delete", Result: host.Do(f.remove), Danger: true})
	}
}
