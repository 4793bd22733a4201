// Package client is the typed way to a project's server: every call of its API, its events, its
// terminals. It keeps no state but the connection; a server that went away is an error of the
// call that met it.
package client

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"time"

	"orchestrator/cmd/orchestrator/api"
	"orchestrator/thread"
)

// Client calls one server.
type Client struct{ http *http.Client }

// Dial connects to the server, wherever it listens by now.
type Dial func(context.Context) (net.Conn, error)

// New returns a client of the server behind a socket; nothing is dialled yet.
func New(socket string) *Client {
	return NewBelow(func(ctx context.Context) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", socket)
	}, "")
}

// NewBelow returns a client whose requests carry the token of the agent that the program runs below, if any.
func NewBelow(dial Dial, token string) *Client {
	var transport http.RoundTripper = &http.Transport{
		DialContext:         func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx) },
		MaxIdleConnsPerHost: 4, IdleConnTimeout: time.Minute,
	}
	if token != "" {
		transport = bearer{transport, token}
	}
	return &Client{http: &http.Client{Transport: transport}}
}

// bearer sends an agent's token along.
type bearer struct {
	http.RoundTripper
	token string
}

// RoundTrip makes one request.
func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set(api.TokenHeader, b.token)
	return b.RoundTripper.RoundTrip(r)
}

// CloseIdleConnections drops them.
func (b bearer) CloseIdleConnections() {
	if c, ok := b.RoundTripper.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

// Close drops idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// ask makes one call; resp may be nil.
func (c *Client) ask(ctx context.Context, name string, req, resp any) error {
	body, err := json.Marshal(req)
	if err != nil {
		return fmt.Errorf("encode %s: %w", name, err)
	}
	hr, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://orchestrator"+api.Prefix+name, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("ask the server to %s: %w", name, err)
	}
	res, err := c.http.Do(hr)
	if err != nil {
		return fmt.Errorf("ask the server to %s: %w", name, err)
	}
	defer res.Body.Close()
	if err := refusal(res); err != nil {
		return err
	}
	if resp == nil {
		_, err = io.Copy(io.Discard, res.Body)
	} else {
		err = json.NewDecoder(res.Body).Decode(resp)
	}
	if err != nil {
		return fmt.Errorf("read the answer to %s: %w", name, err)
	}
	return nil
}

// refusal reads the error that a response carries, nil for a good one.
func refusal(res *http.Response) error {
	if res.StatusCode < 400 {
		return nil
	}
	var e api.Error
	if err := json.NewDecoder(io.LimitReader(res.Body, 1<<20)).Decode(&e); err != nil || e.Message == "" {
		return fmt.Errorf("the server answered %s", res.Status)
	}
	return e.Err()
}

func answer[Resp any](ctx context.Context, c *Client, name string, req any) (Resp, error) {
	var resp Resp
	err := c.ask(ctx, name, req, &resp)
	return resp, err
}

// Events streams what happens from now on until the context ends or the stream breaks, which
// closes the channel: then List and Events again.
func (c *Client) Events(ctx context.Context) (<-chan thread.Event, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://orchestrator"+api.Prefix+"events", nil)
	if err != nil {
		return nil, fmt.Errorf("ask for events: %w", err)
	}
	return c.stream(ctx, req)
}

// Speech streams one thread's events from now on with what its model says, in their order, until the context ends or
// the stream breaks, which closes the channel. After a speech that was missed, ask for where the thread is.
func (c *Client) Speech(ctx context.Context, ref string) (<-chan thread.Event, error) {
	body, err := json.Marshal(api.Ref{Thread: ref})
	if err != nil {
		return nil, fmt.Errorf("ask for what a thread says: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://orchestrator"+api.Prefix+"speech", bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("ask for what a thread says: %w", err)
	}
	return c.stream(ctx, req)
}

// stream reads events as they come.
func (c *Client) stream(ctx context.Context, req *http.Request) (<-chan thread.Event, error) {
	res, err := c.http.Do(req)
	if err != nil {
		return nil, fmt.Errorf("ask for events: %w", err)
	}
	if err := refusal(res); err != nil {
		res.Body.Close()
		return nil, err
	}
	events := make(chan thread.Event, 64)
	go func() {
		defer close(events)
		defer res.Body.Close()
		lines := bufio.NewReader(res.Body)
		for {
			line, err := lines.ReadBytes('\n')
			if err != nil {
				return
			}
			data, ok := bytes.CutPrefix(line, []byte("data: "))
			if !ok {
				continue
			}
			var e thread.Event
			if json.Unmarshal(data, &e) != nil {
				return // a newer server: the reconnect says so
			}
			select {
			case events <- e:
			case <-ctx.Done():
				return
			}
		}
	}()
	return events, nil
}

// Gone reports whether an error means that no server listens any more. Where the system forbids to ask, as in a
// sandbox without sockets, that is not known.
func Gone(err error) bool {
	var op *net.OpError
	if errors.Is(err, fs.ErrPermission) {
		return false
	}
	return errors.As(err, &op) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}
