package claude

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"orchestrator/agent/launch"
	"orchestrator/thread"
)

// ready is how long after its first output Claude Code may still lose keys.
const ready = time.Second

// settingsFile is the name of our settings file in the state folder.
const settingsFile = "claude-settings.json"

// Launch returns how to start Claude Code.
func (a *Agent) Launch(ctx context.Context, spec thread.LaunchSpec) (thread.Launch, error) {
	env := launch.Environment(spec)
	found, err := a.program.Find(ctx, env)
	if err != nil {
		return thread.Launch{}, fmt.Errorf("launch claude: %w", err)
	}
	session := spec.Session
	if session == "" {
		if spec.Resume {
			return thread.Launch{}, thread.Kindf(thread.ErrInvalid, "launch claude: no session to resume")
		}
		session = launch.UUID()
	}
	if !launch.IsUUID(session) {
		return thread.Launch{}, thread.Kindf(thread.ErrInvalid, "launch claude: session %q is not a UUID", session)
	}
	rest, own, err := ownSettings(spec.Dir, spec.Flags.Args)
	if err != nil {
		return thread.Launch{}, fmt.Errorf("launch claude: %w", err)
	}
	around := surroundings{env: env}
	if spec.BaseURL != "" {
		around, err = look(thread.WorldSpec{Dir: spec.Dir, Origin: spec.Origin, Env: env, Flags: spec.Flags})
		if err != nil {
			return thread.Launch{}, fmt.Errorf("launch claude: %w", err)
		}
	}
	at := addressIn(around.env)
	at.variable = cmp.Or(at.variable, ownAddress)
	l := thread.Launch{Path: found.Path, Dir: spec.Dir, Session: session, Ready: ready}
	l.Args = append(l.Args, found.Args...)
	if spec.Resume {
		l.Args = append(l.Args, "--resume", session)
	} else {
		l.Args = append(l.Args, "--session-id", session)
	}
	if spec.Model != "" {
		l.Args = append(l.Args, "--model", spec.Model)
	}
	if spec.Flags.PermissionMode != "" {
		l.Args = append(l.Args, "--permission-mode", spec.Flags.PermissionMode)
	}
	use, unused := used(spec, env)
	l.Unused = unused
	if s := a.settings(spec, around.env, at.variable, own, use); len(s) > 0 {
		path, err := launch.WriteFile(spec.StateDir, settingsFile, s)
		if err != nil {
			return thread.Launch{}, fmt.Errorf("launch claude: %w", err)
		}
		l.Args = append(l.Args, "--settings", path)
	}
	args, env, reach, err := giveServer(env, around.env, spec)
	if err != nil {
		return thread.Launch{}, fmt.Errorf("launch claude: %w", err)
	}
	l.MCP = reach
	l.Args = append(append(l.Args, args...), rest...)
	if spec.BaseURL != "" {
		if atAnthropic(at.base) {
			env = env.Default("_CLAUDE_CODE_ASSUME_FIRST_PARTY_BASE_URL", "1")
		}
		env = env.With(at.variable, spec.BaseURL)
	}
	if spec.HookURL != "" {
		env = env.With(launch.HookURLVar, spec.HookURL)
	}
	l.Env = env
	return l, nil
}
