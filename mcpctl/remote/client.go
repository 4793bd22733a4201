package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"

	"orchestrator/thread/ground/rpc"
)

// client sends requests to one server.
type client struct {
	at       *url.URL
	http     *http.Client
	given    map[string]string
	helper   helper
	tokens   *Tokens
	clientID string
	stray    func([]byte)
	schema   func(string) json.RawMessage

	mu      sync.Mutex
	printed map[string]string // by the helper; nil before its first run
}

// mostDials is how often a request waits for another connection because somebody else's cancellation ended its own.
const mostDials = 3

// do sends a request with the server's credentials. If these are refused, it renews what can be renewed and sends once
// more. The body may be nil. An error that is not an *AuthError wraps rpc.ErrUnsure if the request may have arrived.
func (c *client) do(ctx context.Context, method string, at *url.URL, body []byte, header http.Header) (*http.Response, error) {
	stale, dials := "", 0
	for try := 0; ; try++ {
		request, token, err := c.request(ctx, method, at, body, header, try > 0, stale)
		if err != nil {
			return nil, err
		}
		stale = token
		var wrote atomic.Bool
		trace := &httptrace.ClientTrace{WroteRequest: func(i httptrace.WroteRequestInfo) { wrote.Store(i.Err == nil) }}
		response, err := c.http.Do(request.WithContext(httptrace.WithClientTrace(ctx, trace)))
		if err != nil {
			// A connection that net/http was opening for a request that is cancelled fails another one that waits for it.
			if errors.Is(err, context.Canceled) && ctx.Err() == nil && !wrote.Load() && dials < mostDials {
				dials++
				try--
				continue
			}
			if err = plain(err); wrote.Load() && method == http.MethodPost && !errors.Is(err, errRedirect) {
				return nil, fmt.Errorf("%w: %w", err, rpc.ErrUnsure)
			}
			return nil, err
		}
		if response.StatusCode != http.StatusUnauthorized && response.StatusCode != http.StatusForbidden {
			return response, nil
		}
		challenge := response.Header.Values("WWW-Authenticate")
		drop(response)
		if try > 0 || response.StatusCode == http.StatusForbidden || !c.renewable() {
			return nil, &AuthError{Status: response.StatusCode, Challenge: challenge}
		}
	}
}

// renewable reports whether other credentials may be had without the person.
func (c *client) renewable() bool {
	return c.helper.command != "" || c.tokens.renewable(c.at, c.clientID)
}

// request builds a request and returns the token that it carries, if one of ours. A stale token is renewed,
// and with again set the headers that are printed.
func (c *client) request(ctx context.Context, method string, at *url.URL, body []byte, header http.Header, again bool, stale string) (_ *http.Request, token string, _ error) {
	var content io.Reader = http.NoBody
	if body != nil {
		content = strings.NewReader(string(body))
	}
	request, err := http.NewRequestWithContext(ctx, method, at.String(), content)
	if err != nil {
		return nil, "", errors.New("the request cannot be built")
	}
	printed, err := c.headers(ctx, again)
	if err != nil {
		return nil, "", err
	}
	for _, set := range []map[string]string{c.given, printed} {
		for name, value := range set {
			if !reserved(name) {
				request.Header.Set(name, value)
			}
		}
	}
	if request.Header.Get("Authorization") == "" {
		token, err = c.tokens.token(ctx, c.at, c.clientID, stale, c.helper.env)
		if err != nil {
			return nil, "", err
		}
		if token != "" {
			request.Header.Set("Authorization", "Bearer "+token)
		}
	}
	for name, values := range header {
		request.Header[name] = values
	}
	return request, token, nil
}

// headers are those that the helper printed.
func (c *client) headers(ctx context.Context, renew bool) (map[string]string, error) {
	if c.helper.command == "" {
		return nil, nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.printed == nil || renew {
		printed, err := c.helper.run(ctx)
		if err != nil {
			return nil, fmt.Errorf("run the command for headers: %w", err)
		}
		c.printed = printed
	}
	return c.printed, nil
}

// reserved reports whether a header is ours to set.
func reserved(name string) bool {
	name = strings.ToLower(name)
	switch name {
	case "accept", "content-type", "content-length", "transfer-encoding", "connection", "host", "last-event-id":
		return true
	}
	return strings.HasPrefix(name, "mcp-")
}
