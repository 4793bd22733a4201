package git

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"orchestrator/thread"
)

// TestDamagedObjects damages an object of a repository in several ways: each time the error names the object in our words,
// says what helps, and has none of git's own.
func TestDamagedObjects(t *testing.T) {
	for name, c := range map[string]struct {
		of   string // whose object is damaged
		with func(path string) error
		args []string
	}{
		"no object at all":   {"HEAD:a", writes("garbage garbage"), []string{"checkout-index", "--prefix=x/", "a"}},
		"an empty one":       {"HEAD:a", writes(""), []string{"cat-file", "blob", "OBJECT"}},
		"one that is cut":    {"HEAD:a", cuts(12), []string{"cat-file", "blob", "OBJECT"}},
		"a bit of its sum":   {"HEAD:a", flips(-3), []string{"cat-file", "blob", "OBJECT"}},
		"a bit of its head":  {"HEAD:a", flips(3), []string{"cat-file", "blob", "OBJECT"}},
		"a tree that is not": {"HEAD^{tree}", os.Remove, []string{"read-tree", "OBJECT"}},
		"a tree":             {"HEAD^{tree}", cuts(9), []string{"ls-tree", "-r", "HEAD"}},
		"a commit":           {"HEAD", cuts(9), []string{"log", "-1", "HEAD"}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			cmd := exec.Command("sh", "-ec", "git init -q; seq 1 2000 > a; git add a; git -c user.name=a -c user.email=a@b commit -qm x; git rev-parse "+c.of)
			cmd.Dir = dir
			cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GIT_CONFIG_NOSYSTEM=1"}
			out, err := cmd.Output()
			if err != nil {
				t.Fatal(err)
			}
			object := strings.TrimSpace(string(out))
			path := filepath.Join(dir, ".git", "objects", object[:2], object[2:])
			if err := errors.Join(os.Chmod(path, 0o600), c.with(path)); err != nil {
				t.Fatal(err)
			}
			g, err := New("HOME="+dir, "GIT_CONFIG_NOSYSTEM=1")
			if err != nil {
				t.Fatal(err)
			}
			var args []string
			for _, a := range c.args {
				args = append(args, strings.ReplaceAll(a, "OBJECT", object))
			}
			_, err = g.Run(t.Context(), Call{Dir: dir, Args: args})
			var with *thread.HintError
			if err == nil || !errors.As(err, &with) || !strings.Contains(err.Error(), "of the repository is damaged or missing") ||
				strings.Contains(err.Error(), "loose") || strings.Contains(err.Error(), "fatal") || !strings.Contains(err.Error(), "git fsck") {
				t.Errorf("%v", err)
			}
			var said *Error
			if errors.As(err, &said) {
				if got, _ := said.Damaged(); got != "" && got != object {
					t.Errorf("it names %s, not %s: %s", got, object, said.Stderr)
				}
			}
		})
	}
	for _, said := range []string{"fatal: Not a valid object name HEAD:a", "error: unable to read the file a", "fatal: bad revision 'x'", ""} {
		if _, damaged := (&Error{Stderr: said}).Damaged(); damaged {
			t.Errorf("%q is taken for damage", said)
		}
	}
}

func writes(text string) func(string) error {
	return func(path string) error { return os.WriteFile(path, []byte(text), 0o600) }
}

func cuts(size int64) func(string) error {
	return func(path string) error { return os.Truncate(path, size) }
}

func flips(at int) func(string) error {
	return func(path string) error {
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		b[(at+len(b))%len(b)] ^= 4
		return os.WriteFile(path, b, 0o600)
	}
}
