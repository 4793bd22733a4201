package verb

import (
	"fmt"
	"orchestrator/thread"
	"os"

	"github.com/charmbracelet/x/term"
)

// terminalFit returns an error if the terminal cannot show the screen.
func (c *cli) terminalFit() error {
	in, inOK := c.stdin.(*os.File)
	out, outOK := c.out.terminal()
	if !inOK || !outOK || !term.IsTerminal(in.Fd()) || !term.IsTerminal(out.Fd()) {
		return errNoTerminal
	}
	if name := thread.Lookup(c.environ, "TERM"); name == "" || name == "dumb" {
		return fmt.Errorf("the screen cannot run with TERM=%q. Set TERM, such as xterm-256color, "+
			"or use the verbs: `orchestrator --help`", name)
	}
	return nil
}
