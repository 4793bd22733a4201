package daemon

import (
	"context"
	"errors"
	"slices"

	"orchestrator/contextmgr/masks"
	"orchestrator/contextmgr/staging"
	"orchestrator/thread"
	"orchestrator/thread/api"
	"orchestrator/thread/grant"
)

// staged returns the staged data of a token. Anybody may use a complete token; a prefix only matches data that the
// caller sees. Tokens that a caller does not see cannot be guessed for long.
func (s *Server) staged(ctx context.Context, c grant.Caller, token string) (thread.Staged, error) {
	d, err := s.Staging.Find(token, shows(c))
	if err == nil {
		if err := s.opens(ctx, c, d); err != nil {
			return thread.Staged{}, err
		}
	}
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
	d, err := s.Staging.Find(q.Token, shows(c))
	if err == nil {
		if err := s.opens(ctx, c, d); err != nil {
			return nil, err
		}
	}
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
	st, err := s.Manager.Threads.Status(ctx, r.Thread)
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
	err := s.Manager.Lifecycle.SetGrants(ctx, r.Thread, func(have []thread.Grant) []thread.Grant {
		return grant.Change(have, r.Add, r.Remove)
	})
	if err != nil {
		return api.ThreadGrants{}, err
	}
	return s.grants(ctx, api.Ref{Thread: r.Thread})
}
