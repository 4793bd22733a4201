package snapshot

import (
	"context"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"orchestrator/checkpoint/git"
	"orchestrator/thread"
)

// todo is what a restore has to do.
type todo struct {
	from, to string     // trees
	steps    []todoStep // sorted by path
	left     []thread.Skip
}

// todoStep is one path that differs.
type todoStep struct {
	path    string
	oldMode string // "" where the safety snapshot has nothing
	newMode string // "" where the target has nothing
	oid     string // of the target
	oldOID  string
	done    bool        // carried out and not left, so that it would have to be taken back
	old     fs.FileInfo // what stood there when the safety snapshot was taken, nil for nothing
}

// between lists what leads from one tree to another.
func (repo *repository) between(ctx context.Context, from, to string) (*todo, error) {
	return repo.betweenIn(ctx, nil, from, to)
}

// betweenIn does so with further environment.
func (repo *repository) betweenIn(ctx context.Context, env []string, from, to string) (*todo, error) {
	out, err := repo.ours(ctx, git.Call{Args: []string{
		"diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", "--end-of-options", from, to, "--",
	}, Env: env})
	if err != nil {
		return nil, err
	}
	t := &todo{}
	f := git.Fields(out)
	for i := 0; i+1 < len(f); i += 2 {
		head := strings.Fields(strings.TrimPrefix(f[i], ":"))
		if len(head) != 5 {
			return nil, fmt.Errorf("git diff-tree wrote %q", git.Printable(f[i]))
		}
		st := todoStep{path: f[i+1], oldMode: head[0], newMode: head[1], oid: head[3], oldOID: head[2]}
		if st.oldMode == "000000" {
			st.oldMode = ""
		}
		if st.newMode == "000000" {
			st.newMode = ""
		}
		t.steps = append(t.steps, st)
	}
	slices.SortFunc(t.steps, func(a, b todoStep) int { return strings.Compare(a.path, b.path) })
	return t, nil
}

func (t *todo) leave(name, reason string) {
	t.left = append(t.left, thread.Skip{Path: name, Reason: reason})
}

// only takes out what is not about some paths.
func (t *todo) only(paths []string) {
	names := make(map[string]bool, len(paths))
	for _, p := range paths {
		names[p] = true
	}
	t.steps = slices.DeleteFunc(t.steps, func(st todoStep) bool { return !names[st.path] })
}

// spare takes out what the target does not hold only because it skipped it.
func (t *todo) spare(skipped []thread.Skip) {
	if len(skipped) == 0 {
		return
	}
	names := make(map[string]bool, len(skipped))
	for _, sk := range skipped {
		names[strings.TrimSuffix(sk.Path, "/")] = true
	}
	t.steps = slices.DeleteFunc(t.steps, func(st todoStep) bool {
		if st.newMode != "" {
			return false
		}
		for at := st.path; at != "."; at = path.Dir(at) {
			if names[at] {
				t.leave(st.path, "left as it is: the snapshot skipped it")
				return true
			}
		}
		return false
	})
}

// parents are the folders that the target needs.
func (t *todo) parents() map[string]bool {
	need := map[string]bool{}
	for _, st := range t.steps {
		if st.newMode == "" {
			continue
		}
		for dir := path.Dir(st.path); dir != "." && !need[dir]; dir = path.Dir(dir) {
			need[dir] = true
		}
	}
	return need
}
