package verb

import (
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"orchestrator/agent/demo"
	"orchestrator/cmd/orchestrator/exitcode"
	"orchestrator/mcpctl/notes"
)

// demoVerb runs the demo agent, in its terminal.
func demoVerb(c *cli) *cobra.Command {
	return &cobra.Command{
		Use: demo.Verb, Short: "Run the demo agent", Hidden: true, DisableFlagParsing: true,
		PersistentPreRunE: func(*cobra.Command, []string) error { return nil },
		RunE: func(_ *cobra.Command, args []string) error {
			in, inOK := c.stdin.(*os.File)
			out, outOK := c.out.terminal()
			if !inOK || !outOK {
				return errNoTerminal
			}
			signal.Reset(os.Interrupt, syscall.SIGTERM) // it exits as any other agent does
			if code := demo.Main(args, in, out, c.environ); code != exitcode.OK {
				return &silentError{code: code}
			}
			return nil
		},
	}
}

// demoNotesVerb runs the MCP server that the README's tour uses.
func demoNotesVerb(c *cli) *cobra.Command {
	return &cobra.Command{
		Use: notes.Verb, Short: "Run a small MCP server to try MCP with", Hidden: true, Args: exactly(),
		PersistentPreRunE: func(*cobra.Command, []string) error { return nil },
		RunE: func(*cobra.Command, []string) error {
			return notes.Serve(c.stdin, c.out.stdout, io.NopCloser(nil))
		},
	}
}
