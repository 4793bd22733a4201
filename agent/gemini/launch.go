package gemini

import (
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"sync"
	"time"

	"orchestrator/agent"
	"orchestrator/agent/launch"
	"orchestrator/thread"
	"orchestrator/thread/pattern"
)

// ready is how long after its first output Gemini CLI may still lose keys.
const ready = 3 * time.Second

// uuid is the format of session ids.
var uuid = pattern.Lazy(`^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`)

// Launch returns how to start Gemini CLI.
func (a *Agent) Launch(ctx context.Context, spec thread.LaunchSpec) (thread.Launch, error) {
	env := launch.Environment(spec)
	found, err := a.program.Find(ctx, env)
	if err != nil {
		return thread.Launch{}, fmt.Errorf("launch gemini: %w", err)
	}
	session := spec.Session
	if session == "" && !spec.Resume {
		session = launch.UUID()
	}
	if !uuid().MatchString(session) {
		return thread.Launch{}, fmt.Errorf("launch gemini: session %q is not a UUID: %w", session, thread.ErrInvalid)
	}
	l := thread.Launch{Path: found.Path, Args: found.Args, Dir: spec.Dir, Session: session, Ready: ready}
	if spec.Resume {
		l.Args = append(l.Args, "--resume", session)
	} else {
		l.Args = append(l.Args, "--session-id", session)
	}
	if spec.Model != "" {
		l.Args = append(l.Args, "--model", spec.Model)
	}
	if mode := spec.Flags.PermissionMode; mode != "" {
		l.Args = append(l.Args, "--approval-mode", mode)
	}
	args, env, err := folders(env, spec)
	if err != nil {
		return thread.Launch{}, fmt.Errorf("launch gemini: %w", err)
	}
	l.Args = append(append(l.Args, args...), spec.Flags.Args...)
	if spec.BaseURL != "" {
		env = env.With("GOOGLE_GEMINI_BASE_URL", spec.BaseURL)
	}
	if trustOf(env, spec.Dir) != "" {
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

// rules read the screen; the texts are from recordings of 0.61.0.
var rules = sync.OnceValue(func() []agent.Rule {
	return []agent.Rule{
		{
			State: thread.StateQuestion, Lines: 10, Detail: "asks a question",
			Pattern: regexp.MustCompile(`(?m)^\W*Enter to select · .*Esc to cancel`),
		},
		{
			State: thread.StateApproval, Lines: agent.InTitle, Detail: "title asks for action",
			Pattern: regexp.MustCompile(`^✋`),
		},
		{
			State: thread.StateApproval, Lines: 24, Detail: "asks whether to trust the folder",
			Pattern: regexp.MustCompile(`Do you trust the files in this folder\?`),
		},
		{
			State: thread.StateApproval, Lines: 24, Detail: "asks for permission",
			Pattern: regexp.MustCompile(`Allow execution of|Apply this change\?|● 1\. Allow once|1\. Allow once`),
		},
		{
			State: thread.StateUnauthorised, Lines: 24, Detail: "asks to log in",
			Pattern: regexp.MustCompile(`How would you like to authenticate|Enter Gemini API Key|Login with Google`),
		},
		{
			State: thread.StateQuestion, Lines: 10, Detail: "a menu is open",
			Pattern: regexp.MustCompile(`\(Use Enter to select\b|\(Press (Enter|Esc) to |(?m)^\W*Press q to exit|` +
				`^Navigate: .*Quit: q`),
		},
		{
			State: thread.StateQuestion, Lines: 24, Detail: "a choice is open",
			Pattern: regexp.MustCompile(`(?m)^ *│ *● \d+\. `),
		},
		{State: thread.StateWorking, Lines: agent.InTitle, Pattern: regexp.MustCompile(`^✦`), Detail: "title shows activity"},
		{
			State: thread.StateWorking, Lines: 12, Detail: `shows "esc to cancel"`,
			Pattern: regexp.MustCompile(`\(esc to cancel, \d`),
		},
		{
			State: thread.StateIdle, Lines: 8, Detail: "waits for a message", Prompt: true,
			Pattern: regexp.MustCompile(`Type your message or @path`),
		},
		{State: thread.StateIdle, Lines: agent.InTitle, Pattern: regexp.MustCompile(`^◇`), Detail: "title shows idle"},
	}
})

// Rules implements agent.RuleSource.
func (a *Agent) Rules() []agent.Rule { return rules() }
