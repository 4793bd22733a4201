// Package said copies what was said in a thread to the person's clipboard, and opens the whole conversation in their
// editor or pager.
package said

import (
	"orchestrator/thread"
	"orchestrator/ui/clipboard"
	"orchestrator/ui/host"
	"orchestrator/ui/intent"

	tea "charm.land/bubbletea/v2"
)

// Config configures the feature.
type Config struct {
	// Folder is a folder of this user alone, in which copies lie while they are read.
	Folder string
	// Open opens a file for reading, and removes it afterwards.
	Open func(path string) tea.Cmd
}

// Feature copies and opens what was said.
type Feature struct {
	*host.Host
	cfg Config
}

// Copy copies a text of a thread, and says so: what it is, and how large.
func (f *Feature) Copy(name, what, text string) tea.Cmd {
	set, c := clipboard.Copy(text)
	if set == nil {
		return f.Notify(thread.LevelInfo, name+": nothing to copy here")
	}
	level, told := thread.LevelInfo, name+": "+c.Says(what)
	if c.Cut() {
		level = thread.LevelWarn
		if key := f.Keys.KeyOf(intent.Transcript); key != "" {
			told += ". All of it: " + key
		}
	}
	return tea.Batch(set, f.Notify(level, told))
}
