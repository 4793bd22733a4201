package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/charmbracelet/x/term"

	"orchestrator/agent/session"
	"orchestrator/cmd/orchestrator/project"
	"orchestrator/thread/grant"
)

// cli is one call of the program: what it was given and what its verbs share.
type cli struct {
	output
	stdin   io.Reader
	environ []string
	dir     string // --project

	project project.Project
	config  Config
	told    bool // that the server is of another build
	warned  bool // of what the store found damaged
}

// prepare finds the project and reads the configuration.
func (c *cli) prepare() error {
	p, err := project.Find(context.Background(), c.dir, c.places())
	c.project = p
	if err != nil {
		return err
	}
	c.config, err = loadConfig(p.Root, c.environ, c.configHome(), c.trust().accepted)
	for _, w := range c.config.Warnings {
		fmt.Fprintln(c.stderr, "orchestrator:", w)
	}
	return err
}

// places are the person's folders that our files go to.
func (c *cli) places() project.Places {
	return project.Places{
		Home: lookup(c.environ, "HOME"), State: c.stateHome(), Runtime: lookup(c.environ, "XDG_RUNTIME_DIR"),
		Temp: []string{"/tmp", "/var/tmp", lookup(c.environ, "TMPDIR"), os.TempDir()}, Accepted: c.trust().wide,
	}
}

// claim makes the project's state where there is none, and tells how it was found where that is news.
func (c *cli) claim() error {
	err := c.project.Claim()
	if errors.Is(err, project.ErrWide) {
		err = c.askWide(err)
	}
	for _, n := range c.project.Notices {
		fmt.Fprintln(c.stderr, "orchestrator:", n)
	}
	return err
}

// configHome is $XDG_CONFIG_HOME, ~/.config without it.
func (c *cli) configHome() string {
	if dir := lookup(c.environ, "XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
		return dir
	}
	return filepath.Join(lookup(c.environ, "HOME"), ".config")
}

// stateHome is $XDG_STATE_HOME, ~/.local/state without it.
func (c *cli) stateHome() string {
	if dir := lookup(c.environ, "XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return dir
	}
	return filepath.Join(lookup(c.environ, "HOME"), ".local", "state")
}

func (c *cli) trust() trust { return trust{home: c.stateHome()} }

// alone refuses what is for the person alone where this program runs below an agent.
func (c *cli) alone(op string) error {
	below, err := session.Below(c.environ)
	if err != nil || below {
		return errors.Join(grant.Alone(op), err)
	}
	return nil
}

// askWide asks whether a folder that holds much else is to be a project, where there is a person to ask.
func (c *cli) askWide(why error) error {
	in, inOK := c.stdin.(*os.File)
	out, outOK := c.terminal()
	if !inOK || !outOK || !term.IsTerminal(in.Fd()) || !term.IsTerminal(out.Fd()) {
		return why
	}
	if err := c.alone("trust"); err != nil {
		return errors.Join(why, err)
	}
	yes, err := c.ask(fmt.Sprintf("orchestrator: %v\nMake %s a project? y or n:\n", why, c.project.Root))
	if err != nil || !yes {
		return errors.Join(why, err)
	}
	if err := c.trust().accept(wideKey(c.project.Root), []byte(c.project.Root)); err != nil {
		return err
	}
	if err := c.prepare(); err != nil {
		return err
	}
	return c.project.Claim()
}

// ask asks the person at the terminal; anything but a yes is a no.
func (c *cli) ask(question string) (bool, error) {
	fmt.Fprint(c.stderr, question)
	line, err := bufio.NewReader(c.stdin).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return false, fmt.Errorf("read the answer: %w", err)
	}
	said := strings.ToLower(strings.TrimSpace(line))
	return said == "y" || said == "yes", nil
}
