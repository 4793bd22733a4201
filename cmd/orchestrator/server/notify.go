package server

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"orchestrator/thread"
	"orchestrator/thread/notify"
)

// notify runs the person's commands on events. They end before the server does.
func (a *Server) notify(ctx context.Context) error {
	cfg := notify.Config{
		Project: a.Project.Root, Owner: filepath.Base(a.Project.StateDir()), Env: plainEnv(a.Env),
		Report: func(text string) {
			a.manager.Traffic.Tell("", thread.Notice{Level: thread.LevelWarn, Text: text, Kind: thread.HappenedCall})
		},
	}
	for _, h := range a.Config.Commands() {
		words := append([]string{inHome(h.Words[0])}, h.Words[1:]...)
		cfg.Commands = append(cfg.Commands, notify.Command{Name: h.Name, Words: words, Kinds: h.Kinds})
	}
	if len(cfg.Commands) == 0 {
		return nil
	}
	events, err := a.manager.Threads.Events(ctx)
	if err != nil {
		return err
	}
	notify.Run(ctx, cfg, events)
	return nil
}

// inHome returns a path that begins with ~ as the shell would.
func inHome(path string) string {
	rest, below := strings.CutPrefix(path, "~/")
	home, err := os.UserHomeDir()
	if !below || err != nil {
		return path
	}
	return filepath.Join(home, rest)
}
