package session_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"orchestrator/agent/session"
	"orchestrator/agent/world"
	"orchestrator/thread"
)

// ran starts a program in a session and returns what it wrote to its file.
func ran(t *testing.T, env []string, script string) string {
	t.Helper()
	s := session.New(session.Config{Project: "/p", Foreign: []world.Family{{Names: []string{"OTHER_*"}, Keep: []string{"OTHER_HOME"}}}})
	t.Cleanup(func() {
		if err := s.Close(context.Background(), 0); err != nil {
			t.Error(err)
		}
	})
	out := filepath.Join(t.TempDir(), "out")
	one, err := s.Start(t.Context(), thread.SessionSpec{Thread: "t-0001", Launch: thread.Launch{
		Path: "/bin/sh", Args: []string{"-c", script + " >" + out}, Dir: t.TempDir(), Env: append(env, "PATH=/usr/bin:/bin")}})
	if err != nil {
		t.Fatal(err)
	}
	<-one.Done()
	raw, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// TestEnvironment starts a program behind a proxy, inside another terminal and another agent.
func TestEnvironment(t *testing.T) {
	theirs := []string{
		"HTTPS_PROXY=http://proxy.example:3128", "ALL_PROXY=socks5h://proxy.example", "NODE_EXTRA_CA_CERTS=/ca.pem",
		"no_proxy=.corp.example", "LANG=de_DE.UTF-8", "OTHER_HOME=/h", "ZELLIJ_CONFIG_DIR=/z",
	}
	got := strings.Split(ran(t, slices.Concat(theirs, []string{
		"TERM=dumb", "TMUX=/tmp/x", "ZELLIJ_SESSION_NAME=s", "OTHER_SESSION=1", "SSH_TTY=/dev/pts/1", "COLUMNS=3",
	}), "env"), "\n")
	for _, kv := range slices.Concat(theirs[:3], theirs[4:], []string{
		"NO_PROXY=.corp.example,127.0.0.1,localhost,::1", "no_proxy=.corp.example,127.0.0.1,localhost,::1",
		"TERM=xterm-256color", "COLORTERM=truecolor", "TERM_PROGRAM=orchestrator",
	}) {
		if !slices.Contains(got, kv) {
			t.Errorf("%s is missing", kv)
		}
	}
	for _, kv := range got {
		switch name, _, _ := strings.Cut(kv, "="); name {
		case "TMUX", "ZELLIJ_SESSION_NAME", "OTHER_SESSION", "SSH_TTY", "COLUMNS":
			t.Errorf("%s reaches the program", kv)
		}
	}
}

// TestCharacters asks programs which encoding they use: it is that of our terminal, unless somebody chose another.
func TestCharacters(t *testing.T) {
	if _, err := exec.LookPath("locale"); err != nil {
		t.Skip("SKIPPED, not run: no program named locale")
	}
	for _, env := range [][]string{nil, {"LANG="}, {"LANG=C"}, {"LANG=POSIX"}, {"LC_ALL=C"}, {"LC_CTYPE=C", "LANG=C.UTF-8"},
		{"LC_ALL=", "LC_CTYPE=POSIX"}, {"LC_ALL=C", "LC_CTYPE=C.UTF-8", "LANG=C.UTF-8"}} {
		if got := strings.TrimSpace(ran(t, env, "locale charmap")); got != "UTF-8" {
			t.Errorf("%q: %s", env, got)
		}
	}
}
