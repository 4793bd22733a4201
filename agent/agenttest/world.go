package agenttest

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"orchestrator/thread"
)

// World returns what surrounds an agent that is started in an empty folder with an environment.
func World(t *testing.T, a thread.Agent, env []string) thread.World {
	t.Helper()
	w, err := a.World(thread.WorldSpec{Dir: t.TempDir(), Env: env})
	if err != nil {
		t.Fatal(err)
	}
	if (w.Aside == "") != (w.Upstreams != nil) {
		t.Errorf("%+v: it is sent through the gateway, or something says why not", w)
	}
	return w
}

// Around is a case of what surrounds an agent.
type Around struct {
	Name  string
	Files map[string]string // below the root; the folder is work, a repository, and the home is home
	Args  []string
	Env   []string // ROOT stands for the root
	Model string
	Want  string // the main address
	Aside string // part of why it steps aside
	Fails string // part of why it is refused
}

// Surround tries cases.
func Surround(t *testing.T, a thread.Agent, cases []Around) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			root := t.TempDir()
			Put(t, filepath.Join(root, "work", ".git", "HEAD"), "")
			for name, text := range c.Files {
				Put(t, filepath.Join(root, name), strings.ReplaceAll(text, "ROOT", root))
			}
			env := []string{"HOME=" + filepath.Join(root, "home")}
			for _, kv := range c.Env {
				env = append(env, strings.ReplaceAll(kv, "ROOT", root))
			}
			w, err := a.World(thread.WorldSpec{Dir: filepath.Join(root, "work"), Env: env, Flags: thread.Flags{Args: c.Args}, Model: c.Model})
			switch {
			case c.Fails != "":
				if err == nil || !strings.Contains(err.Error(), c.Fails) {
					t.Errorf("%v %+v", err, w)
				}
			case err != nil:
				t.Error(err)
			case c.Aside != "":
				if w.Upstreams != nil || !strings.Contains(w.Aside, c.Aside) {
					t.Errorf("%+v", w)
				}
			case w.Upstreams[""] != c.Want:
				t.Errorf("%+v, want %s", w, c.Want)
			}
		})
	}
}

// OddFiles has what is not a file, or much too large, where an agent reads its configuration: it is not waited for, and
// it is not guessed what would be in it.
func OddFiles(t *testing.T, a thread.Agent, spec thread.WorldSpec, path string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, make := range map[string]func() error{
		"pipe":   func() error { return syscall.Mkfifo(path, 0o600) },
		"device": func() error { return os.Symlink("/dev/zero", path) },
		"circle": func() error { return os.Symlink(path, path) },
		"huge": func() error {
			f, err := os.Create(path)
			if err != nil {
				return err
			}
			defer f.Close()
			return f.Truncate(3 << 30)
		},
		"half": func() error { return os.WriteFile(path, []byte("\xef\xbb\xbf{\"a\": [1, "), 0o600) },
	} {
		if err := make(); err != nil {
			t.Fatal(err)
		}
		if w, err := a.World(spec); err == nil {
			t.Errorf("%s: %+v", name, w)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(os.DevNull, path); err != nil {
		t.Fatal(err)
	}
	if _, err := a.World(spec); err != nil {
		t.Errorf("a link to nothing: %v", err)
	}
}
