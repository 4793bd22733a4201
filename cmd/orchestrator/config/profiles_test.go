package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"syscall"
	"testing"

	"orchestrator/thread"
)

func TestProfiles(t *testing.T) {
	for _, c := range []struct {
		name, user, project string
		want                []thread.Profile
		err                 []string
	}{
		{name: "in the order of the file", user: "[profiles.z]\nagent = \"claude\"\nmodel = \"opus\"\npermission_mode = \"plan\"\nbase = \"slim\"\nworktree = true\n" +
			"mcp = [\"github\", \"pg\"]\nargs = [\"--verbose\", \"a b\"]\n[profiles.a]\nagent = \"demo\"\nworktree = false\n[profiles]\nm = { agent = \"codex\" }\n",
			want: []thread.Profile{
				{Name: "z", Agent: "claude", Model: "opus", PermissionMode: "plan", Base: "slim", Apart: thread.ApartYes,
					MCP: []string{"github", "pg"}, Args: []string{"--verbose", "a b"}},
				{Name: "a", Agent: "demo", Apart: thread.ApartNo}, {Name: "m", Agent: "codex"},
			}},
		{name: "without an agent", user: "\n[profiles.x]\nmodel = \"m\"\n", err: []string{"config.toml:2", `profiles."x"`, "names no agent"}},
		{name: "an unknown key", user: "[profiles.x]\nagent = \"a\"\nenv = \"TOKEN=1\"\n", err: []string{"config.toml:3", `unknown key "env"`}},
		{name: "no list", user: "[profiles.x]\nagent = \"a\"\nmcp = \"github\"\n", err: []string{"config.toml:3", "must be a list"}},
		{name: "a bad name", user: "[profiles.\"a\\nb\"]\nagent = \"a\"\n", err: []string{"must be a name"}},
		{name: "no table", user: "profiles = 3\n", err: []string{"config.toml:1", "must be a table"}},
		{name: "of a repository", project: "[profiles.x]\nagent = \"command\"\nargs = [\"sh\", \"-c\", \"evil\"]\n",
			err: []string{".orchestrator.toml:", "profiles", "your own configuration"}},
	} {
		home, root := t.TempDir(), t.TempDir()
		write(t, PersonFile(home), c.user)
		if c.project != "" {
			write(t, ProjectFile(root), c.project)
		}
		got, err := Load(root, nil, home, always)
		for _, part := range c.err {
			if err == nil || !strings.Contains(err.Error(), part) {
				t.Errorf("%s: error %v lacks %q", c.name, err, part)
			}
		}
		if len(c.err) == 0 && (err != nil || !reflect.DeepEqual(got.Profiles, c.want)) {
			t.Errorf("%s: %+v, %v", c.name, got.Profiles, err)
		}
	}
}

func write(t *testing.T, file, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// A remembered profile is read as it was given, and what else the file says stays as it is written.
func TestAddProfile(t *testing.T) {
	odd := thread.Profile{Name: `a "b" \ 語 [x]`, Agent: "claude", Base: "slim", Model: "m\tn", PermissionMode: "plan", Apart: thread.ApartYes,
		MCP: []string{"a", "b"}, Args: []string{`--x="y"`, "line\nbreak", "é\x7f"}}
	for _, before := range []string{"", "theme = \"dark\" # mine\n[keys]\nfork = \"ctrl+y\"", "[profiles.one]\nagent = \"demo\"\n"} {
		home := t.TempDir()
		if before != "" {
			write(t, PersonFile(home), before)
		}
		if err := AddProfile(home, odd); err != nil {
			t.Fatal(err)
		}
		c, err := Load(t.TempDir(), nil, home, never)
		if err != nil || !reflect.DeepEqual(c.Profiles[len(c.Profiles)-1], odd) {
			t.Errorf("after %q: %+v, %v", before, c.Profiles, err)
		}
		content, _ := os.ReadFile(PersonFile(home))
		if !strings.HasPrefix(string(content), before) {
			t.Errorf("the file was changed: %q", content)
		}
		if info, _ := os.Stat(PersonFile(home)); info.Mode().Perm() != 0o600 {
			t.Errorf("its mode is %v", info.Mode())
		}
		if err := AddProfile(home, odd); !errors.Is(err, thread.ErrNameTaken) {
			t.Errorf("the name is taken: %v", err)
		}
	}
	for _, before := range []string{"theme = dark\n", "profiles = { one = { agent = \"demo\" } }\n", "unknown = 1\n"} {
		home := t.TempDir()
		write(t, PersonFile(home), before)
		err := AddProfile(home, odd)
		if content, _ := os.ReadFile(PersonFile(home)); err == nil || string(content) != before {
			t.Errorf("%q became %q, %v", before, content, err)
		}
	}
	if err := AddProfile(t.TempDir(), thread.Profile{Name: " ", Agent: "demo"}); !errors.Is(err, thread.ErrInvalid) {
		t.Errorf("a name of spaces: %v", err)
	}
}

// The person's file may be a link to where they keep it.
func TestAddProfileThroughALink(t *testing.T) {
	home, dots := t.TempDir(), filepath.Join(t.TempDir(), "dots.toml")
	write(t, dots, "theme = \"dark\"\n")
	if err := os.MkdirAll(filepath.Dir(PersonFile(home)), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(dots, PersonFile(home)); err != nil {
		t.Fatal(err)
	}
	if err := AddProfile(home, thread.Profile{Name: "x", Agent: "demo"}); err != nil {
		t.Fatal(err)
	}
	if content, _ := os.ReadFile(dots); !strings.Contains(string(content), "[profiles.\"x\"]") {
		t.Errorf("%q", content)
	}
}

// TestAddProfileSaysWhatFailed: an error of the file itself says what it kept from being done, and only what failed first.
func TestAddProfileSaysWhatFailed(t *testing.T) {
	home := t.TempDir()
	if err := os.MkdirAll(filepath.Dir(PersonFile(home)), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(os.DevNull, PersonFile(home)); err != nil { // it cannot be synced
		t.Fatal(err)
	}
	err := AddProfile(home, thread.Profile{Name: "x", Agent: "demo"})
	if err == nil || !strings.HasPrefix(err.Error(), "remember the profile: sync ") {
		t.Errorf("%v", err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	r.Close()
	if err := addTo(w, "x"); !errors.Is(err, syscall.EPIPE) || strings.Contains(err.Error(), "sync") {
		t.Errorf("%v", err)
	}
}

// TestAddProfileAtOnce: of screens that remember profiles at the same time each finds what the others wrote: one name is
// remembered once, no profile is lost, and the file stays valid.
func TestAddProfileAtOnce(t *testing.T) {
	home := t.TempDir()
	const screens = 8
	var all sync.WaitGroup
	taken := make(chan error, screens)
	for i := range screens {
		all.Go(func() {
			taken <- AddProfile(home, thread.Profile{Name: "same", Agent: "demo"})
			if err := AddProfile(home, thread.Profile{Name: fmt.Sprint("own ", i), Agent: "demo"}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	close(taken)
	won := 0
	for err := range taken {
		if err == nil {
			won++
		} else if !errors.Is(err, thread.ErrNameTaken) {
			t.Error(err)
		}
	}
	got, err := Load(t.TempDir(), nil, home, always)
	if err != nil || won != 1 || len(got.Profiles) != screens+1 {
		t.Errorf("%d wrote the same name, %d profiles, %v", won, len(got.Profiles), err)
	}
}
