// Package client sends the operations of package api to a project's server: calls, streams and terminals. It has no
// state but its connections. If the server goes away, the call in progress returns an error.
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
	"net/url"
	"syscall"
	"time"

	"orchestrator/cmd/orchestrator/protocol"
	"orchestrator/thread"
)

// Client is a client of one server.
type Client struct {
	http *http.Client
	env  []string // for the agents that its calls start
}

// Bring has the agents that the client's calls start begin with an environment.
func (c *Client) Bring(env []string) { c.env = env }

// Dial connects to the server, wherever it currently listens.
type Dial func(context.Context) (net.Conn, error)

// New returns a client for the server at a socket. It does not connect yet.
func New(socket string) *Client {
	return NewBelow(func(ctx context.Context) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", socket)
	}, "")
}

// NewBelow returns a client whose requests carry the token of the agent that runs the program, if any.
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

// bearer adds an agent's token to requests.
type bearer struct {
	http.RoundTripper
	token string
}

// RoundTrip makes one request.
func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set(protocol.TokenHeader, b.token)
	return b.RoundTripper.RoundTrip(r)
}

// CloseIdleConnections closes idle connections.
func (b bearer) CloseIdleConnections() {
	if c, ok := b.RoundTripper.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

// Close closes idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Do makes one call of package api; resp may be nil.
func (c *Client) Do(ctx context.Context, name string, req, resp any) error {
	res, err := c.send(ctx, http.MethodPost, name, req, resp)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if resp == nil {
		_, err = io.Copy(io.Discard, res.Body)
	} else {
		err = protocol.ReadResponse(res, resp)
	}
	if err != nil {
		return fmt.Errorf("read the response to %s: %w", name, err)
	}
	return nil
}

// send sends a request, without a body if it is a GET, and returns the response unless it is an error. resp is what the
// response is read into by package api, if it is.
func (c *Client) send(ctx context.Context, method, name string, req, resp any) (*http.Response, error) {
	var body io.Reader
	if method != http.MethodGet {
		b, err := json.Marshal(req)
		if err != nil {
			return nil, fmt.Errorf("encode %s: %w", name, err)
		}
		body = bytes.NewReader(b)
	}
	return c.request(ctx, method, name, "", body, resp)
}

// request sends a request with a body, which may be nil, and returns the response to one that was not refused.
func (c *Client) request(ctx context.Context, method, name, query string, body io.Reader, resp any) (*http.Response, error) {
	hr, err := http.NewRequestWithContext(ctx, method, "http://orchestrator"+protocol.Prefix+name+query, body)
	if err != nil {
		return nil, fmt.Errorf("call %s on the server: %w", name, err)
	}
	protocol.SetEnviron(hr.Header, name, c.env)
	protocol.AskCompact(hr.Header, resp)
	res, err := c.http.Do(hr)
	if err != nil {
		return nil, fmt.Errorf("call %s on the server: %w", name, inWords(err))
	}
	if err := refusal(res); err != nil {
		res.Body.Close()
		return nil, err
	}
	return res, nil
}

// inWords leaves out of an error the address that only HTTP needs, and says what an end without an answer means.
func inWords(err error) error {
	var at *url.Error
	if errors.As(err, &at) {
		err = at.Err
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET) {
		return thread.Hint(ended{err}, "run it again")
	}
	return err
}

// ended is the error of a call whose server ended before it had answered.
type ended struct{ cause error }

func (ended) Error() string   { return "it ended before it had answered" }
func (e ended) Unwrap() error { return e.cause }

// refusal returns the error in a response, or nil if it is a success.
func refusal(res *http.Response) error {
	if res.StatusCode < 400 {
		return nil
	}
	var e protocol.Error
	if err := json.NewDecoder(io.LimitReader(res.Body, 1<<20)).Decode(&e); err != nil || e.Message == "" {
		return fmt.Errorf("the server answered %s", res.Status)
	}
	return e.Err()
}

// Upload sends data of any size with a request of package api.
func (c *Client) Upload(ctx context.Context, name string, req any, data io.Reader, resp any) error {
	b, err := json.Marshal(req)
	if err != nil {
		return fmt.Errorf("encode %s: %w", name, err)
	}
	query := url.Values{protocol.RequestQuery: {string(b)}}
	// The caller closes the data.
	res, err := c.request(ctx, http.MethodPut, name, "?"+query.Encode(), io.NopCloser(data), resp)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if err := protocol.ReadResponse(res, resp); err != nil {
		return fmt.Errorf("read the response to %s: %w", name, err)
	}
	return nil
}

// Download requests data of any size. Reading it fails at the end if the server could not send all of it.
func (c *Client) Download(ctx context.Context, name string, req any) (io.ReadCloser, error) {
	res, err := c.send(ctx, http.MethodPost, name, req, nil)
	if err != nil {
		return nil, err
	}
	return download{res}, nil
}

// download is the data of a response.
type download struct{ res *http.Response }

// Close implements io.Closer.
func (d download) Close() error { return d.res.Body.Close() }

// Read implements io.Reader.
func (d download) Read(b []byte) (int, error) {
	n, err := d.res.Body.Read(b)
	text := d.res.Trailer.Get(protocol.ErrorTrailer)
	if !errors.Is(err, io.EOF) || text == "" {
		return n, err
	}
	var e protocol.Error
	if json.Unmarshal([]byte(text), &e) != nil {
		return n, errors.New(text)
	}
	return n, e.Err()
}

// Stream opens a stream of package api. Its channel is closed when the context ends or the stream breaks. A caller that
// needs everything must then ask for the current state and open the stream again.
func (c *Client) Stream(ctx context.Context, method, name string, req any) (<-chan thread.Event, error) {
	res, err := c.send(ctx, method, name, req, nil)
	if err != nil {
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
				return // a newer server: reconnecting reports that
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

// Gone reports whether an error means that no server is listening any more. That is unknown if the system forbids to
// connect, as in a sandbox without sockets.
func Gone(err error) bool {
	var op *net.OpError
	if errors.Is(err, fs.ErrPermission) {
		return false
	}
	return errors.As(err, &op) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}
