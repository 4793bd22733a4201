package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"

	"golang.org/x/sys/unix"

	"orchestrator/agent/session"
	"orchestrator/cmd/orchestrator/client"
	"orchestrator/cmd/orchestrator/daemon"
	"orchestrator/cmd/orchestrator/project"
	"orchestrator/cmd/orchestrator/replica"
	"orchestrator/thread"
	"orchestrator/thread/api"
)

// LastKnown returns a client that sees the last list of threads, for a state folder that cannot be written, where no server
// can start. What answers is in this process, until the context ends. Without a list the cause is the error.
func LastKnown(ctx context.Context, p project.Project, store string, environ []string, cause error) (*client.Client, api.ServerInfo, error) {
	list, at, err := lastList(p, store)
	if err != nil || len(list) == 0 {
		return nil, api.ServerInfo{}, errors.Join(cause, err)
	}
	about, err := storeName(p, store)
	if err != nil {
		return nil, api.ServerInfo{}, errors.Join(cause, err)
	}
	w := &waiting{project: p, store: about, build: replica.This(), list: list, at: at, cause: cause}
	server := daemon.NewWaiting(daemon.Waiting{
		Callers: session.New(session.Config{Project: p.Root}),
		Info:    w.info, List: func() []thread.Status { return w.list }, Refusal: w.refusal, Log: slog.New(slog.DiscardHandler),
		Stop: func(context.Context, api.StopRequest) (api.StopReport, error) { return api.StopReport{}, nil },
	})
	l := &inside{conns: make(chan net.Conn), closed: make(chan struct{})}
	go func() { _ = server.Serve(l) }() // it ends with the listener
	context.AfterFunc(ctx, func() { server.Close(ctx); _ = l.Close() })
	cl := client.NewBelow(l.Dial, session.Token(environ))
	info, err := api.Info.Do(ctx, cl, api.InfoRequest{})
	if err != nil {
		return nil, api.ServerInfo{}, errors.Join(cause, err)
	}
	return cl, info, nil
}

// inside is a listener that this process alone can dial: by pairs of sockets, which need no folder.
type inside struct {
	conns  chan net.Conn
	closed chan struct{}
}

// Dial connects to the listener.
func (l *inside) Dial(ctx context.Context) (net.Conn, error) {
	ends, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		return nil, fmt.Errorf("make a pair of sockets: %w", err)
	}
	var conns [2]net.Conn
	for i, fd := range ends {
		unix.CloseOnExec(fd)
		f := os.NewFile(uintptr(fd), "pair")
		var cerr error
		conns[i], cerr = net.FileConn(f)
		err = errors.Join(err, cerr, f.Close())
	}
	if err != nil {
		return nil, fmt.Errorf("use a pair of sockets: %w", err)
	}
	select {
	case l.conns <- conns[1]:
		return conns[0], nil
	case <-ctx.Done():
		err = ctx.Err()
	case <-l.closed:
		err = net.ErrClosed
	}
	return nil, errors.Join(err, conns[0].Close(), conns[1].Close())
}

// Accept implements net.Listener.
func (l *inside) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (l *inside) Close() error {
	select {
	case <-l.closed:
	default:
		close(l.closed)
	}
	return nil
}

// Addr implements net.Listener.
func (l *inside) Addr() net.Addr { return &net.UnixAddr{Net: "unix"} }
