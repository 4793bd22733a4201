// Package remote connects to MCP servers over HTTP: streamable HTTP of all protocol revisions, and its predecessor with
// server-sent events.
//
// A connection is an [rpc.Stream]; the JSON of messages is passed on as it is. No message is larger than [rpc.MaxFrame],
// redirects stay on the server's own host, and an address that a server names for signing in is not reached if it is in
// a private network that the server itself is not in. No error holds a header, a token, or the query of a URL. Nothing is
// sent to a server but what its definition declares and the tokens that it gave itself.
package remote

import (
	"context"
	"encoding/json"
	"fmt"

	"orchestrator/mcpctl/definition"
	"orchestrator/thread/ground/rpc"
)

// Options are what a connection needs besides the launch.
type Options struct {
	// Tokens are those of servers that the person has signed in to; nil for none.
	Tokens *Tokens
	// Env is the environment (KEY=VALUE) with the proxy and the certificates, and the whole one of a command that prints
	// headers.
	Env []string
	// Schema returns the input schema of a tool, some arguments of which may have to be repeated in headers. It may be nil
	// or return nil.
	Schema func(tool string) json.RawMessage
	// Stray gets what a server sends that is no message. It may be nil and must return soon.
	Stray func(data []byte)
}

// Dial connects to a server. Streamable HTTP has no connection of its own: whether the server answers shows at the first
// message. The stream outlives the context.
func Dial(ctx context.Context, l definition.Launch, o Options) (rpc.Stream, error) {
	at, err := address(l.URL)
	if err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	out, err := newHTTP(o.Env)
	if err != nil && o.Stray != nil {
		o.Stray([]byte(err.Error()))
	}
	c := &client{
		at: at, http: out, given: l.Headers, helper: helper{command: l.Helper, dir: l.Dir, env: o.Env},
		tokens: o.Tokens, clientID: l.OAuth.ClientID, stray: o.Stray, schema: o.Schema,
	}
	switch l.Transport {
	case definition.HTTP:
		return newStreamable(c), nil
	case definition.SSE:
		s, err := newEvents(ctx, c)
		if err != nil {
			return nil, fmt.Errorf("connect to %s: %w", shown(at), err)
		}
		return s, nil
	default:
		return nil, fmt.Errorf("connect: transport %q is not remote", l.Transport)
	}
}
