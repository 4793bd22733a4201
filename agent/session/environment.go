package session

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"orchestrator/agent/pty"
	"orchestrator/agent/world"
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

// environment adapts an agent's environment to our terminal: nothing in it speaks of another one or, with the families of
// foreign, of another agent; its encoding is ours, and no proxy stands between the agent and this machine.
func environment(env []string, project string, id thread.ID, foreign []world.Family, terminal bool) []string {
	out := world.Without(unthreaded(pty.Unmarked(env)), world.Terminals(), foreign)
	out = world.Direct(world.UTF8(out))
	if project != "" {
		out = append(out, projectVar+"="+project)
	}
	out = append(out, threadVar+"="+string(id))
	if !terminal {
		return append(out, "TERM=dumb")
	}
	return append(out, "TERM=xterm-256color", "COLORTERM=truecolor", "TERM_PROGRAM=orchestrator")
}
