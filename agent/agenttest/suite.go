package agenttest

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"orchestrator/agent/launch"
	"orchestrator/thread"
)

// Run runs the suite.
func Run(t *testing.T, s Subject) {
	t.Run("detect", func(t *testing.T) { detect(t, s) })
	t.Run("launch", func(t *testing.T) { launches(t, s) })
	t.Run("headless", func(t *testing.T) { headless(t, s) })
	t.Run("hostile", func(t *testing.T) { hostile(t, s) })
	t.Run("missing", func(t *testing.T) { missing(t, s) })
	t.Run("obeys", func(t *testing.T) { obeys(t, s) })
	t.Run("slims", func(t *testing.T) { slims(t, s) })
	if s.Write != nil {
		t.Run("transcript", func(t *testing.T) { transcripts(t, s) })
	}
}

// detector is an adapter that reports whether its program is installed; all are.
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
		{"a smaller base", func(p *thread.LaunchSpec) { p.Base = everyLever(t, s, p) }, false},
		{"a smaller base with gateway", func(p *thread.LaunchSpec) {
			p.Base, p.BaseURL, p.HookURL = everyLever(t, s, p), baseURL, hookURL
		}, false},
		{"hardly any environment", func(p *thread.LaunchSpec) { p.Env = p.Env[:2] }, false},
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
			files := b.stateText()
			b.launch(spec) // again, with the files of the first one there
			if len(spec.Base) > 0 && b.stateText() != files {
				t.Errorf("the second start wrote\n%s\nafter\n%s", b.stateText(), files)
			}
		})
	}
}

// everyLever returns the names of all levers of the adapter, none if it has none.
func everyLever(t *testing.T, s Subject, spec *thread.LaunchSpec) (names []string) {
	t.Helper()
	slimmer, ok := s.New(launch.Config{Env: spec.Env}).(thread.Slimmer)
	if !ok {
		return nil
	}
	l, err := slimmer.Levers(t.Context(), thread.WorldSpec{Dir: spec.Dir, Env: spec.Env})
	if err != nil || len(l.Levers) == 0 {
		t.Errorf("levers: %+v %v", l, err)
	}
	for _, lever := range l.Levers {
		names = append(names, lever.Name)
	}
	slices.Sort(names)
	return names
}

// hostile launches with session ids that try to be something else, such as paths.
func hostile(t *testing.T, s Subject) {
	if !s.Resumes {
		return
	}
	for _, id := range []string{
		"../../etc/passwd", "-x", "--dangerously", "a/b", "", "x\x00y", "a b", strings.Repeat("f", 4000),
	} {
		b := newBench(t, s, s.NewVersion)
		spec := b.spec()
		spec.Session, spec.Resume = id, true
		if _, err := b.agent.Launch(t.Context(), spec); !errors.Is(err, thread.ErrInvalid) {
			t.Errorf("session %.20q: %v", id, err)
		}
		if tr, ok := b.agent.(thread.Transcriber); ok {
			c, err := tr.ReadTranscript(t.Context(), thread.TranscriptSpec{Session: id, Dir: b.dir, Env: b.env})
			if err == nil && len(c) > 0 {
				t.Errorf("session %.20q: read %d chunks", id, len(c))
			}
		}
		if r, ok := b.agent.(thread.Rebuilder); ok {
			_, err := r.Rebuild(t.Context(), thread.RebuildSpec{
				Session: id, Dir: b.dir, FromDirs: []string{b.dir}, StateDir: b.state, Env: b.env,
				Files: []thread.TranscriptFile{{File: "main", Data: []byte("{}\n")}},
			})
			if !errors.Is(err, thread.ErrInvalid) {
				t.Errorf("rebuild of session %.20q: %v", id, err)
			}
		}
	}
}

// missing launches a program that is too old.
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

// obeys checks the names of the files that an adapter lets be compared and copied.
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
			t.Errorf("%q does not name a file of a project", name)
		}
	}
	if len(names) == 0 && s.Command != "" {
		t.Error("names no files that the agent obeys")
	}
}
