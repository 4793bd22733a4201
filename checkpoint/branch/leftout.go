package branch

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"orchestrator/checkpoint/git"
	"orchestrator/thread"
)

// gates are the hooks that git would run for a person who did it by hand, and that we do not run.
func gates(op thread.Operation) []string {
	switch op {
	case thread.OpMerge, thread.OpDryRun:
		return []string{"pre-commit", "prepare-commit-msg", "commit-msg", "pre-merge-commit", "post-commit", "post-merge"}
	case thread.OpPush:
		return []string{"pre-commit", "prepare-commit-msg", "commit-msg", "post-commit", "pre-push"}
	default:
		return nil
	}
}

// LeftOut implements thread.LeftOutFinder.
func (m *Merger) LeftOut(ctx context.Context, op thread.Operation, dir, from string) ([]thread.LeftOut, error) {
	w, err := git.Find(dir)
	if err != nil {
		return nil, err
	}
	if err := m.git.Check(ctx, w); err != nil {
		return nil, err
	}
	hooks, err := m.hooks(ctx, w)
	if err != nil {
		return nil, err
	}
	var left []thread.LeftOut
	for _, name := range gates(op) {
		if info, err := os.Stat(filepath.Join(hooks, name)); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			left = append(left, thread.LeftOut{Kind: thread.LeftGate, Path: filepath.Join(hooks, name),
				Why: fmt.Sprintf("a %s runs no hooks; run it yourself if it must pass", strings.TrimSuffix(string(op), " --dry-run"))})
		}
	}
	if rel, err := filepath.Rel(w.Root, hooks); op == thread.OpFork && err == nil && filepath.IsLocal(rel) {
		if !isDir(hooks) && isDir(filepath.Join(from, rel)) {
			left = append(left, thread.LeftOut{Kind: thread.LeftHooks, Path: rel,
				Why: "core.hooksPath leads there, and it is in no commit: no hook runs in the fork until it is generated there"})
		}
	}
	modules, err := m.submodules(ctx, w)
	if err == nil && op == thread.OpDryRun { // what stands in the thread's worktree is what would come
		modules, err = m.comingSubmodules(ctx, from)
	}
	if err != nil {
		return left, err
	}
	for _, path := range slices.Sorted(maps.Keys(modules)) {
		if why := m.submoduleLeft(ctx, op, w, path, modules[path]); why != "" {
			left = append(left, thread.LeftOut{Kind: thread.LeftSubmodule, Path: path, Why: why})
		}
	}
	if why := nestedWhy[op]; why != "" {
		where := w.Root
		if op != thread.OpRewind && op != thread.OpPush {
			where = from
		}
		nested, err := m.nested(ctx, where)
		if err != nil {
			return left, err
		}
		for _, path := range nested {
			left = append(left, thread.LeftOut{Kind: thread.LeftRepository, Path: path, Why: why})
		}
	}
	content, err := m.contentLeft(ctx, op, w, from)
	return append(left, content...), err
}

