package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"orchestrator/cmd/orchestrator/api"
	"orchestrator/cmd/orchestrator/client"
)

// connect returns a client of the project's server, which it starts when none runs.
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
		fmt.Fprintf(c.stderr, "orchestrator: files are not kept: %v\n", c.project.Refused)
	}
	cl, info, err := c.reach(ctx)
	if err == nil {
		return cl, c.meet(info)
	}
	if !gone(err) {
		return nil, err
	}
	if err := c.startServer(ctx); err != nil {
		return nil, err
	}
	cl, info, err = c.reach(ctx)
	if err != nil {
		return nil, err
	}
	if !c.told { // the screen tells it
		tellFound(c.stderr, info.Found)
	}
	return cl, c.meet(info)
}

// meet refuses a server that speaks another protocol and names what its store found damaged, once a call.
func (c *cli) meet(info api.ServerInfo) error {
	if len(info.Notices) > 0 && !c.warned {
		c.warned = true
		more := ""
		if n := len(info.Notices) - 1; n > 0 {
			more = fmt.Sprintf(" (and %d more: `orchestrator doctor` lists them)", n)
		}
		fmt.Fprintf(c.stderr, "orchestrator: %s%s\n", info.Notices[len(info.Notices)-1], more)
	}
	return c.sameVersion(info)
}

// sameVersion refuses a server that speaks another protocol.
func (c *cli) sameVersion(info api.ServerInfo) error {
	if info.Protocol == api.Version {
		if other := otherBuild(info); other != "" && !c.told {
			c.told = true
			fmt.Fprintln(c.stderr, "orchestrator:", other)
		}
		return nil
	}
	return &otherProtocol{info}
}

// otherProtocol says that a server speaks another protocol than this program.
type otherProtocol struct{ info api.ServerInfo }

func (o *otherProtocol) Error() string {
	return fmt.Sprintf("the server that runs here is version %s, this program is %s, and they do not understand each other: "+
		"`orchestrator restart` stops the server with its %d agents, starts it again and resumes them",
		o.info.Version, version(), o.info.Running)
}

// with makes a verb's function of one that needs the server.
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
