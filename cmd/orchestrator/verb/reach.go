package verb

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"orchestrator/agent/session"
	"orchestrator/checkpoint/git"
	"orchestrator/cmd/orchestrator/client"
	"orchestrator/cmd/orchestrator/server"
	"orchestrator/thread"
	"orchestrator/thread/api"
	"slices"
	"strings"
	"time"
)

// killHint is the hint for a server that holds the project's lock but cannot be asked to stop.
const killHint = "`orchestrator stop --force` kills it; its agents can be resumed"

const (
	// startLimit is how long a server may take until it listens. Before that it may have to check a damaged store, or wait
	// for another server to exit.
	startLimit = 90 * time.Second
	// healLimit is how long a server may take to repair the record of its socket; see PlacePause.
	healLimit = 5 * server.PlacePause
	// answerLimit is how long a server may take to identify itself: machines can be busy.
	answerLimit = 30 * time.Second
)

// errNoServer means that no server can run, because the project has no state.
var errNoServer = errors.New("no server is running here")

// gone reports whether an error means that no server listens.
func gone(err error) bool { return errors.Is(err, errNoServer) || client.Gone(err) }

// reach connects to a running server and asks for its identity; gone reports whether the error means that there is
// none.
func (c *cli) reach(ctx context.Context) (*client.Client, api.ServerInfo, error) {
	if c.project.Problem != nil {
		return nil, api.ServerInfo{}, c.project.Problem
	}
	if c.project.ID == "" {
		return nil, api.ServerInfo{}, errNoServer
	}
	cl := client.NewBelow(c.project.Dial, session.Token(c.environ))
	if session.Token(c.environ) == "" {
		cl.Bring(forAgents(c.environ))
	}
	ctx, cancel := context.WithTimeout(ctx, answerLimit)
	defer cancel()
	info, err := api.Info.Do(ctx, cl, api.InfoRequest{})
	switch {
	case client.Gone(err):
		if bad := c.project.CheckSocket(); bad != nil {
			err = bad
		}
	case errors.Is(err, fs.ErrPermission):
		err = thread.Hint(fmt.Errorf("the server cannot be reached from here: the socket %s: %w", c.socket(),
			fs.ErrPermission),
			"this program runs in a sandbox that forbids sockets, such as Codex's: run it in a terminal of your own")
	case errors.Is(err, context.DeadlineExceeded):
		err = fmt.Errorf("the server of %s does not answer (log: %s); `orchestrator stop --force` kills it",
			c.project.Root, c.project.LogFile())
	}
	return cl, info, err
}

// socket returns where the project's server seems to listen, for messages.
func (c *cli) socket() string {
	if paths, _ := c.project.Sockets(); len(paths) > 0 {
		return paths[0]
	}
	return c.project.Socket
}

// unreached returns why a server that holds the project's lock cannot be reached from here, or nil if it may just be
// starting.
func (c *cli) unreached() error {
	_, refused := c.project.Sockets()
	if refused == nil {
		return nil
	}
	return thread.Hint(fmt.Errorf("the server cannot be reached from here: %w", refused), killHint)
}

// forAgents returns the environment for agents: without the store's address, which is none of their business, and
// without variables that point git to a repository, since each thread's git must find its own.
func forAgents(environ []string) []string {
	return slices.DeleteFunc(slices.Clone(environ), func(kv string) bool {
		key, _, _ := strings.Cut(kv, "=")
		return key == "ORCHESTRATOR_STORE" || git.Locates(key)
	})
}
