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

// trustGit shows and accepts the programs in the repository's own git configuration.
func trustGit(ctx context.Context, c *cli) error {
	own, err := branch.Own(ctx, c.dir, forAgents(c.environ)...)
	if err != nil {
		return err
	}
	if len(own.Content()) == 0 {
		return fmt.Errorf("%w: no programs in %s, so there is nothing to trust", thread.ErrNotFound, own.Place())
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
		fmt.Fprintln(w, "accepted as they are now, including the files of the worktree that they name, "+
			"but not what those start in turn")
	})
}

// trustFile accepts the project's configuration file.
func trustFile(c *cli) error {
	file := projectFile(c.project.Root)
	content, err := readProjectFile(c.project.Root)
	if errors.Is(err, os.ErrNotExist) && c.config.Setup+c.config.Teardown != "" {
		return trustCommands(c, "your own configuration") // the user's own, but its commands may name other files
	}
	if errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("%w: %s, so there is nothing to trust", thread.ErrNotFound, file)
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

// trustCommands accepts the setup and teardown commands with the files that they name, as they are in the current
// worktree.
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
			fmt.Fprintf(w, "%s is accepted as it is now; `orchestrator restart` makes the server read it\n", from)
			if len(content) > 0 {
				fmt.Fprintf(w, "Accepted commands, including the files of %s that they name, but not what those start in turn:\n%s",
					root, content)
			}
		})
}

// trustFolder accepts a folder as a project even though it holds much else.
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
		Use: "trust", Short: "Accept the project's .orchestrator.toml as it is now",
		Long: "Accept the project's .orchestrator.toml as it is now; with --git, the programs in the repository's git\n" +
			"configuration; with --folder, your home folder or / as a project.",
		Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := c.alone("trust"); err != nil {
				return err
			}
			home, err := project.Home(c.places()) // the trust file is there
			if err != nil {
				return err
			}
			home.Close()
			switch {
			case git && folder:
				return usagef("--git and --folder cannot be combined")
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
		"show and accept the programs that the repository's own git configuration runs or connects through")
	cmd.Flags().BoolVar(&folder, "folder", false, "accept your home folder, or /, as a project")
	return cmd
}
