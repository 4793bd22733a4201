package daemon

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"slices"

	"orchestrator/cmd/orchestrator/api"
	"orchestrator/contextmgr/masks"
	"orchestrator/contextmgr/staging"
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
	if token := r.Header.Get(api.TokenHeader); token != "" && id == "" {
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

// staged returns the staged data of a token. Anybody may use a complete token; a prefix only matches data that the
// caller sees. Tokens that a caller does not see cannot be guessed for long.
func (s *Server) staged(ctx context.Context, c grant.Caller, token string) (thread.Staged, error) {
	d, err := s.Staging.Find(token, c.Sees)
	if err == nil && c.Sees(d) || !guess(token) {
		return d, err
	}
	return d, s.misses.look(ctx, c, func() error { return err })
}

// guess reports whether a token could be a guess: without all its digits it finds only what a caller sees.
func guess(token string) bool {
	_, whole, err := thread.ParseToken(token)
	return err == nil && whole
}

// Retrieve returns what is staged or masked under a token, as far as the caller may see it.
func (s *Server) Retrieve(ctx context.Context, c grant.Caller, q api.RetrieveRequest) (thread.StagedData, error) {
	d, err := s.Staging.Find(q.Token, c.Sees)
	if err == nil && c.Sees(d) {
		return s.Staging.Retrieve(d.Token, q.Part)
	}
	var m masks.Mask
	masked := errors.Is(err, thread.ErrNotFound)
	if masked {
		m, err = s.mask(c, q.Token, err)
	}
	if guess(q.Token) && (err != nil || !masked || !c.Sees(thread.Staged{Thread: m.Home})) {
		err = s.misses.look(ctx, c, func() error { return err })
	}
	if err != nil {
		return nil, err
	}
	if !masked {
		return s.Staging.Retrieve(d.Token, q.Part)
	}
	_, content, err := s.Masks.Open(m.Token)
	if err != nil {
		return nil, err
	}
	return staging.Select(content, q.Part)
}

// mask finds what is masked by its token; otherwise it returns an error that is already known. Like staged data, anybody
// may read it who has the whole token.
func (s *Server) mask(c grant.Caller, token string, unknown error) (m masks.Mask, err error) {
	whole := guess(token)
	m, err = s.Masks.Find(token, func(home thread.ID) bool { return whole || c.Sees(thread.Staged{Thread: home}) })
	if errors.Is(err, thread.ErrNotFound) {
		return m, unknown
	}
	return m, err
}

// may reports whether the caller may use an operation.
func (s *Server) may(ctx context.Context, r api.MayRequest) error {
	c := callerOf(ctx)
	own := false
	if c.Agent {
		var err error
		if own, err = aThread(func(q *api.MayRequest) *string { return &q.Thread })(ctx, s, c, &r); err != nil {
			return err
		}
	}
	return c.May(r.Op, own)
}

// grants returns what a thread's agent may do.
func (s *Server) grants(ctx context.Context, r api.Ref) (api.ThreadGrants, error) {
	st, err := s.Manager.Status(ctx, r.Thread)
	if err != nil {
		return api.ThreadGrants{}, err
	}
	return api.ThreadGrants{Thread: st.Name, Grants: grant.Change(st.Grants, nil, nil)}, nil
}

// setGrants changes what a thread's agent may do.
func (s *Server) setGrants(ctx context.Context, r api.GrantsRequest) (api.ThreadGrants, error) {
	for _, g := range append(slices.Clone(r.Add), r.Remove...) {
		if _, err := grant.Parse([]string{string(g)}); err != nil {
			return api.ThreadGrants{}, err
		}
	}
	err := s.Manager.SetGrants(ctx, r.Thread, func(have []thread.Grant) []thread.Grant {
		return grant.Change(have, r.Add, r.Remove)
	})
	if err != nil {
		return api.ThreadGrants{}, err
	}
	return s.grants(ctx, api.Ref{Thread: r.Thread})
}
