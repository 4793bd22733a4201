package relocate_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orchestrator/thread/relocate"
)

func TestText(t *testing.T) {
	f := relocate.New(map[string]string{
		"/home/u/proj": "/wt/fork", "/home/u/proj/.state": "/home/u/proj/.state", "/wt/parent": "/wt/fork", "/": "/x", "rel": "/y",
	})
	for in, want := range map[string]string{
		"":                                  "",
		"no path":                           "no path",
		"/home/u/proj":                      "/wt/fork",
		"edit /home/u/proj/a/b.go, please":  "edit /wt/fork/a/b.go, please",
		"in /home/u/proj.":                  "in /wt/fork.",
		"in /home/u/proj, and /wt/parent/x": "in /wt/fork, and /wt/fork/x",
		"/home/u/proj.old/a /home/u/proj-2 /home/u/project /home/u/proj_x /home/u/proj~": "/home/u/proj.old/a /home/u/proj-2 /home/u/project /home/u/proj_x /home/u/proj~",
		"/mnt/home/u/proj/a ../home/u/proj":                                              "/mnt/home/u/proj/a ../home/u/proj",
		`{"path":"/home/u/proj/a","patch":"x\n/home/u/proj/b"}`:                          `{"path":"/wt/fork/a","patch":"x\n/wt/fork/b"}`,
		"gcc -I/home/u/proj/inc --dir=/wt/parent":                                        "gcc -I/wt/fork/inc --dir=/wt/fork",
		"file:///home/u/proj/a (/home/u/proj/b)":                                         "file:///wt/fork/a (/wt/fork/b)",
		"read /home/u/proj/.state/threads/x":                                             "read /home/u/proj/.state/threads/x",
		"ü/home/u/proj \xff/home/u/proj":                                                 "ü/home/u/proj \xff/wt/fork",
	} {
		if got := f.Text(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestLinksAreFollowed(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "real"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("real", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	f := relocate.New(map[string]string{filepath.Join(dir, "link"): "/now"})
	if got := f.Text(dir + "/real/a " + dir + "/link/b"); got != "/now/a /now/b" {
		t.Errorf("%q", got)
	}
}

func FuzzText(f *testing.F) {
	f.Add("a /p/one/x \\n/p/one -I/p/one/ /p/one.")
	f.Add("/p/one\xff/p/on")
	r := relocate.New(map[string]string{"/p/one": "/q"})
	f.Fuzz(func(t *testing.T, s string) {
		got := r.Text(s)
		if strings.Contains(got, " /p/one/") {
			t.Errorf("%q: %q", s, got)
		}
		if strings.ReplaceAll(s, "/p/one", "/q") != strings.ReplaceAll(got, "/p/one", "/q") {
			t.Errorf("%q: %q: more was changed than the folders", s, got)
		}
	})
}
