package gemini

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"orchestrator/agent/launch"
	"orchestrator/thread"
)

// ready is how long after its first output Gemini CLI may still lose keys.
const ready = 3 * time.Second

// Launch returns how to start Gemini CLI.
func (a *Agent) Launch(ctx context.Context, spec thread.LaunchSpec) (thread.Launch, error) {
	return a.launch(ctx, spec, less{})
}

// launch prepares a start that also keeps to rules beyond the levers.
func (a *Agent) launch(ctx context.Context, spec thread.LaunchSpec, rules less) (thread.Launch, error) {
	env := launch.Environment(spec)
	found, err := a.program.Find(ctx, env)
	if err != nil {
		return thread.Launch{}, fmt.Errorf("launch gemini: %w", err)
	}
	session := spec.Session
	if session == "" && !spec.Resume {
		session = launch.UUID()
	}
	if !launch.IsUUID(session) {
		return thread.Launch{}, thread.Kindf(thread.ErrInvalid, "launch gemini: session %q is not a UUID", session)
	}
	l := thread.Launch{Path: found.Path, Args: found.Args, Dir: spec.Dir, Session: session, Ready: ready}
	if spec.Resume {
		l.Args = append(l.Args, "--resume", session)
		if f := locate(env, spec.Dir, session); f.main != "" {
			l.Loaded = loaded(filepath.Join(projects(env), f.main), session)
		}
	} else {
		l.Args = append(l.Args, "--session-id", session)
	}
	if spec.Model != "" {
		l.Args = append(l.Args, "--model", spec.Model)
	}
	if mode := spec.Flags.PermissionMode; mode != "" {
		l.Args = append(l.Args, "--approval-mode", mode)
	}
	out, unused := leaveOut(spec, env)
	l.Unused, out.never, out.own, out.server, out.idle = unused, rules.never, rules.own, rules.server, rules.idle
	out.settings = append(out.settings, rules.settings...)
	args, env, err := folders(env, spec, out)
	if err != nil {
		return thread.Launch{}, fmt.Errorf("launch gemini: %w", err)
	}
	trusted := trustOf(env, spec.Dir) != ""
	server, env, reach, err := giveServer(env, spec, out)
	if err != nil {
		return thread.Launch{}, fmt.Errorf("launch gemini: %w", err)
	}
	l.MCP = reach
	l.Args = append(append(append(l.Args, args...), server...), spec.Flags.Args...)
	if spec.BaseURL != "" {
		if env, err = viaGateway(env, spec); err != nil {
			return thread.Launch{}, fmt.Errorf("launch gemini: %w", err)
		}
	}
	if trusted {
		// After its question about the folder, Gemini CLI restarts itself, for which it needs a parent process of its own.
		// Without that parent it asks no further questions: the parent ignores signals until a turn ends, and leaves the real
		// process running when it is killed.
		env = env.Default("GEMINI_CLI_NO_RELAUNCH", "true")
	}
	// The script is run by the node on PATH, which may exist only beside it.
	if folder := filepath.Dir(found.Path); !slices.Contains(filepath.SplitList(env.Value("PATH")), folder) {
		env = env.With("PATH", env.Value("PATH")+string(filepath.ListSeparator)+folder)
	}
	l.Env = env
	return l, nil
}
