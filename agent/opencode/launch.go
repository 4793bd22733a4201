package opencode

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"orchestrator/agent/launch"
	"orchestrator/thread"
	"orchestrator/thread/pattern"
)

// ready is how long after its first output opencode may still lose keys.
const ready = 10 * time.Second

// sessionID is the format of session ids.
var sessionID = pattern.Lazy(`^ses_[A-Za-z0-9]{8,64}$`)

// Launch returns how to start opencode.
func (a *Agent) Launch(ctx context.Context, spec thread.LaunchSpec) (thread.Launch, error) {
	return a.launch(ctx, spec)
}

// launch prepares a start of one of opencode's commands, without any of its terminal.
func (a *Agent) launch(ctx context.Context, spec thread.LaunchSpec, command ...string) (thread.Launch, error) {
	env := launch.Environment(spec)
	found, err := a.program.Find(ctx, env)
	if err != nil {
		return thread.Launch{}, fmt.Errorf("launch opencode: %w", err)
	}
	if spec.Resume && !sessionID().MatchString(spec.Session) {
		return thread.Launch{}, fmt.Errorf("launch opencode: session %q: %w", spec.Session, thread.ErrInvalid)
	}
	l := thread.Launch{Path: found.Path, Args: slices.Concat(found.Args, command), Dir: spec.Dir, Ready: ready}
	if spec.Resume {
		l.Session = spec.Session
		l.Args = append(l.Args, "--session", spec.Session)
	}
	if spec.Model != "" {
		l.Args = append(l.Args, "--model", spec.Model)
	}
	switch mode := spec.Flags.PermissionMode; mode {
	case "", "default":
	case "auto":
		l.Args = append(l.Args, "--auto")
	default:
		l.Args = append(l.Args, "--agent", mode) // "build", "plan", or one of the person's own
	}
	l.Args = append(l.Args, spec.Flags.Args...)
	if env, err = configure(env, spec); err == nil {
		env, l.Unused, err = leaveOut(env, spec)
	}
	if err == nil {
		l.Env, l.MCP, err = giveServer(env, spec)
	}
	if err != nil {
		return thread.Launch{}, fmt.Errorf("launch opencode: %w", err)
	}
	return l, nil
}

// secretHeader is the header with a thread's secret for the gateway.
const secretHeader = "X-Orchestrator-Secret"

// configure adds the gateway and the readable folders to the person's configuration in the environment.
func configure(env launch.Env, spec thread.LaunchSpec) (launch.Env, error) {
	env, err := allowReading(env, spec)
	if err != nil || spec.BaseURL == "" {
		return env, err
	}
	dir := spec.Dir
	if spec.MCP != nil && spec.MCP.Distrust[Name] {
		dir = "" // giveServer
	}
	c, decided, err := look(env, dir)
	if err != nil {
		return nil, err
	}
	addresses, err := bases(env, c, decided)
	if err != nil || len(addresses) == 0 {
		return env, err
	}
	content := map[string]json.RawMessage{}
	if own := env.Value("OPENCODE_CONFIG_CONTENT"); own != "" {
		if err := json.Unmarshal(launch.StripComments([]byte(own)), &content); err != nil {
			return nil, fmt.Errorf("read OPENCODE_CONFIG_CONTENT: %w", err)
		}
	}
	providers := map[string]any{}
	if own := content["provider"]; own != nil {
		if err := json.Unmarshal(own, &providers); err != nil {
			return nil, fmt.Errorf("read OPENCODE_CONFIG_CONTENT: %w", err)
		}
	}
	// opencode writes the addresses of failed requests to its sessions and logs.
	open, mark := thread.PublicURL(spec.BaseURL)
	for id, base := range addresses {
		_, version := launch.SplitVersion(base, versions...)
		options := table(table(providers, id), "options")
		options["baseURL"] = open + "/@" + id + version
		if mark != "" {
			table(options, "headers")[secretHeader] = mark
		}
	}
	if content["provider"], err = json.Marshal(providers); err != nil {
		return nil, err
	}
	raw, err := json.Marshal(content)
	if err != nil {
		return nil, err
	}
	return env.With("OPENCODE_CONFIG_CONTENT", string(raw)), nil
}
