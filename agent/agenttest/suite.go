package agenttest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"orchestrator/agent/launch"
	"orchestrator/thread"
)

// Subject is an adapter under test.
type Subject struct {
	// New makes the adapter.
	New func(launch.Config) thread.Agent
	// Command is the program's name; empty for adapters that need none installed.
	Command string
	// Old is a version that is too old, New one that is new enough.
	OldVersion, NewVersion string
	// Env is the person's environment beyond HOME and PATH.
	Env []string
	// Configure writes the person's own settings below the home folder.
	Configure func(t *testing.T, home string)
	// Gateway is false for adapters without a way through the gateway.
	Gateway bool
	// Resumes is false for adapters that cannot resume.
	Resumes bool
	// Chooses is set where the session id is known before the start.
	Chooses bool
	// Flags are what the adapter needs to be launched at all.
	Flags thread.Flags
	// NewSession makes a valid session id.
	NewSession func() string
	// Write makes a native session of so many turns as the agent writes it; nil without transcripts.
	// Turn i, from 1, has the prompt "prompt-i." and the answer "answer-i.".
	Write func(t *testing.T, env []string, dir, session string, turns int) Native
	// CannotFork is set where Rebuild needs the real program.
	CannotFork bool
}

// Native is a session on disk.
type Native struct {
	// Main is the path of the session's own file; empty where it is none.
	Main string
	// Ends are the file's sizes after each turn.
	Ends []int64
}

// bench is the surroundings of one test.
type bench struct {
	t                *testing.T
	s                Subject
	home, dir, state string
	env              []string
	agent            thread.Agent
}

// Run runs the suite.
func Run(t *testing.T, s Subject) {
	t.Run("detect", func(t *testing.T) { detect(t, s) })
	t.Run("launch", func(t *testing.T) { launches(t, s) })
	t.Run("hostile", func(t *testing.T) { hostile(t, s) })
	t.Run("missing", func(t *testing.T) { missing(t, s) })
	t.Run("obeys", func(t *testing.T) { obeys(t, s) })
	if s.Write != nil {
		t.Run("transcript", func(t *testing.T) { transcripts(t, s) })
	}
}

// newBench makes a home with the person's settings and the program in it.
func newBench(t *testing.T, s Subject, version string) *bench {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{t: t, s: s, home: filepath.Join(root, "home"), dir: filepath.Join(root, "work"), state: filepath.Join(root, "state")}
	for _, dir := range []string{b.home, b.dir, filepath.Join(b.home, "bin")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(b.state, 0o700); err != nil {
		t.Fatal(err)
	}
	b.env = append([]string{"HOME=" + b.home, "PATH=" + filepath.Join(b.home, "bin"), "TERM=xterm-256color"}, s.Env...)
	if s.Configure != nil {
		s.Configure(t, b.home)
	}
	if version != "" && s.Command != "" {
		Fake(t, filepath.Join(b.home, "bin", s.Command), version)
	}
	b.agent = s.New(launch.Config{Env: b.env, Hook: []string{"/opt/orch est/orchestrator", "hook"}})
	return b
}

// Fake writes a program that only says a version.
func Fake(t *testing.T, path, version string) {
	t.Helper()
	script := fmt.Sprintf("#!/bin/sh\necho 'fake %s'\n", version)
	if err := os.WriteFile(path, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
}

// spec is a plain launch.
func (b *bench) spec() thread.LaunchSpec {
	return thread.LaunchSpec{
		Thread: "0123456789abcdef", Dir: b.dir, StateDir: b.state, Env: b.env, Flags: b.s.Flags,
	}
}

// detector is an adapter that can say whether its program is there; all are.
type detector interface {
	Detect(context.Context) thread.AgentInfo
}

func detect(t *testing.T, s Subject) {
	ctx := t.Context()
	if s.Command == "" {
		return
	}
	tests := []struct {
		name, version string
		found         bool
		problem       bool
	}{
		{"not there", "", false, true},
		{"too old", s.OldVersion, true, true},
		{"new enough", s.NewVersion, true, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t, s, tt.version)
			d, ok := b.agent.(detector)
			if !ok {
				t.Fatal("has no Detect")
			}
			info := d.Detect(ctx)
			if tt.version == "" && info.Found {
				t.Skipf("SKIPPED: a real %s is installed at %s", s.Command, info.Path)
			}
			if info.Name != b.agent.Name() || info.Found != tt.found || (info.Problem != "") != tt.problem {
				t.Errorf("%+v", info)
			}
			if info.Problem != "" && info.Hint == "" {
				t.Error("a problem without a hint")
			}
			if len(info.Looked) == 0 {
				t.Error("does not say where it looked")
			}
			if tt.found && info.Version != tt.version {
				t.Errorf("version %q, want %q", info.Version, tt.version)
			}
		})
	}
}

