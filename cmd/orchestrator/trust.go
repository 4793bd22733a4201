package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"orchestrator/checkpoint/branch"
	"orchestrator/checkpoint/git"
	"orchestrator/thread"
	"orchestrator/thread/private"
	"orchestrator/thread/setup"
)

const (
	trustedName = "trusted.json"
	maxTrusted  = 16 << 20
)

// trust remembers which files of repositories the person has accepted, by path and content: a
// changed file is asked about again. It lies outside of every project.
type trust struct {
	home string // the person's folder for state
}

func (c *cli) trust() trust { return trust{home: c.stateHome()} }

func contentHash(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// accepted reports whether exactly this content of the file was accepted.
func (t trust) accepted(file string, content []byte) bool {
	folder, err := private.Open(t.home, "orchestrator")
	if err != nil {
		return false
	}
	defer folder.Close()
	known, err := readTrusted(folder)
	return err == nil && known[file] == contentHash(content)
}

// accept remembers the content.
func (t trust) accept(file string, content []byte) error {
	folder, err := private.Make(t.home, "orchestrator")
	if err != nil {
		return fmt.Errorf("remember what is trusted: %w", err)
	}
	defer folder.Close()
	lock, err := folder.File(trustedName+".lock", os.O_CREATE|os.O_RDWR)
	if err != nil {
		return fmt.Errorf("remember what is trusted: %w", err)
	}
	defer lock.Close()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return fmt.Errorf("remember what is trusted: %w", err)
	}
	known, err := readTrusted(folder)
	if err != nil {
		return err
	}
	known[file] = contentHash(content)
	b, err := json.MarshalIndent(known, "", "  ")
	if err != nil {
		return fmt.Errorf("remember what is trusted: %w", err)
	}
	if err := folder.Write(trustedName, append(b, '\n')); err != nil {
		return fmt.Errorf("remember what is trusted: %w", err)
	}
	return nil
}

// wideKey is under what a folder is remembered that was accepted as a project though it holds much else.
func wideKey(root string) string { return "folder:" + root }

// wide reports whether the person has accepted such a folder.
func (t trust) wide(root string) bool { return t.accepted(wideKey(root), []byte(root)) }

func readTrusted(folder *private.Folder) (map[string]string, error) {
	known := map[string]string{}
	b, err := folder.Read(trustedName, maxTrusted)
	if errors.Is(err, fs.ErrNotExist) {
		return known, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read what is trusted: %w", err)
	}
	if err := json.Unmarshal(b, &known); err != nil {
		return nil, thread.Hint(fmt.Errorf("read what is trusted: %s: %w", folder.Path(trustedName), err),
			"move the file away and accept again")
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

// trustFile accepts the configuration that the project brings.
func (c *cli) trustFile() error {
	file := projectFile(c.project.Root)
	content, err := readProjectFile(c.project.Root)
	if errors.Is(err, os.ErrNotExist) && c.config.Setup+c.config.Teardown != "" {
		return c.trustCommands("your own configuration") // which the person wrote, but not what its commands name
	}
	if errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("%w: %s; there is nothing to trust", thread.ErrNotFound, file)
	}
	if err != nil {
		return fmt.Errorf("read the project's configuration: %w", err)
	}
	if err := checkProject(file, content); err != nil {
		return fmt.Errorf("not accepted: %w", err)
	}
	if err := c.trust().accept(file, content); err != nil {
		return err
	}
	if c.config, err = loadConfig(c.project.Root, c.environ, c.configHome(), c.trust().accepted); err != nil {
		return err
	}
	return c.trustCommands(file)
}

// trustCommands accepts the setup and teardown commands with the files that they name, as those are in the worktree
// that the person is in.
func (c *cli) trustCommands(from string) error {
	commands := setup.Commands{Setup: c.config.Setup, Teardown: c.config.Teardown}
	root := c.project.Root
	if w, err := git.Find(c.dir); err == nil {
		root = w.Root
	}
	place, content, err := commands.Content(root)
	if err == nil && len(content) > 0 {
		err = c.trust().accept(setup.Place(c.project.Root, place), content)
	}
	if err != nil {
		return fmt.Errorf("accept the commands: %w", err)
	}
	return c.show(map[string]any{"file": from, "accepts": strings.Split(strings.TrimSpace(string(content)), "\n")}, func(w io.Writer) {
		fmt.Fprintf(w, "%s is accepted with this content; `orchestrator stop` and start make the server read it\n", from)
		if len(content) > 0 {
			fmt.Fprintf(w, "Commands, and the files of %s that they name, are accepted as they are; what those start in turn is not covered:\n%s", root, content)
		}
	})
}

// trustFolder accepts a folder as a project though it holds much else.
func (c *cli) trustFolder() error {
	root := c.project.Root
	if err := c.trust().accept(wideKey(root), []byte(root)); err != nil {
		return err
	}
	return c.show(map[string]string{"folder": root}, func(w io.Writer) {
		fmt.Fprintf(w, "%s is accepted as a project\n", root)
	})
}
