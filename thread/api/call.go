package api

import (
	"context"
	"io"
	"net/http"

	"orchestrator/thread"
)

// Call is an operation with a single response. Its value is its name on the wire, which has a row in the table of
// grants.
type Call[Req, Resp any] string

// Command is an operation without a response.
type Command[Req any] string

// Stream is an operation that returns events until the client disconnects or falls behind.
type Stream[Req any] string

// Upload is an operation that takes data of any size.
type Upload[Req, Resp any] string

// Download is an operation that returns data of any size. Reading that fails if not all of it comes.
type Download[Req any] string

// None is the request of an operation without parameters.
type None struct{}

// Doer makes calls to a server: a client.
type Doer interface {
	// Do sends a request and reads the response into resp, which may be nil.
	Do(ctx context.Context, name string, req, resp any) error
}

// Streamer opens streams from a server: a client.
type Streamer interface {
	Stream(ctx context.Context, method, name string, req any) (<-chan thread.Event, error)
}

// Uploader sends data to a server: a client.
type Uploader interface {
	// Upload sends a request with data and reads the response into resp.
	Upload(ctx context.Context, name string, req any, data io.Reader, resp any) error
}

// Downloader reads data from a server: a client.
type Downloader interface {
	// Download sends a request and returns the data, which the caller closes.
	Download(ctx context.Context, name string, req any) (io.ReadCloser, error)
}

// Name returns the operation's name.
func (c Call[Req, Resp]) Name() string { return string(c) }

// Do makes the call.
func (c Call[Req, Resp]) Do(ctx context.Context, d Doer, req Req) (Resp, error) {
	var resp Resp
	err := d.Do(ctx, string(c), req, &resp)
	return resp, err
}

// On returns the call with its request, to be made later.
func (c Call[Req, Resp]) On(d Doer, req Req) func(context.Context) (Resp, error) {
	return func(ctx context.Context) (Resp, error) { return c.Do(ctx, d, req) }
}

// Command returns the operation for whom its response does not matter.
func (c Call[Req, Resp]) Command() Command[Req] { return Command[Req](c) }

// Name returns the operation's name.
func (c Command[Req]) Name() string { return string(c) }

// Do sends the command.
func (c Command[Req]) Do(ctx context.Context, d Doer, req Req) error {
	return d.Do(ctx, string(c), req, nil)
}

// On returns the command with its request, to be sent later.
func (c Command[Req]) On(d Doer, req Req) func(context.Context) error {
	return func(ctx context.Context) error { return c.Do(ctx, d, req) }
}

// Name returns the operation's name.
func (s Stream[Req]) Name() string { return string(s) }

// Method returns the HTTP method of the stream: GET if there is no request to send.
func (s Stream[Req]) Method() string {
	var req Req
	if _, none := any(req).(None); none {
		return http.MethodGet
	}
	return http.MethodPost
}

// Open starts the stream. Its channel is closed when the context ends or the stream breaks. The caller must then ask
// for what it has missed.
func (s Stream[Req]) Open(ctx context.Context, from Streamer, req Req) (<-chan thread.Event, error) {
	return from.Stream(ctx, s.Method(), string(s), req)
}

// Name returns the operation's name.
func (u Upload[Req, Resp]) Name() string { return string(u) }

// Do sends data and returns the response.
func (u Upload[Req, Resp]) Do(ctx context.Context, to Uploader, req Req, data io.Reader) (Resp, error) {
	var resp Resp
	err := to.Upload(ctx, string(u), req, data, &resp)
	return resp, err
}

// Name returns the operation's name.
func (d Download[Req]) Name() string { return string(d) }

// Open returns the data, which the caller closes.
func (d Download[Req]) Open(ctx context.Context, from Downloader, req Req) (io.ReadCloser, error) {
	return from.Download(ctx, string(d), req)
}
