package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"

	"orchestrator/checkpoint/branch"
	"orchestrator/checkpoint/git"
	"orchestrator/thread"
)

// trust remembers which files of repositories the person has accepted, by path and content: a
// changed file is asked about again. It lies outside of every project.
type trust struct{ file string }

func (c *cli) trust() trust {
	return trust{file: filepath.Join(c.stateHome(), "orchestrator", "trusted.json")}
}

func contentHash(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// accepted reports whether exactly this content of the file was accepted.
func (t trust) accepted(file string, content []byte) bool {
	known, err := t.read()
	return err == nil && known[file] == contentHash(content)
}

// accept remembers the content.
func (t trust) accept(file string, content []byte) error {
	if err := os.MkdirAll(filepath.Dir(t.file), 0o700); err != nil {
		return fmt.Errorf("remember what is trusted: %w", err)
	}
	lock, err := os.OpenFile(t.file+".lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return fmt.Errorf("remember what is trusted: %w", err)
	}
	defer lock.Close()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return fmt.Errorf("remember what is trusted: %w", err)
	}
	known, err := t.read()
	if err != nil {
		return err
	}
	known[file] = contentHash(content)
	b, err := json.MarshalIndent(known, "", "  ")
	if err != nil {
		return fmt.Errorf("remember what is trusted: %w", err)
	}
	if err := os.WriteFile(t.file+".new", append(b, '\n'), 0o600); err != nil {
		return fmt.Errorf("remember what is trusted: %w", err)
	}
	if err := os.Rename(t.file+".new", t.file); err != nil {
		return fmt.Errorf("remember what is trusted: %w", err)
	}
	return nil
}

func (t trust) read() (map[string]string, error) {
	known := map[string]string{}
	b, err := os.ReadFile(t.file)
	if errors.Is(err, os.ErrNotExist) {
		return known, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read what is trusted: %w", err)
	}
	if err := json.Unmarshal(b, &known); err != nil {
		return nil, fmt.Errorf("read what is trusted: %s: %w", t.file, err)
	}
	return known, nil
}

// trustGit accepts the programs that the repository's own git configuration names, and shows them.
func (c *cli) trustGit(ctx context.Context) error {
	own, err := branch.Own(ctx, c.dir, forAgents(c.environ)...)
	if err != nil {
		return err
	}
	if len(own.Content()) == 0 {
		return fmt.Errorf("%w: a program in %s; there is nothing to trust", thread.ErrNotFound, own.Place())
	}
	settings := map[string][]string{}
	all := own.Programs(git.Converts, git.Connects)
	for _, s := range all {
		settings[s.Key] = append(settings[s.Key], git.Redact(s.Value))
	}
	if err := c.trust().accept(own.Place(), own.Content()); err != nil {
		return err
	}
	return c.show(map[string]any{"place": own.Place(), "settings": settings}, func(w io.Writer) {
		for _, s := range all {
			fmt.Fprintf(w, "%s = %s\n", git.Printable(s.Key), git.Printable(git.Redact(s.Value)))
		}
		fmt.Fprintln(w, "accepted as they are now, with the files of the worktree that they name; what those start in turn is not covered")
	})
}
