package bases

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"orchestrator/agent"
	"orchestrator/agent/agenttest/clis"
	"orchestrator/agent/agenttest/model"
	"orchestrator/agent/claude"
	"orchestrator/agent/codex"
	"orchestrator/agent/gemini"
	"orchestrator/agent/launch"
	"orchestrator/agent/opencode"
	"orchestrator/agent/session"
	"orchestrator/agent/vterm"
	"orchestrator/thread"
)

// binVariable names a folder of commands in place of the pinned CLIs, to try another version.
const binVariable = "ORCHESTRATOR_BASE_BIN"

// limit is how long anything may take: these programs start slowly on a busy machine.
const limit = 2 * time.Minute

// adapter is what the adapters of all real CLIs are.
type adapter interface {
	thread.Agent
	agent.RuleSource
	agent.InputReader
}

var adapters = map[string]func(launch.Config) adapter{
	"claude":   func(c launch.Config) adapter { return claude.New(c) },
	"codex":    func(c launch.Config) adapter { return codex.New(c) },
	"gemini":   func(c launch.Config) adapter { return gemini.New(c) },
	"opencode": func(c launch.Config) adapter { return opencode.New(c) },
}

// bench is a person's home and a repository with one real CLI.
type bench struct {
	*testing.T
	cli     clis.CLI
	root    string
	home    string
	project string
	env     []string
	hooks   string // the file in which the hooks write what they were called for
	server  *model.Server
	agent   adapter
	all     *session.Sessions
	config  map[string]string // checksums of what the person has set up
	starts  int
	// measure is set to use the levers of a version that is not in the table as if it were.
	measure bool
}

// leastNamed is the model of opencode's with which all of its levers are used: its prompts for others tell them to use tools
// that would have gone.
const leastNamed = "fm/gpt-5.5"

// newBench makes a repository of a few files, with a file of instructions of 3 KB.
func newBench(t *testing.T, cli clis.CLI) *bench {
	t.Helper()
	bin := clis.Bin(t)
	if other := os.Getenv(binVariable); other != "" {
		bin = other
	}
	switch cli.Name {
	case "claude":
		cli.Model = "" // its own choice, as most have it: older models have longer prompts
	case "opencode":
		cli.Model = leastNamed
	}
	root, err := os.MkdirTemp("", "b")
	if err == nil {
		root, err = filepath.EvalSymlinks(root)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(root) }) // the agents still write for a moment
	b := &bench{
		T: t, cli: cli, root: root, home: filepath.Join(root, "home"), project: filepath.Join(root, "shop"),
		hooks: filepath.Join(root, "hooks"), server: model.New(answer),
	}
	t.Cleanup(b.server.Close)
	b.write("shop/README.md", "# A shop\n\nIt sells pears.\n")
	b.write("shop/notes.md", "The word is xyzzy.\n")
	b.write("shop/src/main.go", "package main\n\nfunc main() { println(\"hello\") }\n")
	rules := "# Rules\n\n" + strings.Repeat("- Name a thing by what it is, and say in a comment why it is there.\n", 44)
	for _, name := range []string{"CLAUDE.md", "AGENTS.md", "GEMINI.md"} {
		b.write("shop/"+name, rules)
	}
	for _, args := range [][]string{
		{"init", "-q", "-b", "main"}, {"config", "user.name", "Tess"}, {"config", "user.email", "tess@example.com"},
		{"add", "."}, {"commit", "-qm", "begin"},
	} {
		b.run("git", args...)
	}
	if err := os.MkdirAll(b.home, 0o755); err != nil {
		t.Fatal(err)
	}
	b.env = append([]string{"HOME=" + b.home, "PATH=" + bin + ":" + os.Getenv("PATH"), "SHELL=/bin/sh"},
		cli.SetUp(t, b.home, b.server.URL(), b.project)...)
	b.config = b.sums()
	hook := []string{"/bin/sh", "-c", `cat > /dev/null; echo "$1" >> ` + b.hooks, "hook"}
	b.agent = adapters[cli.Name](launch.Config{Env: b.env, Hook: hook})
	b.all = session.New(session.Config{
		Rules: func(string) []agent.Rule { return b.agent.Rules() },
		Input: func(string) func(*vterm.Terminal) (agent.Input, bool) { return b.agent.Input },
	})
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		defer cancel()
		if err := b.all.Close(ctx, 3*time.Second); err != nil {
			t.Errorf("stop the agents: %v", err)
		}
	})
	return b
}

