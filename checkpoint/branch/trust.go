package branch

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"orchestrator/checkpoint/git"
	"orchestrator/thread"
)

// ProgramError says that the repository's own configuration names a program that git would run.
type ProgramError struct {
	Key     string // "filter.x.clean"
	Command string
}

func (e *ProgramError) Error() string {
	return fmt.Sprintf("the repository's own configuration would run %q as %s", git.Printable(e.Command), git.Printable(e.Key))
}

// programs matches the settings whose values git runs when it commits or merges; what else there is (hooks, a file
// system monitor, editor, pager) is off for every call.
const programs = `^(filter\..*\.(clean|smudge|process)|merge\..*\.driver|gpg\.(.*\.)?program|gpg\.ssh\.defaultkeycommand)$`

// lfs are the commands that git-lfs itself writes into a repository.
var lfs = map[string]bool{
	"git-lfs clean -- %f": true, "git-lfs smudge -- %f": true, "git-lfs filter-process": true,
	"git-lfs smudge --skip -- %f": true, "git-lfs filter-process --skip": true,
}

// trusted refuses a repository that would have us run what an agent, or whoever made it, wrote into its
// configuration. What the person's global configuration says too, and git-lfs, is right.
func (t tree) trusted(ctx context.Context) error {
	out, err := t.run(ctx, git.Call{
		Args: []string{"config", "--show-scope", "--includes", "-z", "--get-regexp", programs}, OK: []int{1},
	})
	if err != nil {
		return err
	}
	own, global := map[string]string{}, map[string]bool{}
	f := strings.Split(string(out), "\x00")
	for i := 0; i+1 < len(f); i += 2 {
		key, value, _ := strings.Cut(f[i+1], "\n")
		if f[i] == "local" || f[i] == "worktree" {
			own[key+"\n"+value] = key
		} else {
			global[key+"\n"+value] = true
		}
	}
	for both, key := range own {
		value := strings.TrimPrefix(both, key+"\n")
		if global[both] || lfs[value] || value == "" {
			continue
		}
		return thread.Hint(&ProgramError{Key: key, Command: value},
			"to allow it: git config --global "+git.Printable(key)+" …; or do this step yourself with git")
	}
	return nil
}

// identity makes sure that a commit will carry the person's own name.
func (t tree) identity(ctx context.Context) error {
	for _, who := range []string{"GIT_AUTHOR_IDENT", "GIT_COMMITTER_IDENT"} {
		_, err := t.run(ctx, git.Call{Args: []string{"var", who}, Config: []string{"user.useConfigOnly=true"}})
		if err != nil {
			return thread.Hint(fmt.Errorf("git does not know who you are: %w", err),
				`git config --global user.name "Your Name" && git config --global user.email you@example.com`)
		}
	}
	return nil
}

// unsigned says what to do where a commit could not be signed.
func unsigned(err error) error {
	var said *git.Error
	if !errors.As(err, &said) || !strings.Contains(said.Stderr, "failed to sign") && !strings.Contains(said.Stderr, "signing failed") {
		return err
	}
	return thread.Hint(err, "put user.signingKey and its agent right, or git config commit.gpgSign false")
}