// gateway addresses of the launches; the secret must not show where others can read it.
const (
	secret  = "5ecret0123456789abcdef0123456789"
	baseURL = "http://127.0.0.1:1234/t/" + secret
	hookURL = "http://127.0.0.1:1234/h/" + secret
)

func launches(t *testing.T, s Subject) {
	session := "11111111-2222-4333-8444-555555555555"
	if s.NewSession != nil {
		session = s.NewSession()
	}
	tests := []struct {
		name string
		edit func(*thread.LaunchSpec)
		skip bool
	}{
		{"plain", func(*thread.LaunchSpec) {}, false},
		{"model", func(p *thread.LaunchSpec) { p.Model = "some-model" }, false},
		{"permission mode", func(p *thread.LaunchSpec) { p.Flags.PermissionMode = "default" }, false},
		{"flags", func(p *thread.LaunchSpec) {
			p.Flags.Args = append(slices.Clone(p.Flags.Args), "--their-flag", "with space")
			p.Flags.Env = []string{"THEIR_VAR=a=b"}
		}, false},
		{"gateway", func(p *thread.LaunchSpec) { p.BaseURL, p.HookURL = baseURL, hookURL }, false},
		{"resume", func(p *thread.LaunchSpec) { p.Session, p.Resume = session, true }, !s.Resumes},
		{"resume with gateway", func(p *thread.LaunchSpec) {
			p.Session, p.Resume, p.BaseURL, p.HookURL = session, true, baseURL, hookURL
		}, !s.Resumes},
		{"folders to read", func(p *thread.LaunchSpec) {
			p.ReadDirs, p.Bin = []string{filepath.Join(p.StateDir, "read")}, filepath.Join(p.StateDir, "bin")
		}, false},
		{"no environment to speak of", func(p *thread.LaunchSpec) { p.Env = p.Env[:2] }, false},
	}
	for _, tt := range tests {
		if tt.skip {
			continue
		}
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t, s, s.NewVersion)
			spec := b.spec()
			tt.edit(&spec)
			b.launch(spec)
			b.launch(spec) // again over the files of the first
		})
	}
}

// launch launches and checks what holds for every launch.
func (b *bench) launch(spec thread.LaunchSpec) thread.Launch {
	b.t.Helper()
	before := Hash(b.t, b.home) + Hash(b.t, b.dir)
	l, err := b.agent.Launch(b.t.Context(), spec)
	if err != nil {
		b.t.Fatalf("launch: %v", err)
	}
	if after := Hash(b.t, b.home) + Hash(b.t, b.dir); after != before {
		b.t.Error("a launch changed the person's files")
	}
	b.checkLaunch(spec, l)
	b.checkState()
	return l
}

func (b *bench) checkLaunch(spec thread.LaunchSpec, l thread.Launch) {
	b.t.Helper()
	if !filepath.IsAbs(l.Path) {
		b.t.Errorf("program %q is not absolute", l.Path)
	}
	if l.Dir != spec.Dir {
		b.t.Errorf("folder %q, want %q", l.Dir, spec.Dir)
	}
	if spec.Resume && l.Session != spec.Session {
		b.t.Errorf("resumes %q, want %q", l.Session, spec.Session)
	}
	if b.s.Chooses && l.Session == "" {
		b.t.Error("session id is not known before the start")
	}
	if spec.Resume && !slices.ContainsFunc(l.Args, func(a string) bool { return strings.Contains(a, spec.Session) }) {
		b.t.Errorf("session %q is not in %q", spec.Session, l.Args)
	}
	for _, kv := range spec.Flags.Env {
		if !slices.Contains(l.Env, kv) {
			b.t.Errorf("%q is not in the environment", kv)
		}
	}
	for _, a := range spec.Flags.Args {
		if !slices.Contains(l.Args, a) && !slices.Contains(b.s.Flags.Args, a) {
			b.t.Errorf("argument %q is not in %q", a, l.Args)
		}
	}
	path, _ := launch.Env(l.Env).Lookup("PATH")
	if bin, _, _ := strings.Cut(path, ":"); spec.Bin != "" && bin != spec.Bin {
		b.t.Errorf("our program is not first on PATH %q", path)
	}
	if spec.BaseURL == "" {
		return
	}
	all := strings.Join(l.Args, "\n")
	if strings.Contains(l.Path+all, secret) {
		b.t.Error("the secret of the gateway stands in the arguments")
	}
	// The address has the secret in it, or goes without it and a header carries it.
	given := all + strings.Join(l.Env, "\n") + b.stateText()
	open, mark := thread.PublicURL(spec.BaseURL)
	if b.s.Gateway && !strings.Contains(given, spec.BaseURL) && !(strings.Contains(given, open) && strings.Contains(given, mark)) {
		b.t.Error("the gateway's address is nowhere")
	}
}