func (b *bench) run(name string, args ...string) {
	b.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = b.project, append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("%s: %v: %s", name, err, out)
	}
}

func (b *bench) write(name, text string) {
	b.Helper()
	path := filepath.Join(b.root, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		b.Fatal(err)
	}
}

// sums returns the checksums of the files in the home, without those that the CLIs keep their own state in.
func (b *bench) sums() map[string]string {
	b.Helper()
	own := map[string]bool{".claude.json": true}
	sums := map[string]string{}
	err := filepath.WalkDir(b.home, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || own[d.Name()] {
			return err
		}
		sums[path], err = sumOf(path)
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	return sums
}

// notes match what the CLIs themselves note in a person's settings, whatever is left out: Codex what it has shown, opencode
// the schema.
var notes = regexp.MustCompile(`(?s)\s*\n\[tui.*|\s*"\$schema": "https://opencode.ai/config.json",`)

// sumOf returns the checksum of a file without the notes in it.
func sumOf(path string) (string, error) {
	raw, err := os.ReadFile(path)
	sum := sha256.Sum256(bytes.TrimSpace(notes.ReplaceAll(raw, nil)))
	return hex.EncodeToString(sum[:]), err
}

// sameHome checks that what the person has set up is as it was.
func (b *bench) sameHome() {
	b.Helper()
	for path, was := range b.config {
		if now, err := sumOf(path); err != nil || now != was {
			b.Errorf("%s of the person's has changed: %v", path, err)
		}
	}
}

// levers returns the CLI's levers, or skips the test.
func (b *bench) levers() thread.Levers {
	b.Helper()
	s, ok := b.agent.(thread.Slimmer)
	if !ok {
		b.Skipf("SKIPPED: the adapter of %s has no levers", b.cli.Name)
	}
	l, err := s.Levers(b.Context(), thread.WorldSpec{Dir: b.project, Env: b.env, Model: b.cli.Model})
	if err != nil {
		b.Fatal(err)
	}
	for i := range l.Levers {
		if b.measure && !l.Known {
			l.Levers[i].Kept = ""
		}
	}
	return l
}

// left returns the levers that a profile uses.
func (b *bench) left(profile string) []string {
	b.Helper()
	names, kept, err := thread.ChooseBase(b.levers(), profile, nil, nil)
	if err != nil {
		b.Fatal(err)
	}
	for _, name := range slices.Sorted(maps.Keys(kept)) {
		b.Logf("%s keeps %s: %s", profile, name, kept[name])
	}
	return names
}

// launch prepares a start without levers, or with some.
func (b *bench) launch(base []string, edit ...func(*thread.LaunchSpec)) thread.Launch {
	b.Helper()
	b.starts++
	spec := thread.LaunchSpec{
		Thread: thread.ID(fmt.Sprintf("%016x", b.starts)), Dir: b.project, Env: b.env, Model: b.cli.Model, Base: base,
		StateDir: filepath.Join(b.root, fmt.Sprintf("state-%d", b.starts)),
		Flags:    thread.Flags{PermissionMode: b.cli.Mode},
		BaseURL:  b.server.URL() + "/t/secret", HookURL: b.server.URL() + "/h/secret",
	}
	for _, e := range edit {
		e(&spec)
	}
	l, err := b.agent.Launch(b.Context(), spec)
	if err != nil {
		b.Fatal(err)
	}
	for name, why := range l.Unused {
		b.Logf("lever %s is not used: %s", name, why)
	}
	return l
}

// running is a CLI in a terminal.
type running struct {
	*bench
	thread.Session
	mu    sync.Mutex // guards states
	shown []thread.State
}

func (b *bench) start(l thread.Launch) *running {
	b.Helper()
	r := &running{bench: b}
	s, err := b.all.Start(b.Context(), thread.SessionSpec{
		Thread: thread.ID(fmt.Sprintf("%016x", 1000+b.starts)), Agent: b.cli.Name, Launch: l, Cols: 120, Rows: 40,
		OnState: func(s thread.StateReport) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.shown = append(r.shown, s.State)
		},
	})
	if err != nil {
		b.Fatal(err)
	}
	r.Session = s
	return r
}

