package verb

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"orchestrator/checkpoint/branch"
	"orchestrator/checkpoint/git"
	"orchestrator/cmd/orchestrator/config"
	"orchestrator/cmd/orchestrator/project"
	"orchestrator/thread"
	"orchestrator/thread/plaintext"
	"orchestrator/thread/setup"
	"orchestrator/ui/plain"
)

// consent is how a person agrees: by answering, by the hash of what they have seen, or without having seen it.
type consent struct {
	yes  bool
	hash string
}

// accept shows what is to be accepted, asks, and accepts exactly that. What changes meanwhile is not accepted.
func (c *cli) accept(by consent, read func() (acceptance, error)) error {
	a, err := read()
	if err != nil {
		return err
	}
	asked := false
	if known := by.yes || by.hash == a.hash(); !known {
		a.print(c.out.stderr)
	}
	switch {
	case by.hash != "" && by.hash != a.hash():
		return thread.Hint(thread.Kindf(thread.ErrRefused, "not accepted: this is not what you have seen, its hash is another one"),
			"read it again, above")
	case by.hash != "" || by.yes:
	case !c.interactive():
		return thread.Hint(thread.Kindf(thread.ErrRefused, "no terminal to ask on"),
			"read it above, then pass --hash "+a.hash())
	default:
		yes, err := c.ask("Accept it? (y/N)\n")
		if err != nil || !yes {
			return errors.Join(err, thread.Kindf(thread.ErrRefused, "not accepted"))
		}
		asked = true
		now, err := read()
		if err == nil && now.hash() != a.hash() {
			err = thread.Hint(thread.Kindf(thread.ErrRefused, "not accepted: it changed while you were reading"), "run it again")
		}
		if err != nil {
			return err
		}
	}
	for _, p := range a.parts {
		if err := c.trust().accept(p.place, p.content); err != nil {
			return err
		}
	}
	a.json["hash"] = a.hash()
	return c.out.show(a.json, func(w io.Writer) {
		if !asked {
			a.print(w)
		}
		fmt.Fprintln(w, "accepted as it is now")
	})
}

// gitPrograms are the programs in the repository's own git configuration.
func (c *cli) gitPrograms(ctx context.Context) (acceptance, error) {
	own, err := branch.Own(ctx, c.dir, forAgents(c.environ)...)
	if err != nil {
		return acceptance{}, err
	}
	if len(own.Content()) == 0 {
		return acceptance{}, thread.Kindf(thread.ErrNotFound, "nothing to trust: no programs in %s", own.Place())
	}
	settings := map[string][]string{}
	a := acceptance{
		what:  "Git runs or connects through these in this repository:",
		note:  "including the files of the worktree that they name, but not what those start in turn",
		parts: []part{{own.Place(), own.Content()}},
		json:  map[string]any{"place": own.Place(), "settings": settings},
	}
	for _, s := range own.Programs(git.Converts, git.Connects) {
		settings[s.Key] = append(settings[s.Key], git.Redact(s.Value))
		a.shown = append(a.shown, git.Printable(s.Key)+" = "+git.Printable(git.Redact(s.Value)))
	}
	return a, nil
}

// accepted are commands that are accepted together with the files that they name.
type accepted interface {
	Content(dir string) (place string, content []byte, err error)
	Missing(dir string) []string
}

