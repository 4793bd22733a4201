// Package editor opens a file in the user's editor, which gets the terminal until it exits.
package editor

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"

	"orchestrator/ui/host"

	tea "charm.land/bubbletea/v2"
)

// Config configures the feature.
type Config struct {
	// Command is the editor's command, to which the file is appended; empty if there is none.
	Command []string
	// Leave stops painting the pane; Return starts it again.
	Leave, Return func()
	// After refreshes the screen.
	After func() tea.Cmd
}

// Feature opens files in the editor.
type Feature struct {
	*host.Host
	cfg Config
}

// New returns the feature.
func New(h *host.Host, cfg Config) *Feature { return &Feature{h, cfg} }

// Open opens a file.
func (f *Feature) Open(path string) tea.Cmd {
	if len(f.cfg.Command) == 0 {
		return f.Fail("open "+filepath.Base(path), errors.New("set $VISUAL or $EDITOR to an editor"))
	}
	args := append(append([]string{}, f.cfg.Command[1:]...), path)
	f.cfg.Leave()
	cmd := exec.Command(f.cfg.Command[0], args...)
	// The editor gets the terminal itself, not the painter's writer under Bubble Tea.
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	return tea.ExecProcess(cmd, func(err error) tea.Msg {
		return host.Reply(func() tea.Cmd { return f.left(err) })
	})
}

func (f *Feature) left(err error) tea.Cmd {
	f.cfg.Return()
	if err != nil {
		return f.Fail("run the editor", err)
	}
	return tea.Batch(f.cfg.After(), func() tea.Msg { return tea.ClearScreen() })
}