// checkState makes sure that files of a launch are for the person's eyes only.
func (b *bench) checkState() {
	b.t.Helper()
	err := filepath.WalkDir(b.state, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			b.t.Errorf("%s has mode %v", path, info.Mode())
		}
		return err
	})
	if err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) stateText() string {
	var all strings.Builder
	err := filepath.WalkDir(b.state, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		raw, err := os.ReadFile(path)
		all.Write(raw)
		return err
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return all.String()
}

// hostile launches with names that mean to be something else.
func hostile(t *testing.T, s Subject) {
	if !s.Resumes {
		return
	}
	for _, id := range []string{"../../etc/passwd", "-x", "--dangerously", "a/b", "", "x\x00y", "a b", strings.Repeat("f", 4000)} {
		b := newBench(t, s, s.NewVersion)
		spec := b.spec()
		spec.Session, spec.Resume = id, true
		if _, err := b.agent.Launch(t.Context(), spec); !errors.Is(err, thread.ErrInvalid) {
			t.Errorf("session %.20q: %v", id, err)
		}
		if tr, ok := b.agent.(thread.Transcriber); ok {
			if c, err := tr.ReadTranscript(t.Context(), thread.TranscriptSpec{Session: id, Dir: b.dir, Env: b.env}); err == nil && len(c) > 0 {
				t.Errorf("session %.20q: read %d chunks", id, len(c))
			}
		}
		if r, ok := b.agent.(thread.Rebuilder); ok {
			_, err := r.Rebuild(t.Context(), thread.RebuildSpec{
				Session: id, Dir: b.dir, FromDir: b.dir, StateDir: b.state, Env: b.env,
				Files: []thread.TranscriptFile{{File: "main", Data: []byte("{}\n")}},
			})
			if !errors.Is(err, thread.ErrInvalid) {
				t.Errorf("rebuild of session %.20q: %v", id, err)
			}
		}
	}
}

// missing launches without the program.
func missing(t *testing.T, s Subject) {
	if s.Command == "" {
		return
	}
	b := newBench(t, s, s.OldVersion)
	_, err := b.agent.Launch(t.Context(), b.spec())
	var hint *thread.HintError
	if !errors.Is(err, thread.ErrUnsupported) || !errors.As(err, &hint) {
		t.Errorf("too old: %v", err)
	}
}

// Hash sums up a folder: names, modes, link targets and contents.
func Hash(t *testing.T, root string) string {
	t.Helper()
	h := sha256.New()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		fmt.Fprintf(h, "%s %v\n", path, info.Mode())
		switch {
		case d.Type().IsRegular():
			raw, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			fmt.Fprintf(h, "%d %x\n", len(raw), sha256.Sum256(raw))
		case d.Type()&fs.ModeSymlink != 0:
			target, err := os.Readlink(path)
			if err != nil {
				return err
			}
			fmt.Fprintln(h, target)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// obeys checks the names of files that an adapter gives for comparing and copying.
func obeys(t *testing.T, s Subject) {
	b := newBench(t, s, s.NewVersion)
	var names []string
	if o, ok := b.agent.(thread.ConfigFiles); ok {
		names = o.ConfigFiles()
	}
	if l, ok := b.agent.(thread.LocalFiles); ok {
		names = append(names, l.LocalFiles()...)
	}
	for _, name := range names {
		if !filepath.IsLocal(name) || filepath.Clean(name) == "." || strings.ContainsAny(name, `\*?[`) {
			t.Errorf("%q names no file of a project", name)
		}
	}
	if len(names) == 0 && s.Command != "" {
		t.Error("names no files that the agent obeys")
	}
}