// states returns the states that were reported so far.
func (r *running) states() []thread.State {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.shown)
}

func (r *running) screen() string {
	one, ok := r.Session.(*session.Session)
	if !ok {
		return ""
	}
	return strings.Join(one.Screen(), "\n")
}

// say sends a prompt and returns the first request that brings it.
func (r *running) say(prompt string) model.Request {
	r.Helper()
	ctx, cancel := context.WithTimeout(r.Context(), limit)
	defer cancel()
	for {
		err := r.Send(ctx, prompt)
		var not *thread.NotReadyError
		if err == nil {
			break
		}
		if !errors.As(err, &not) || ctx.Err() != nil {
			r.Fatalf("send %q: %v\n%s", prompt, err, r.screen())
		}
		time.Sleep(300 * time.Millisecond)
	}
	return r.heard(ctx, prompt, r.screen)
}

// heard waits for the first main request with a prompt.
func (b *bench) heard(ctx context.Context, prompt string, screen func() string) model.Request {
	b.Helper()
	q, err := b.server.Wait(ctx, func(q model.Request) bool {
		return main(q.Turn) && strings.Trim(q.Turn.Prompt, `"`) == prompt // opencode quotes an argument with spaces
	})
	if err != nil {
		b.Fatalf("the model never heard %q: %v\n%s", prompt, err, screen())
	}
	return q
}

// done waits for the request whose answer ends the turn of a prompt, and returns it.
func (r *running) done(prompt string) model.Request {
	r.Helper()
	ctx, cancel := context.WithTimeout(r.Context(), limit)
	defer cancel()
	q, err := r.server.Wait(ctx, func(q model.Request) bool {
		return main(q.Turn) && q.Turn.Prompt == prompt && len(q.Reply.Calls) == 0
	})
	if err != nil {
		r.Fatalf("no answer to %q: %v\n%s", prompt, err, r.screen())
	}
	return q
}

func (r *running) end() {
	r.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	if err := r.Stop(ctx, 5*time.Second); err != nil {
		r.Errorf("stop: %v", err)
	}
}

// first starts the CLI in a terminal with some levers, and returns its first main request.
func (b *bench) first(base []string, edit ...func(*thread.LaunchSpec)) model.Request {
	b.Helper()
	r := b.start(b.launch(base, edit...))
	defer r.end()
	return r.say(fmt.Sprintf("hello %d", b.starts))
}

// oneShot is first by the CLI's command for a single prompt.
func (b *bench) oneShot(base []string, edit ...func(*thread.LaunchSpec)) model.Request {
	b.Helper()
	l := b.launch(base, edit...)
	prompt := fmt.Sprintf("hello once %d", b.starts)
	args := slices.Clone(l.Args)
	switch b.cli.Name {
	case "codex":
		if i := slices.Index(args, "-a"); i >= 0 { // it asks nobody
			args = slices.Delete(args, i, i+2)
		}
		args = append(append([]string{"exec"}, args...), prompt)
	case "opencode":
		args = append(append([]string{"run"}, args...), prompt)
	default:
		args = append(args, "-p", prompt)
	}
	ctx, cancel := context.WithTimeout(b.Context(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, l.Path, args...)
	// As every process of ours has it in a terminal.
	cmd.Dir, cmd.Env, cmd.WaitDelay = l.Dir, append(l.Env, "NO_PROXY=127.0.0.1", "no_proxy=127.0.0.1"), time.Second
	out, err := cmd.CombinedOutput()
	if err != nil {
		b.Logf("%s: %v: %s", b.cli.Name, err, out)
	}
	ctx, end := context.WithTimeout(b.Context(), 5*time.Second)
	defer end()
	return b.heard(ctx, prompt, func() string { return string(out) })
}