// nestedWhy says what an operation does not do about a repository inside a worktree.
var nestedWhy = map[thread.Operation]string{
	thread.OpFork:   "it is a repository of its own, and is not in the fork",
	thread.OpRewind: "it is a repository of its own: files in it are not rewound",
	thread.OpMerge:  "it is a repository of its own: its files are not merged",
	thread.OpDryRun: "it is a repository of its own: its files would not be merged",
	thread.OpPush:   "it is a repository of its own: its files are not pushed",
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// submoduleLeft returns what an operation does not do about a submodule; "" for nothing.
func (m *Merger) submoduleLeft(ctx context.Context, op thread.Operation, w git.Worktree, path, commit string) string {
	switch op {
	case thread.OpFork:
		return "it is empty in the fork; git submodule update --init there fills it"
	case thread.OpRewind:
		return "files in it are not rewound"
	case thread.OpPush:
		return "commits made in it are not pushed; push them from there"
	case thread.OpMerge, thread.OpDryRun, thread.OpImport: // see below
	}
	inside := filepath.Join(w.Root, path)
	if _, err := os.Lstat(filepath.Join(inside, ".git")); err != nil {
		return "" // it is not filled here, so nothing here needs the commit
	}
	sub, err := git.Find(inside)
	if err != nil || sub.Root != inside {
		return ""
	}
	_, code, err := m.git.RunCode(ctx, git.Call{
		Dir: inside, Env: sub.Env(), Args: []string{"cat-file", "-e", commit + "^{commit}"}, OK: []int{1, 128},
	})
	if err == nil && code != 0 {
		return fmt.Sprintf("its commit %.12s is not here; push it from the submodule of the thread's worktree, or fetch it from there",
			commit)
	}
	return ""
}

// hooks returns the folder of the hooks that git runs in a worktree.
func (m *Merger) hooks(ctx context.Context, w git.Worktree) (string, error) {
	out, err := m.git.Run(ctx, git.Call{Dir: w.Root, Env: w.Env(), OK: []int{1},
		Args: []string{"config", "--null", "--show-scope", "--type=path", "--get-all", "core.hooksPath"}})
	if err != nil {
		return "", fmt.Errorf("find the hooks: %w", err)
	}
	dir := filepath.Join(w.Common, "hooks")
	f := git.Fields(out)
	for i := 0; i+1 < len(f); i += 2 {
		if f[i] == "command" {
			continue // ours
		}
		if dir = f[i+1]; !filepath.IsAbs(dir) {
			dir = filepath.Join(w.Root, dir)
		}
	}
	return dir, nil
}

// submodules returns the commits of a worktree's submodules, by path.
func (m *Merger) submodules(ctx context.Context, w git.Worktree) (map[string]string, error) {
	out, err := m.git.Run(ctx, git.Call{Dir: w.Root, Env: w.Env(), Args: []string{"ls-files", "--stage", "-z"}})
	if err != nil {
		return nil, fmt.Errorf("find the submodules: %w", err)
	}
	all := map[string]string{}
	for _, entry := range git.Fields(out) {
		head, path, ok := strings.Cut(entry, "\t")
		if words := strings.Fields(head); ok && len(words) == 3 && words[0] == "160000" {
			all[path] = words[1]
		}
	}
	return all, nil
}

// comingSubmodules returns the commits of a worktree's submodules as a commit of it would have them.
func (m *Merger) comingSubmodules(ctx context.Context, dir string) (map[string]string, error) {
	w, err := git.Find(dir)
	if err != nil {
		return nil, err
	}
	modules, err := m.submodules(ctx, w)
	if err != nil {
		return nil, err
	}
	for path := range modules {
		inside := filepath.Join(w.Root, path)
		sub, err := git.Find(inside)
		if err != nil || sub.Root != inside {
			continue // not filled
		}
		out, code, err := m.git.RunCode(ctx, git.Call{
			Dir: inside, Env: sub.Env(), Args: []string{"rev-parse", "--verify", "--quiet", "HEAD^{commit}"}, OK: []int{1, 128},
		})
		if err != nil {
			return nil, fmt.Errorf("read the submodule %s: %w", path, err)
		}
		if code == 0 {
			modules[path] = strings.TrimSpace(string(out))
		}
	}
	return modules, nil
}

// nested returns the repositories in a worktree that are not part of it.
func (m *Merger) nested(ctx context.Context, root string) ([]string, error) {
	w, err := git.Find(root)
	if err != nil {
		return nil, err
	}
	out, err := m.git.Run(ctx, git.Call{Dir: w.Root, Env: w.Env(),
		Args: []string{"ls-files", "--others", "--directory", "--exclude-standard", "-z"}})
	if err != nil {
		return nil, fmt.Errorf("find nested repositories: %w", err)
	}
	var all []string
	for _, path := range git.Fields(out) {
		if _, err := os.Lstat(filepath.Join(w.Root, path, ".git")); strings.HasSuffix(path, "/") && err == nil {
			all = append(all, strings.TrimSuffix(path, "/"))
		}
	}
	return all, nil
}