// projectFile is the project's configuration file with the commands in it, and with the files that those name as they are
// in the current worktree.
func (c *cli) projectFile() (acceptance, error) {
	file := config.ProjectFile(c.project.Root)
	a := acceptance{what: file + ":", json: map[string]any{"file": file}}
	content, err := config.ReadProjectFile(c.project.Root)
	switch {
	case errors.Is(err, os.ErrNotExist) && (c.config.Setup+c.config.Teardown != "" || len(c.config.Checks) > 0):
		// the user's own configuration, but its commands may name files of the repository
		a.what, a.json["file"] = "the commands in your own configuration:", "your own configuration"
	case errors.Is(err, os.ErrNotExist):
		return a, thread.Kindf(thread.ErrNotFound, "nothing to trust: no %s here", filepath.Base(file))
	case err != nil:
		return a, fmt.Errorf("read the project's configuration: %w", err)
	default:
		if err := config.CheckProject(file, content); err != nil {
			return a, fmt.Errorf("not accepted: %w", err)
		}
		a.parts = append(a.parts, part{file, content})
		for line := range strings.Lines(string(content)) {
			a.shown = append(a.shown, plaintext.Line(strings.TrimRight(line, "\r\n")))
		}
	}
	now, err := config.Load(c.project.Root, c.environ, c.configHome(), func(name string, bytes []byte) bool {
		return name == file && string(bytes) == string(content) || c.trust().accepted(name, bytes)
	})
	if err != nil {
		return a, err
	}
	root := c.project.Root
	if w, err := git.Find(c.dir); err == nil {
		root = w.Root
	}
	all, missing := []string{}, []string(nil)
	for _, commands := range []accepted{setup.Commands{Setup: now.Setup, Teardown: now.Teardown}, setup.Checks(now.Checks)} {
		place, named, err := commands.Content(root)
		if err != nil {
			return a, fmt.Errorf("accept the commands: %w", err)
		}
		if len(named) == 0 {
			continue
		}
		lines := strings.Split(strings.TrimSpace(string(named)), "\n")
		all = append(all, lines...)
		a.parts = append(a.parts, part{setup.Place(c.project.Root, place), named})
		a.shown = append(a.shown, lines...)
		a.note = "You accept these commands and the files of " + root + " that they name, of which a copy runs, but not what those start in turn."
		missing = append(missing, commands.Missing(root)...)
	}
	a.json["accepts"] = all
	if slices.Sort(missing); len(missing) > 0 {
		missing = slices.Compact(missing)
		a.json["missing"] = missing
		a.note += " Not there now, and not accepted with them, whatever it is once they run: " + plain.Few(missing) + "."
	}
	return a, nil
}

// wideFolder is a folder as a project even though it holds much else.
func (c *cli) wideFolder() (acceptance, error) {
	root := c.project.Root
	return acceptance{
		what:  "This folder becomes a project, with all that is in it, which agents may then read and change:",
		shown: []string{root}, parts: []part{{wideKey(root), []byte(root)}}, json: map[string]any{"folder": root},
	}, nil
}

func trustVerb(c *cli) *cobra.Command {
	var git, folder, plans bool
	var by consent
	cmd := &cobra.Command{
		Use: "trust", Short: "Read and accept the project's .orchestrator.toml, or its plans",
		Long: "Show the project's .orchestrator.toml and, once you say yes, accept it as it is; with --git, the programs in the\n" +
			"repository's git configuration; with --folder, your home folder or / as a project; with --plans, its plans, or the\n" +
			"one that you name. Without a terminal, --hash names what you have read; --yes accepts whatever is there.",
		Args: func(cmd *cobra.Command, args []string) error {
			if plans {
				return between(0, 1, "[plan]")(cmd, args)
			}
			return exactly()(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
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
			case plans && (git || folder):
				return usagef("--plans cannot be combined with --git and --folder")
			case by.yes && by.hash != "":
				return usagef("--yes and --hash cannot be combined")
			case git:
				return c.accept(by, func() (acceptance, error) { return c.gitPrograms(cmd.Context()) })
			case folder:
				return c.accept(by, c.wideFolder)
			case plans:
				return c.accept(by, func() (acceptance, error) { return projectPlans(c, args) })
			}
			if err := c.accept(by, c.projectFile); err != nil {
				return err
			}
			if !c.out.json {
				fmt.Fprintln(c.out.stdout, "`orchestrator restart` makes the server read it")
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&git, "git", false,
		"show and accept the programs that the repository's own git configuration runs or connects through")
	cmd.Flags().BoolVar(&folder, "folder", false, "accept your home folder, or /, as a project")
	cmd.Flags().BoolVar(&plans, "plans", false, "show and accept the project's plans with all files that they name, or the plan that you name")
	cmd.Flags().StringVar(&by.hash, "hash", "", "accept it if it has this hash, without asking")
	cmd.Flags().BoolVar(&by.yes, "yes", false, "accept it without asking")
	return cmd
}
