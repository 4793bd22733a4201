package branch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"orchestrator/checkpoint/git"
	"orchestrator/thread"
)

// ProgramError means that the repository's own configuration names programs that were not accepted.
type ProgramError struct {
	Programs []git.Setting
	Files    []string // some of those that the first one, a filter, is for
}

func (e *ProgramError) Error() string {
	first := e.Programs[0]
	s := fmt.Sprintf("the repository's configuration sets %s to %q, which is not trusted",
		git.Printable(first.Key), git.Printable(git.Redact(first.Value)))
	if len(e.Files) > 0 {
		s += " (for " + git.Printable(strings.Join(e.Files, ", ")) + ")"
	}
	if n := len(e.Programs) - 1; n > 0 {
		s += fmt.Sprintf(", and %d more such settings", n)
	}
	return s
}

// trusted refuses a repository that would make us run what an agent, or its author, wrote into its own configuration.
// What the person's own configuration says too, and git-lfs, is allowed. We do not work around such a program: a file
// that did not pass its filter would be committed unfiltered.
func (t tree) trusted(ctx context.Context) error {
	programs := t.own.Programs(git.Converts)
	if len(programs) == 0 || !t.refused {
		return nil
	}
	return t.ask(&ProgramError{Programs: programs, Files: t.filtered(ctx, programs[0].Key)})
}

// connects refuses a repository that would make us connect by what was written into its own configuration.
func (t tree) connects() error {
	programs := t.own.Programs(git.Connects)
	if len(programs) == 0 || !t.refused {
		return nil
	}
	return t.ask(&ProgramError{Programs: programs})
}

// ask adds a hint on programs that were not accepted.
func (t tree) ask(refused *ProgramError) error {
	return thread.Hint(refused, "review them (git -C "+t.Root+" config --list --show-origin) and run "+
		"`orchestrator trust --git` there to accept them, or do this step yourself with git")
}

// filtered names a few files that a filter's setting applies to, for people; none if unknown.
func (t tree) filtered(ctx context.Context, key string) []string {
	name, ok := strings.CutPrefix(key, "filter.")
	if !ok {
		return nil
	}
	name = name[:strings.LastIndexByte(name, '.')]
	list, err := t.run(ctx, git.Call{Args: []string{"ls-files", "-z", "--cached", "--others", "--exclude-standard"}})
	if err != nil {
		return nil
	}
	out, err := t.run(ctx, git.Call{Args: []string{"check-attr", "-z", "--stdin", "filter"}, Stdin: bytes.NewReader(list)})
	if err != nil {
		return nil
	}
	var found []string
	f := git.Fields(out)
	for i := 0; i+2 < len(f); i += 3 {
		if f[i+2] != name || slices.Contains(found, f[i]) {
			continue
		}
		if len(found) == 3 {
			return append(found, "…")
		}
		found = append(found, f[i])
	}
	return found
}

// identity makes sure that a commit will have the person's own name.
func (t tree) identity(ctx context.Context) error {
	for _, who := range []string{"GIT_AUTHOR_IDENT", "GIT_COMMITTER_IDENT"} {
		_, err := t.run(ctx, git.Call{Args: []string{"var", who}, Config: []string{"user.useConfigOnly=true"}})
		if err != nil {
			return thread.Hint(fmt.Errorf("git does not know who you are: %w", err),
				`run git config --global user.name "Your Name" && git config --global user.email you@example.com`)
		}
	}
	return nil
}

// unsigned adds a hint if a commit could not be signed.
func unsigned(err error) error {
	var said *git.Error
	if !errors.As(err, &said) ||
		!strings.Contains(said.Stderr, "failed to sign") && !strings.Contains(said.Stderr, "signing failed") {
		return err
	}
	return thread.Hint(err, "check user.signingKey and its agent, or run git config commit.gpgSign false")
}

// Own reads the configuration of dir's repository, to show the person what they would accept.
func Own(ctx context.Context, dir string, env ...string) (*git.Own, error) {
	g, err := git.New(env...)
	if err != nil {
		return nil, fmt.Errorf("read programs: %w", err)
	}
	w, err := git.Find(dir)
	if err != nil {
		return nil, fmt.Errorf("read programs: %w", err)
	}
	return g.ReadOwn(ctx, w)
}
