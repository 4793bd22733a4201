package daemon

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"

	"orchestrator/cmd/orchestrator/protocol"
	"orchestrator/thread"
	"orchestrator/thread/grant"
)

// origin is where a connection comes from, according to the kernel. It is looked up once, when the connection opens:
// later the process may have exited, or lost its parents.
type origin struct {
	ready  chan struct{} // closed when the fields below are set
	thread thread.ID
	agent  bool
	err    error
}

type originKey struct{}

// Callers finds out on whose behalf a process acts.
type Callers interface {
	// Caller returns the thread of the agent that a process descends from or whose token it carries. agent is set if it is
	// some agent's, known or not.
	Caller(pid int, token string) (id thread.ID, agent bool, err error)
}

// guard finds out who calls, by the connection and by a token.
type guard struct {
	callers Callers
	// status finds a thread by its name or id.
	status func(ctx context.Context, name string) (thread.Status, error)
	log    *slog.Logger
}

// connected starts to find out who connects.
func (g *guard) connected(ctx context.Context, c net.Conn) context.Context {
	k, ok := c.(*known)
	if !ok {
		return ctx // refused by callerOf
	}
	o := &origin{ready: make(chan struct{})}
	go func() {
		defer close(o.ready)
		defer k.peer.release()
		o.thread, o.agent, o.err = g.callers.Caller(k.peer.pid, "")
		if o.err == nil && !k.peer.alive() {
			o.err = errors.New("the caller has exited")
		}
	}()
	return context.WithValue(ctx, originKey{}, o)
}

// identify finds out who is calling, by the connection and then by the request's token.
func (g *guard) identify(r *http.Request) (grant.Caller, error) {
	o, ok := r.Context().Value(originKey{}).(*origin)
	if !ok {
		return grant.Caller{}, errors.New("a connection of unknown origin")
	}
	select {
	case <-o.ready:
	case <-r.Context().Done():
		return grant.Caller{}, r.Context().Err()
	}
	if o.err != nil {
		return grant.Caller{}, o.err
	}
	id, agent := o.thread, o.agent
	if token := r.Header.Get(protocol.TokenHeader); token != "" && id == "" {
		var err error
		if id, agent, err = g.callers.Caller(0, token); err != nil {
			return grant.Caller{}, err
		}
	}
	if !agent {
		return grant.Caller{}, nil
	}
	c := grant.Caller{Agent: true, Thread: id}
	if id == "" {
		return c, nil
	}
	st, err := g.status(r.Context(), string(id))
	if err != nil {
		return grant.Caller{Agent: true}, nil //nolint:nilerr // the thread no longer exists, and neither do its grants
	}
	c.Name, c.Grants = st.Name, st.Grants
	return c, nil
}

// refused implements gate.
func (g *guard) refused(op string, c grant.Caller) {
	g.log.Info("refused a call from an agent", "op", op, "thread", string(c.Thread))
}

// threadNamed implements finder.
func (g *guard) threadNamed(ctx context.Context, name string) (thread.ID, error) {
	st, err := g.status(ctx, name)
	return st.ID, err
}
