package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sync/errgroup"

	"orchestrator/agent/demo"
	"orchestrator/agent/session"
	"orchestrator/checkpoint/branch"
	"orchestrator/checkpoint/snapshot"
	"orchestrator/checkpoint/words"
	"orchestrator/cmd/orchestrator/api"
	"orchestrator/cmd/orchestrator/daemon"
	"orchestrator/contextmgr/gateway"
	"orchestrator/contextmgr/models"
	"orchestrator/contextmgr/wire"
	"orchestrator/contextmgr/wire/anthropic"
	"orchestrator/contextmgr/wire/gemini"
	"orchestrator/contextmgr/wire/openai"
	"orchestrator/mcpctl/discovery"
	"orchestrator/thread"
)

// appConfig is what a server is made of.
type appConfig struct {
	Project Project
	Config  Config
	Env     []string
	Log     *slog.Logger
}

// App is the server of one project: the one place where its parts are put together.
type App struct {
	cfg      appConfig
	agents   adapters
	sessions *session.Sessions
	manager  *thread.Manager
	gateway  *gateway.Gateway
	demo     *demo.Provider
	daemon   *daemon.Server
	listener net.Listener
	store    *openStore
	words    *words.Index

	stop    chan struct{} // closed once, by a client's stop
	closers []func() error
}

// closeLimit is how long the end of agents and calls may take.
const closeLimit = 20 * time.Second

// newApp opens the parts in the order in which they need each other; Close ends them in reverse.
func newApp(ctx context.Context, cfg appConfig) (app *App, err error) {
	a := &App{cfg: cfg, stop: make(chan struct{})}
	defer func() {
		if err != nil {
			err = errors.Join(err, a.Close())
		}
	}()
	if err := a.openStore(ctx); err != nil {
		return nil, err
	}
	if err := a.openAgents(); err != nil {
		return nil, err
	}
	if err := a.openManager(ctx); err != nil {
		return nil, err
	}
	if err := a.listen(); err != nil {
		return nil, err
	}
	return a, nil
}

func (a *App) closing(f func() error) { a.closers = append(a.closers, f) }
