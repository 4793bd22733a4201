package verb

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
	"orchestrator/cmd/orchestrator/config"
	"orchestrator/cmd/orchestrator/project"
	"orchestrator/thread"
	"orchestrator/thread/grant"
)

// cli is one run of the program: its arguments and environment, and what its verbs share.
type cli struct {
	out     output
	called  string // what the program was called as
	stdin   io.Reader
	environ []string
	dir     string // --project

	project project.Project
	config  config.Config
	told    bool // the user was told that the server runs another build
	warned  bool // the user was warned of a damaged store
}

// prepare finds the project and loads the configuration.
func (c *cli) prepare() error {
	if err := c.find(); err != nil {
		return err
	}
	return c.configure()
}

// find finds the project.
func (c *cli) find() (err error) {
	c.project, err = project.Find(context.Background(), c.dir, c.places())
	return err
}

// configure loads the configuration, and warns of what is odd in it.
func (c *cli) configure() (err error) {
	p := c.project
	c.config, err = config.Load(p.Root, c.environ, c.configHome(), c.trust().accepted)
	for _, w := range c.config.Warnings {
		fmt.Fprintln(c.out.stderr, "orchestrator:", w)
	}
	return err
}

// places returns the user's folders in which our files are.
func (c *cli) places() project.Places {
	return project.Places{
		Home: thread.Lookup(c.environ, "HOME"), State: c.stateHome(), Runtime: thread.Lookup(c.environ, "XDG_RUNTIME_DIR"),
		Temp: []string{"/tmp", "/var/tmp", thread.Lookup(c.environ, "TMPDIR"), os.TempDir()}, Accepted: c.trust().wide,
	}
}

// claim creates the project's state if there is none, and prints notices about how it was found.
func (c *cli) claim() error {
	err := c.project.Claim()
	if errors.Is(err, project.ErrWide) {
		err = c.askWide(err)
	}
	for _, n := range c.project.Notices {
		fmt.Fprintln(c.out.stderr, "orchestrator:", n)
	}
	return err
}

// configHome returns $XDG_CONFIG_HOME, or ~/.config if it is not set.
func (c *cli) configHome() string {
	if dir := thread.Lookup(c.environ, "XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
		return dir
	}
	return filepath.Join(thread.Lookup(c.environ, "HOME"), ".config")
}

// stateHome returns $XDG_STATE_HOME, or ~/.local/state if it is not set.
func (c *cli) stateHome() string {
	if dir := thread.Lookup(c.environ, "XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return dir
	}
	return filepath.Join(thread.Lookup(c.environ, "HOME"), ".local", "state")
}

func (c *cli) trust() trust { return trust{home: c.stateHome()} }

// alone refuses what only the user may do if an agent runs this program.
func (c *cli) alone(op string) error {
	below, err := session.Below(c.environ)
	if err != nil || below {
		return errors.Join(grant.Alone(op), err)
	}
	return nil
}

// askWide asks on a terminal whether a folder that holds much else should become a project.
func (c *cli) askWide(why error) error {
	in, inOK := c.stdin.(*os.File)
	out, outOK := c.out.terminal()
	if !inOK || !outOK || !term.IsTerminal(in.Fd()) || !term.IsTerminal(out.Fd()) {
		return why
	}
	if err := c.alone("trust"); err != nil {
		return errors.Join(why, err)
	}
	yes, err := c.ask(fmt.Sprintf("orchestrator: %v\nMake %s a project? (y/n)\n", why, c.project.Root))
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

// ask asks the user on the terminal; anything but yes means no.
func (c *cli) ask(question string) (bool, error) {
	fmt.Fprint(c.out.stderr, question)
	line, err := bufio.NewReader(c.stdin).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return false, fmt.Errorf("read the answer: %w", err)
	}
	said := strings.ToLower(strings.TrimSpace(line))
	return said == "y" || said == "yes", nil
}

// interactive reports whether somebody can be asked on a terminal.
func (c *cli) interactive() bool {
	in, isFile := c.stdin.(*os.File)
	return isFile && term.IsTerminal(in.Fd())
}
