package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"orchestrator/checkpoint/branch"
	"orchestrator/checkpoint/git"
	"orchestrator/cmd/orchestrator/project"
	"orchestrator/thread"
	"orchestrator/thread/setup"
)

// trustGit accepts the programs that the repository's own git configuration names, and shows them.
func trustGit(ctx context.Context, c *cli) error {
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
func trustFile(c *cli) error {
	file := projectFile(c.project.Root)
	content, err := readProjectFile(c.project.Root)
	if errors.Is(err, os.ErrNotExist) && c.config.Setup+c.config.Teardown != "" {
		return trustCommands(c, "your own configuration") // which the person wrote, but not what its commands name
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
	return trustCommands(c, file)
}

// trustCommands accepts the setup and teardown commands with the files that they name, as those are in the worktree
// that the person is in.
func trustCommands(c *cli, from string) error {
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
	return c.show(map[string]any{"file": from, "accepts": strings.Split(strings.TrimSpace(string(content)), "\n")},
		func(w io.Writer) {
			fmt.Fprintf(w, "%s is accepted with this content; `orchestrator stop` and start make the server read it\n", from)
			if len(content) > 0 {
				fmt.Fprintf(w, "Commands, and the files of %s that they name, are accepted as they are; what those start in turn is not covered:\n%s", root, content)
			}
		})
}

// trustFolder accepts a folder as a project though it holds much else.
func trustFolder(c *cli) error {
	root := c.project.Root
	if err := c.trust().accept(wideKey(root), []byte(root)); err != nil {
		return err
	}
	return c.show(map[string]string{"folder": root}, func(w io.Writer) {
		fmt.Fprintf(w, "%s is accepted as a project\n", root)
	})
}

func trustVerb(c *cli) *cobra.Command {
	var git, folder bool
	cmd := &cobra.Command{
		Use: "trust", Short: "Accept the project's .orchestrator.toml, or with --git the programs of its git configuration, as they are now",
		Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := c.alone("trust"); err != nil {
				return err
			}
			home, err := project.Home(c.places()) // what is trusted is kept there
			if err != nil {
				return err
			}
			home.Close()
			switch {
			case git && folder:
				return usagef("--git and --folder accept different things: give one")
			case git:
				return trustGit(cmd.Context(), c)
			case folder:
				return trustFolder(c)
			default:
				return trustFile(c)
			}
		},
	}
	cmd.Flags().BoolVar(&git, "git", false,
		"show and accept what the repository's own git configuration would run, or connect through")
	cmd.Flags().BoolVar(&folder, "folder", false, "accept your home folder, or /, as a project")
	return cmd
}
