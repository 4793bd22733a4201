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
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"orchestrator/mcpctl/definition"
	"orchestrator/mcpctl/rpc"
)

// ErrAuth is wrapped by errors of calls that a server refuses until the person has signed in, see [AuthError].
var ErrAuth = errors.New("sign-in needed")

// ErrGone is why a stream ends whose session the server has forgotten: a new one must be opened and initialized.
var ErrGone = errors.New("the server has ended the session")

// AuthError is a server's refusal for want of credentials.
type AuthError struct {
	Status    int      // 401 or 403
	Challenge []string // its WWW-Authenticate headers, which SignIn needs
}

// Error implements error. It does not show what the server says.
func (e *AuthError) Error() string {
	return fmt.Sprintf("%v (%d %s)", ErrAuth, e.Status, http.StatusText(e.Status))
}

// Unwrap makes it an ErrAuth.
func (e *AuthError) Unwrap() error { return ErrAuth }

// Options are what a connection needs besides the launch.
type Options struct {
	// Tokens are those of servers that the person has signed in to; nil for none.
	Tokens *Tokens
	// Env is the whole environment of a command that prints headers: KEY=VALUE.
	Env []string
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
	c := &client{
		at: at, http: newHTTP(), given: l.Headers, helper: helper{command: l.Helper, dir: l.Dir, env: o.Env},
		tokens: o.Tokens, clientID: l.OAuth.ClientID, stray: o.Stray,
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

// address reads the URL of a server. An error does not repeat it.
func address(raw string) (*url.URL, error) {
	u, err := url.Parse(raw)
	switch {
	case err != nil:
		return nil, errors.New("the URL cannot be read")
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, errors.New("the URL is neither http nor https")
	case u.Hostname() == "":
		return nil, errors.New("the URL has no host")
	}
	u.Fragment = ""
	return u, nil
}

// shown is a URL without what may be secret.
func shown(u *url.URL) string { return u.Scheme + "://" + u.Host + u.EscapedPath() }
