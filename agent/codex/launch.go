package codex

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"orchestrator/agent/launch"
	"orchestrator/thread"
)

// ready is how long after its first output Codex may still lose keys.
const ready = time.Second

// permission converts a permission mode to arguments. Codex has two independent settings; a mode sets one or both, as
// in "on-request/workspace-write".
func permission(mode string) ([]string, error) {
	var args []string
	for _, word := range strings.FieldsFunc(mode, func(r rune) bool { return r == '/' || r == ',' || r == ' ' }) {
		switch word {
		case "default":
		case "on-request", "never", "untrusted":
			args = append(args, "-a", word)
		case "read-only", "workspace-write", "danger-full-access":
			args = append(args, "-s", word)
		case "approve-for-me":
			args = append(args, "--approve-for-me")
		case "bypass", "yolo":
			args = append(args, "--dangerously-bypass-approvals-and-sandbox")
		default:
			return nil, fmt.Errorf("permission mode %q: must be on-request, never, untrusted, read-only, "+
				"workspace-write, danger-full-access, approve-for-me or bypass: %w", word, thread.ErrInvalid)
		}
	}
	return args, nil
}

// start is what starts of Codex have in common.
type start struct {
	launch thread.Launch // without arguments of its own; Args are those before all others
	config config
	// args are our settings; gateway those that count last, as the person's own arguments may have one too.
	args, gateway []string
}

// prepare returns what starts have in common.
func (a *Agent) prepare(ctx context.Context, spec thread.LaunchSpec) (start, error) {
	env := launch.Environment(spec)
	found, err := a.program.Find(ctx, env)
	if err != nil {
		return start{}, err
	}
	if spec.Resume && !launch.IsUUID(spec.Session) {
		return start{}, thread.Kindf(thread.ErrInvalid, "session %q is not a UUID", spec.Session)
	}
	c, err := readConfig(env, spec.Flags.Args)
	if err != nil && spec.BaseURL != "" {
		return start{}, err
	}
	// A plain codex starts a daemon that outlives us and holds a copy of the program.
	s := start{
		launch: thread.Launch{Path: found.Path, Args: found.Args, Dir: spec.Dir, Ready: ready}, config: c,
		args: []string{"-c", "features.daemon_auto_start=false"},
	}
	if spec.Resume {
		s.launch.Session = spec.Session
	}
	if spec.Bin != "" {
		var args []string
		args, env = c.keepPath(env)
		s.args = append(s.args, args...)
	}
	s.args = append(s.args, protect(env, spec.ReadDirs)...)
	handOver, err := c.handOver(spec)
	if err != nil {
		return start{}, err
	}
	s.args = append(s.args, handOver...)
	if spec.BaseURL != "" {
		if s.gateway, env, err = c.viaGateway(env, spec.BaseURL); err != nil {
			return start{}, err
		}
	}
	server, env, reach := giveServer(env, spec)
	s.args, s.launch.MCP = append(s.args, server...), reach
	// Behind the server that was given, which sets all servers at once: what leaves one out would be gone.
	less, unused := leaveOut(spec, env, found.Version)
	s.args, s.launch.Unused, s.launch.Env = append(s.args, less...), unused, env
	return s, nil
}

// Launch returns how to start Codex. It sets no notify program: Codex would pass all prompts of the session and the
// answer as an argument, which other users of the machine can read and which fails if it is too long. Codex reports its
// state by OSC 7501.
func (a *Agent) Launch(ctx context.Context, spec thread.LaunchSpec) (thread.Launch, error) {
	mode, err := permission(spec.Flags.PermissionMode)
	if err != nil {
		return thread.Launch{}, fmt.Errorf("launch codex: %w", err)
	}
	s, err := a.prepare(ctx, spec)
	if err != nil {
		return thread.Launch{}, fmt.Errorf("launch codex: %w", err)
	}
	l := s.launch
	if spec.Resume {
		l.Args = append(l.Args, "resume")
	}
	l.Args = append(l.Args, s.args...)
	if spec.Model != "" {
		l.Args = append(l.Args, "-m", spec.Model)
	}
	if spec.Resume && !setsFolder(spec.Flags.Args) {
		l.Args = append(l.Args, "-C", spec.Dir) // without it, it asks which folder is meant if the session names another
	}
	own, rest := spec.Flags.Args, []string(nil)
	if end := slices.Index(own, "--"); end >= 0 {
		own, rest = own[:end], own[end:]
	}
	l.Args = slices.Concat(l.Args, mode, own, s.gateway, rest)
	if spec.Resume {
		l.Args = append(l.Args, "--", spec.Session)
	}
	return l, nil
}

// setsFolder reports whether the person's own arguments set the working folder.
func setsFolder(args []string) bool {
	return slices.ContainsFunc(args, func(arg string) bool {
		return arg == "--cd" || strings.HasPrefix(arg, "--cd=") || strings.HasPrefix(arg, "-C")
	})
}

// keepPath returns what lets Codex's shell tool find the programs on Codex's own PATH. By default the tool runs a login
// shell, whose profile resets PATH; even without one, bash reads ~/.bashrc if its input is a socket, unless it seems to
// run inside another shell.
func (c config) keepPath(env launch.Env) ([]string, launch.Env) {
	if c.loginShell() {
		return nil, env // the person decided; ORCHESTRATOR_BIN in the environment is an absolute path
	}
	if level, err := strconv.Atoi(env.Value("SHLVL")); err != nil || level < 2 {
		env = env.With("SHLVL", "2")
	}
	return []string{"-c", "allow_login_shell=false"}, env
}

// protect returns arguments that keep Codex's sandbox from writing to folders that are read-only for it. The sandbox
// may read the whole disk and write to the working folder and to temporary folders.
func protect(env launch.Env, dirs []string) []string {
	var args []string
	for _, t := range []struct{ dir, key string }{
		{"/tmp", "sandbox_workspace_write.exclude_slash_tmp"},
		{env.Value("TMPDIR"), "sandbox_workspace_write.exclude_tmpdir_env_var"},
	} {
		within := func(dir string) bool {
			rel, err := filepath.Rel(t.dir, dir)
			return err == nil && filepath.IsLocal(rel)
		}
		if filepath.IsAbs(t.dir) && slices.ContainsFunc(dirs, within) {
			args = append(args, "-c", t.key+"=true")
		}
	}
	return args
}

// handOver makes the folder for what commands stage, as the sandbox keeps them from the server's socket, and returns
// arguments that let the sandbox write there too: if it writes at all, and unless somebody has configured where, because
// these arguments would replace that.
func (c config) handOver(spec thread.LaunchSpec) ([]string, error) {
	if c.ownRoots || projectRoots(spec.Dir) {
		return nil, nil
	}
	dir := filepath.Join(spec.StateDir, thread.DropFolder)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	quoted, err := json.Marshal([]string{dir}) // also an array of TOML
	if err != nil {
		return nil, err
	}
	return []string{"-c", "sandbox_workspace_write.writable_roots=" + string(quoted)}, nil
}
