// Package editor gives the terminal to the person's editor until it is left.
package editor

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"

	"orchestrator/ui/host"

	tea "charm.land/bubbletea/v2"
)

// Config is what the feature is made of.
type Config struct {
	// Command opens a file, the file appended; empty when there is none.
	Command []string
	// Leave stops the painting of the pane, Return says that the terminal is back.
	Leave, Return func()
	// After brings what is on show up to date.
	After func() tea.Cmd
}

// Feature opens files.
type Feature struct {
	*host.Host
	cfg Config
}

// New makes the feature.
func New(h *host.Host, cfg Config) *Feature { return &Feature{h, cfg} }

// Open opens a file.
func (f *Feature) Open(path string) tea.Cmd {
	if len(f.cfg.Command) == 0 {
		return f.Fail("open "+filepath.Base(path), errors.New("no editor is set: set $VISUAL or $EDITOR"))
	}
	args := append(append([]string{}, f.cfg.Command[1:]...), path)
	f.cfg.Leave()
	cmd := exec.Command(f.cfg.Command[0], args...)
	// The terminal itself: the writer under Bubble Tea belongs to the painter.
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	return tea.ExecProcess(cmd, func(err error) tea.Msg {
		return host.Reply(func() tea.Cmd { return f.left(err) })
	})
}

func (f *Feature) left(err error) tea.Cmd {
	f.cfg.Return()
	if err != nil {
		return f.Fail("editor", err)
	}
	return tea.Batch(f.cfg.After(), func() tea.Msg { return tea.ClearScreen() })
}
