package verbs

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"orchestrator/cmd/orchestrator/e2e"
)

// TestEndlessFiles: in a repository that came in an archive with a pipe where git reads, verbs end, and name the pipe.
// The package git tries every place; HOSTILE=each has all of them tried by every verb.
func TestEndlessFiles(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name  string
		whole bool // git cannot be used at all
	}{
		{".git/HEAD", true}, {".git/config", true}, {".git/index", true}, {".git/info/exclude", true},
		{".git/refs/heads/main", false}, {".gitignore", false}, {"docs/.gitignore", false}, {".git/worktrees/x/gitdir", false},
	} {
		t.Run(strings.ReplaceAll(tc.name, "/", " "), func(t *testing.T) {
			t.Parallel()
			r := e2e.NewRig(t)
			path := filepath.Join(r.Project, tc.name)
			err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.RemoveAll(path))
			if err == nil {
				err = syscall.Mkfifo(path, 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { os.Remove(path) })
			var all bytes.Buffer
			name := "a"
			for _, words := range []string{
				"threads", "doctor", "new -a demo -p write|a|file|one.txt:|words a", "send --timeout 60s a list|files", "checkpoint list a", "fork b -t a",
				"checkpoint diff a", "merge --dry-run b", "push a", "trust --git", "gc", "stop", "threads",
			} {
				args := strings.Fields(words)
				for i := range args {
					args[i] = strings.ReplaceAll(args[i], "|", " ")
				}
				begin := time.Now()
				res := r.Run(args...)
				if took := time.Since(begin); took > e2e.Patience/2 {
					t.Errorf("%s took %s", args[0], took)
				}
				all.WriteString(res.Stdout + res.Stderr)
				if args[0] == "new" {
					if res.Code != 0 || !strings.HasPrefix(res.Stdout, name+"-") {
						t.Errorf("no thread can be made: exit %d, %s%s", res.Code, res.Stdout, res.Stderr)
					}
				}
				if args[0] == "doctor" && tc.whole && !strings.Contains(res.Stdout, path) {
					t.Errorf("doctor does not name it:\n%s", res.Stdout)
				}
			}
			if !strings.Contains(all.String(), path+" is a pipe") {
				t.Errorf("it is never named:\n%s", all.String())
			}
		})
	}
}
