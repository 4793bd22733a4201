package agenttest

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"orchestrator/agent/launch"
	"orchestrator/thread"
)

// Addresses of the gateway for launches; the secret must not be where others can read it.
const (
	secret  = "5ecret0123456789abcdef0123456789"
	baseURL = "http://127.0.0.1:1234/t/" + secret
	hookURL = "http://127.0.0.1:1234/h/" + secret
)

// bench is what one test runs in.
type bench struct {
	t                *testing.T
	s                Subject
	home, dir, state string
	env              []string
	agent            thread.Agent
}

// newBench creates a home folder with the person's settings and the program in it.
func newBench(t *testing.T, s Subject, version string) *bench {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{
		t: t, s: s, home: filepath.Join(root, "home"), dir: filepath.Join(root, "work"), state: filepath.Join(root, "state"),
	}
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

// spec is a plain launch.
func (b *bench) spec() thread.LaunchSpec {
	return thread.LaunchSpec{
		Thread: "0123456789abcdef", Dir: b.dir, StateDir: b.state, Env: b.env, Flags: b.s.Flags,
	}
}

// launch launches the agent and checks what must hold for every launch.
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
		b.t.Error("the secret of the gateway is in the arguments")
	}
	// The address contains the secret, or a header does.
	given := all + strings.Join(l.Env, "\n") + b.stateText()
	open, mark := thread.PublicURL(spec.BaseURL)
	whole, parted := strings.Contains(given, spec.BaseURL), strings.Contains(given, open) && strings.Contains(given, mark)
	if b.s.Gateway && !whole && !parted {
		b.t.Error("the gateway's address is nowhere")
	}
}

// checkState checks that only the person may read the files of a launch.
func (b *bench) checkState() {
	b.t.Helper()
	err := filepath.WalkDir(b.state, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil && d.Type()&fs.ModeSymlink == 0 && info.Mode().Perm()&0o077 != 0 {
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
