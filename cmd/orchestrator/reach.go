package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"orchestrator/agent/session"
	"orchestrator/cmd/orchestrator/api"
	"orchestrator/cmd/orchestrator/client"
	"orchestrator/thread"
)

// endsIt is what a person can do about a server that holds the project and cannot be asked to end.
const endsIt = "`orchestrator stop --force` ends it; its agents can be resumed"

// placePause is how often a server looks whether its project is still where it was.
const placePause = time.Second

const (
	// startLimit is how long a server may take until it listens; a damaged store is looked through
	// before, and another server may have to end.
	startLimit = 90 * time.Second
	// healLimit is how long a server may take to put right what it recorded of its socket, see placePause.
	healLimit = 5 * placePause
	// answerLimit is how long a server may take to say who it is: machines can be busy.
	answerLimit = 30 * time.Second
)

// errNoServer says that no server can run: the project has no state.
var errNoServer = errors.New("no server runs here")

// gone reports whether an error means that no server listens.
func gone(err error) bool { return errors.Is(err, errNoServer) || client.Gone(err) }

// reach asks a running server who it is; gone tells that there is none.
func (c *cli) reach(ctx context.Context) (*client.Client, api.ServerInfo, error) {
	if c.project.Problem != nil {
		return nil, api.ServerInfo{}, c.project.Problem
	}
	if c.project.ID == "" {
		return nil, api.ServerInfo{}, errNoServer
	}
	cl := client.NewBelow(c.project.Dial, session.Token(c.environ))
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
			"a sandbox that forbids sockets is around this program, such as Codex's: run it in a terminal of your own")
	case errors.Is(err, context.DeadlineExceeded):
		err = fmt.Errorf("the server of %s does not answer; its log is %s; `orchestrator stop --force` ends it",
			c.project.Root, c.project.LogFile())
	}
	return cl, info, err
}

// socket is where the project's server listens as far as that can be seen from here, for people.
func (c *cli) socket() string {
	if paths, _ := c.project.Sockets(); len(paths) > 0 {
		return paths[0]
	}
	return c.project.Socket
}

// unreached says why a server that holds the project cannot be reached from here, nil where it may just be starting.
func (c *cli) unreached() error {
	_, refused := c.project.Sockets()
	if refused == nil {
		return nil
	}
	return thread.Hint(fmt.Errorf("the server cannot be reached from here: %w", refused), endsIt)
}
