// Package editor opens a file in the user's editor or pager, which gets the terminal until it exits.
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
	// Pager is the command with which files are read if there is no editor.
	Pager []string
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
	return f.run(f.cfg.Command, "editor", path, func() error { return nil })
}

// Read opens a copy for reading, in the editor or else in the pager, and removes it afterwards.
func (f *Feature) Read(path string) tea.Cmd {
	command, what := f.cfg.Command, "editor"
	if len(command) == 0 {
		command, what = f.cfg.Pager, "pager"
	}
	if len(command) == 0 {
		return tea.Batch(func() tea.Msg { _ = os.Remove(path); return nil },
			f.Fail("open the conversation", errors.New("set $EDITOR to an editor or $PAGER to a pager")))
	}
	return f.run(command, what, path, func() error {
		if err := os.Remove(path); !errors.Is(err, os.ErrNotExist) {
			return err
		}
		return nil
	})
}

// run gives the terminal to a program, and then does what is to be done after it.
func (f *Feature) run(command []string, what, path string, after func() error) tea.Cmd {
	args := append(append([]string{}, command[1:]...), path)
	f.cfg.Leave()
	cmd := exec.Command(command[0], args...)
	// The editor gets the terminal itself, not the painter's writer under Bubble Tea.
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	return tea.ExecProcess(cmd, func(err error) tea.Msg {
		left := after()
		return host.Reply(func() tea.Cmd {
			if cmd := f.left(what, err); err != nil || left == nil {
				return cmd
			}
			return f.Fail("remove the copy that was read", left)
		})
	})
}

func (f *Feature) left(what string, err error) tea.Cmd {
	f.cfg.Return()
	if err != nil {
		return f.Fail("run the "+what, err)
	}
	return tea.Batch(f.cfg.After(), func() tea.Msg { return tea.ClearScreen() })
}
