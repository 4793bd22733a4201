package verb

import (
	"context"
	"errors"
	"fmt"
	"orchestrator/cmd/orchestrator/buildinfo"
	"orchestrator/cmd/orchestrator/client"
	"orchestrator/cmd/orchestrator/server"
	"orchestrator/thread"
	"orchestrator/thread/api"

	"github.com/spf13/cobra"
)

// connect returns a client of the project's server, starting one if none runs.
func (c *cli) connect(ctx context.Context) (*client.Client, error) {
	if c.project.ID == "" { // no state yet, so no server
		if err := c.alone("serve"); err != nil {
			return nil, err
		}
	}
	if err := c.claim(); err != nil {
		return nil, err
	}
	if c.project.Refused != nil {
		fmt.Fprintf(c.out.stderr, "orchestrator: file snapshots are disabled: %v\n", c.project.Refused)
	}
	cl, info, err := c.reach(ctx)
	if err == nil {
		return cl, c.meet(info)
	}
	if !gone(err) {
		return nil, err
	}
	if err := c.startServer(ctx); errors.Is(err, thread.ErrReadOnly) {
		cl, info, err := server.LastKnown(ctx, c.project, c.config.Store, c.environ, err)
		if err != nil {
			return nil, err
		}
		return cl, c.meet(info)
	} else if err != nil {
		return nil, err
	}
	cl, info, err = c.reach(ctx)
	if err != nil {
		return nil, err
	}
	if !c.told { // the screen shows it
		printFound(c.out.stderr, info.Found)
	}
	return cl, c.meet(info)
}

// meet refuses a server with another protocol version, and prints once per run what the store found damaged.
func (c *cli) meet(info api.ServerInfo) error {
	if len(info.Notices) > 0 && !c.warned {
		c.warned = true
		more := ""
		if n := len(info.Notices) - 1; n > 0 {
			more = fmt.Sprintf(" (and %d more: `orchestrator doctor` lists them)", n)
		}
		fmt.Fprintf(c.out.stderr, "orchestrator: %s%s\n", info.Notices[len(info.Notices)-1], more)
	}
	return c.sameVersion(info)
}

// sameVersion refuses a server with another protocol version.
func (c *cli) sameVersion(info api.ServerInfo) error {
	if info.Protocol == api.Version {
		if other := otherBuild(info); other != "" && !c.told {
			c.told = true
			fmt.Fprintln(c.out.stderr, "orchestrator:", other)
		}
		return nil
	}
	return &otherProtocol{info}
}

// otherProtocol is the error for a server with another protocol version than this program.
type otherProtocol struct{ info api.ServerInfo }

func (o *otherProtocol) Error() string {
	return fmt.Sprintf("the running server is version %s, which this program (%s) cannot talk to: "+
		"`orchestrator restart` restarts the server and resumes its %d agents",
		o.info.Version, buildinfo.Version(), o.info.Running)
}

// with wraps a function that needs the server as the function of a verb.
func (c *cli) with(f func(ctx context.Context, cl *client.Client, args []string) error) func(*cobra.Command,
	[]string) error {
	return func(cmd *cobra.Command, args []string) error {
		cl, err := c.connect(cmd.Context())
		if err != nil {
			return err
		}
		defer cl.Close()
		return f(cmd.Context(), cl, args)
	}
}
