package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"orchestrator/mcpctl/rpc"
)

// The limits of a connection. A response may take as long as it needs: who calls decides.
const (
	connectTime = 15 * time.Second
	maxHeader   = 64 << 10
	maxHops     = 5
)

// newHTTP returns an HTTP client whose redirects stay on the host that was asked.
func newHTTP() *http.Client {
	return &http.Client{
		Transport: &http.Transport{
			Proxy:                  http.ProxyFromEnvironment,
			DialContext:            (&net.Dialer{Timeout: connectTime, KeepAlive: 30 * time.Second}).DialContext,
			TLSHandshakeTimeout:    connectTime,
			MaxResponseHeaderBytes: maxHeader,
			IdleConnTimeout:        90 * time.Second,
			ForceAttemptHTTP2:      true,
		},
		CheckRedirect: sameHost,
	}
}

// errRedirect is why a redirect is not followed. Who redirects has done nothing else.
var errRedirect = errors.New("redirected")

// sameHost refuses redirects to another host, port or scheme: credentials would go there, and answers come from there.
func sameHost(next *http.Request, via []*http.Request) error {
	first := via[0].URL
	switch {
	case len(via) >= maxHops:
		return fmt.Errorf("%w too often", errRedirect)
	case next.URL.Scheme != first.Scheme || next.URL.Host != first.Host:
		return fmt.Errorf("%w to another host, %s", errRedirect, next.URL.Host)
	case next.Method != via[0].Method:
		return fmt.Errorf("%w with another method", errRedirect)
	}
	return nil
}

// client sends requests to one server.
type client struct {
	at       *url.URL
	http     *http.Client
	given    map[string]string
	helper   helper
	tokens   *Tokens
	clientID string
	stray    func([]byte)

	mu      sync.Mutex
	printed map[string]string // by the helper; nil before its first run
}

// do sends a request with the server's credentials. If these are refused, it renews what can be renewed and sends once
// more. The body may be nil. An error that is not an *AuthError wraps rpc.ErrUnsure if the request may have arrived.
func (c *client) do(ctx context.Context, method string, at *url.URL, body []byte, header http.Header) (*http.Response, error) {
	stale := ""
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
		token, err = c.tokens.token(ctx, c.at, c.clientID, stale)
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

// plain returns the cause of an HTTP client's error: the error itself repeats the URL with its query.
func plain(err error) error {
	var at *url.Error
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}

// drop ends a response whose content is not wanted. What little is left of it is read, so that the connection can be used
// again; a stream of events may never end.
func drop(r *http.Response) {
	if mediaType(r) != "text/event-stream" {
		_, _ = io.CopyN(io.Discard, r.Body, 16<<10)
	}
	_ = r.Body.Close()
}

func mediaType(r *http.Response) string {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil {
		return ""
	}
	return kind
}

// refused is the error for a status that says that nothing was done.
func refused(r *http.Response) error {
	return fmt.Errorf("the server answers %d %s", r.StatusCode, http.StatusText(r.StatusCode))
}
