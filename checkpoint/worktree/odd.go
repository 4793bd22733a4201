package worktree

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"orchestrator/checkpoint/disk"
	"orchestrator/checkpoint/git"
)

// odd reports, for people, what is wrong with a worktree of ours in a way that nothing here repairs: something else
// than a file, or a HEAD on a branch that does not exist. branch reports whether a branch of the repository exists.
func odd(common string, r record, branch func(ref string) bool) []string {
	part := filepath.Join(common, "worktrees", r.Name)
	if _, err := os.Lstat(part); err != nil {
		return nil
	}
	var found []string
	for _, file := range []string{
		filepath.Join(r.Root, ".git"), filepath.Join(part, "commondir"), filepath.Join(part, "gitdir"),
		filepath.Join(part, "HEAD"), filepath.Join(part, "index"), branchFile(common, r),
	} {
		if info, err := os.Lstat(file); err == nil && !info.Mode().IsRegular() {
			found = append(found, fmt.Sprintf("git cannot use worktree %s: %s is not a file; "+
				"move it away to have the next start rewrite it",
				r.Root, file))
		}
	}
	if len(found) > 0 {
		return found
	}
	if at, err := git.Find(r.Root); err != nil || at.Root != r.Root || at.GitDir != part {
		if info, err := os.Lstat(r.Root); err == nil && info.IsDir() {
			found = append(found, fmt.Sprintf("git cannot use worktree %s: %s does not point to its repository; move it away "+
				"to have the next start rewrite it", r.Root, filepath.Join(r.Root, ".git")))
		}
	}
	head, err := disk.ReadSmall(filepath.Join(part, "HEAD"))
	ref, isRef := strings.CutPrefix(strings.TrimSpace(string(head)), "ref: ")
	if own := "refs/heads/" + r.Branch; err == nil && isRef && ref != own && branch(own) && !branch(ref) {
		found = append(found, fmt.Sprintf("worktree %s is on branch %s, which does not exist; "+
			"unless you have just created it, return to its own branch with `git -C %s symbolic-ref HEAD %s`",
			r.Root, git.Printable(ref), r.Root, own))
	}
	return found
}

// sweepOdd removes everything that is not a file where we keep data that can be recreated: a pipe would block. state is
// our folder for one repository.
func sweepOdd(state string) error {
	homes, err := os.ReadDir(state)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("check the state of worktrees: %w", err)
	}
	for _, home := range homes {
		for _, name := range []string{
			"stamp", "meta.json", "index", "lock", "view/config", "view/HEAD", "shadow/config", "shadow/HEAD",
			"shadow/info/attributes",
		} {
			file := filepath.Join(state, home.Name(), name)
			if info, err := os.Lstat(file); err != nil || info.Mode().IsRegular() {
				continue
			}
			if err := disk.RemoveIn(filepath.Dir(file), filepath.Base(file)); err != nil {
				return fmt.Errorf("remove an unexpected entry: %w", err)
			}
		}
	}
	return nil
}
