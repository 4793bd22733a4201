package project

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRecordCannotBeRead spoils what a state records about its project, where nothing else says whose it is: threads
// that may be the folder's are not left behind silently.
func TestRecordCannotBeRead(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	root := filepath.Join(top, "src", "shop")
	if err := os.MkdirAll(root, 0o700); err != nil {
		t.Fatal(err)
	}
	places := Places{
		Home: filepath.Join(top, "home"), State: filepath.Join(top, "state"),
		Accepted: func(string) bool { return true },
	}
	find := func() Project {
		p, err := Find(t.Context(), root, places)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	p := find()
	if err := p.Claim(); err != nil {
		t.Fatal(err)
	}
	state := p.StateDir()
	if err := os.Truncate(filepath.Join(state, recordName), 5); err != nil {
		t.Fatal(err)
	}
	if p := find(); p.Problem != nil || p.ID != "" {
		t.Errorf("a state that holds nothing: %q, %v", p.ID, p.Problem)
	}
	if err := os.WriteFile(filepath.Join(state, "state.db"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	p = find()
	if !errors.Is(p.Problem, ErrUndecided) ||
		!strings.Contains(p.Problem.Error(), "orchestrator adopt "+filepath.Base(state)) {
		t.Fatalf("%v", p.Problem)
	}
	if err := p.Adopt(""); err != nil || p.StateDir() != state {
		t.Errorf("adopted: %s, %v", p.StateDir(), err)
	}
	if p := find(); p.Problem != nil || p.StateDir() != state {
		t.Errorf("after that: %s, %v", p.StateDir(), p.Problem)
	}
}
