package daemon

import (
	"context"
	"errors"
	"net"
	"net/http"
	"slices"

	"orchestrator/cmd/orchestrator/api"
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

// connected starts to find out who connects.
func (s *Server) connected(ctx context.Context, c net.Conn) context.Context {
	k, ok := c.(*known)
	if !ok {
		return ctx // refused by callerOf
	}
	o := &origin{ready: make(chan struct{})}
	go func() {
		defer close(o.ready)
		defer k.peer.release()
		o.thread, o.agent, o.err = s.Callers.Caller(k.peer.pid, "")
		if o.err == nil && !k.peer.alive() {
			o.err = errors.New("the caller has exited")
		}
	}()
	return context.WithValue(ctx, originKey{}, o)
}

// identify finds out who is calling, by the connection and then by the request's token.
func (s *Server) identify(r *http.Request) (grant.Caller, error) {
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
		if id, agent, err = s.Callers.Caller(0, token); err != nil {
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
	st, err := s.Manager.Status(r.Context(), string(id))
	if err != nil {
		return grant.Caller{Agent: true}, nil //nolint:nilerr // the thread no longer exists, and neither do its grants
	}
	c.Name, c.Grants = st.Name, st.Grants
	return c, nil
}

// refused implements gate.
func (s *Server) refused(op string, c grant.Caller) {
	s.Log.Info("refused a call from an agent", "op", op, "thread", string(c.Thread))
}

// threadNamed implements finder.
func (s *Server) threadNamed(ctx context.Context, name string) (thread.ID, error) {
	st, err := s.Manager.Status(ctx, name)
	return st.ID, err
}

// staged returns the staged data of a token. Anybody may use a complete token; a prefix only matches data that the
// caller sees.
func (s *Server) staged(c grant.Caller, token string) (thread.Staged, error) {
	return s.Staging.Find(token, c.Sees)
}

// Retrieve returns what is staged or masked under a token, as far as the caller may see it.
func (s *Server) Retrieve(c grant.Caller, q api.RetrieveRequest) (thread.StagedData, error) {
	d, err := s.staged(c, q.Token)
	if errors.Is(err, thread.ErrNotFound) {
		return s.masked(c, q, err)
	}
	if err != nil {
		return nil, err
	}
	return s.Staging.Retrieve(d.Token, q.Part)
}

// masked retrieves what is masked by its token; otherwise it returns an error that is already known. Like staged data,
// anybody may read it who has the whole token.
func (s *Server) masked(c grant.Caller, q api.RetrieveRequest, unknown error) (thread.StagedData, error) {
	_, whole, err := thread.ParseToken(q.Token)
	if err != nil {
		return nil, err
	}
	m, err := s.Masks.Find(q.Token, func(home thread.ID) bool { return whole || c.Sees(thread.Staged{Thread: home}) })
	if errors.Is(err, thread.ErrNotFound) {
		return nil, unknown
	}
	if err != nil {
		return nil, err
	}
	_, content, err := s.Masks.Open(m.Token)
	if err != nil {
		return nil, err
	}
	return staging.Select(content, q.Part)
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
