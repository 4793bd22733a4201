package session

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"orchestrator/agent/pty"
	"orchestrator/thread"
)

// threadVar is the variable with the thread of a program in a session and of what it starts.
const threadVar = "ORCHESTRATOR_THREAD"

// projectVar is the variable with the folder of its project: it may work in any folder.
const projectVar = "ORCHESTRATOR_PROJECT_DIR"

// Project returns the folder of the project whose agent an environment belongs to, empty if it belongs to none.
func Project(env []string) string {
	dir, ours := "", false
	for _, kv := range env {
		ours = ours || strings.HasPrefix(kv, threadVar+"=")
		if v, ok := strings.CutPrefix(kv, projectVar+"="); ok {
			dir = v
		}
	}
	if !ours {
		return ""
	}
	return dir
}

// Thread returns the thread that an environment belongs to, "" if it is not that of an agent.
func Thread(env []string) thread.ID {
	for _, kv := range env {
		if v, ok := strings.CutPrefix(kv, threadVar+"="); ok && thread.ID(v).Check() == nil {
			return thread.ID(v)
		}
	}
	return ""
}

// Token returns the token of the agent that an environment belongs to, empty if it belongs to none.
func Token(env []string) string { return pty.Token(env) }

// IsHost reports whether an environment is a server's.
func IsHost(env []string) bool { return pty.IsHost(env) }

// HostEnv returns the environment for a server: it marks the server as one, and belongs to no session.
func HostEnv(env []string) []string { return unthreaded(pty.HostEnv(env)) }

// unthreaded returns an environment without the variables of a thread.
func unthreaded(env []string) []string {
	return slices.DeleteFunc(env, func(kv string) bool {
		return strings.HasPrefix(kv, threadVar+"=") || strings.HasPrefix(kv, projectVar+"=")
	})
}

// Below reports whether this program, with its environment, was started below an agent of any server.
func Below(environ []string) (bool, error) {
	if Token(environ) != "" {
		return true, nil
	}
	below, err := pty.Below(os.Getpid())
	if err != nil {
		return true, fmt.Errorf("find out who started this program: %w", err)
	}
	return below, nil
}

// outer are variables that describe the terminal in which the server was started, which is not the agent's.
var outer = []string{
	"TERM", "COLORTERM", "TERM_PROGRAM", "TERM_PROGRAM_VERSION", "TERM_SESSION_ID", "TERMINFO", "TERMCAP",
	"COLUMNS", "LINES", "COLORFGBG", "TMUX", "TMUX_PANE", "STY", "WINDOWID", "VTE_VERSION", "KONSOLE_VERSION",
	"KITTY_WINDOW_ID", "KITTY_PID", "KITTY_LISTEN_ON", "GHOSTTY_RESOURCES_DIR", "GHOSTTY_BIN_DIR",
	"WEZTERM_PANE", "WEZTERM_EXECUTABLE", "ITERM_SESSION_ID", "ITERM_PROFILE", "LC_TERMINAL",
	"LC_TERMINAL_VERSION", "ALACRITTY_WINDOW_ID", "ALACRITTY_SOCKET", "ALACRITTY_LOG", "WT_SESSION", "ZELLIJ",
}

// environment adapts an agent's environment to our terminal.
func environment(env []string, project string, id thread.ID) []string {
	out := make([]string, 0, len(env)+5)
next:
	for _, kv := range unthreaded(pty.Unmarked(env)) {
		for _, name := range outer {
			if strings.HasPrefix(kv, name+"=") {
				continue next
			}
		}
		out = append(out, kv)
	}
	if project != "" {
		out = append(out, projectVar+"="+project)
	}
	return append(out, "TERM=xterm-256color", "COLORTERM=truecolor", "TERM_PROGRAM=orchestrator",
		threadVar+"="+string(id))
}
