package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"time"

	"orchestrator/agent/world"
	"orchestrator/cmd/orchestrator/protocol"
	"orchestrator/thread"
	"orchestrator/thread/api"
	"orchestrator/thread/grant"
	"orchestrator/thread/secret"
)

const (
	// maxBody limits the size of a request: prompts may be long.
	maxBody = 16 << 20
	// smallBody is how much of any request is read at once; mostLarge is how many larger ones are read at the same time, of
	// the person and of agents.
	smallBody = 64 << 10
	mostLarge = 4
)

// gate finds out who calls, and what requests name.
type gate interface {
	finder
	// identify finds out who makes a request.
	identify(*http.Request) (grant.Caller, error)
	// refused is told of a call that an agent may not make.
	refused(op string, c grant.Caller)
}

// routes has the handlers of operations.
type routes struct {
	mux  *http.ServeMux
	gate gate
	ops  []route
	// bodyTime is how long a client may take to send a request, which it has when it calls; silence is how long the data
	// of an upload may pause: what produces it may have to work for it.
	bodyTime, silence time.Duration
	// large are the places for requests that are large: agents that leave theirs half sent keep no place of the person's.
	large, agentsLarge chan struct{}
}

// route is an operation that is served.
type route struct {
	op string
	// own is set if a request is looked at for whose thread it is about.
	own bool
}

// newRoutes returns empty routes behind a gate.
func newRoutes(g gate) *routes {
	return &routes{mux: http.NewServeMux(), gate: g, bodyTime: 10 * time.Second, silence: 10 * time.Minute,
		large: make(chan struct{}, mostLarge), agentsLarge: make(chan struct{}, mostLarge)}
}

// handle adds a handler for an operation without a request, after its caller was let through.
func (r *routes) handle(method, op string, h http.HandlerFunc) {
	admit(r, method, op, nil, func(http.ResponseWriter, *http.Request, grant.Caller) (api.None, error) { return api.None{}, nil },
		func(w http.ResponseWriter, hr *http.Request, _ api.None) { h(w, hr) })
}

// admit adds a handler for an operation. Every request comes by here: it is read once, and what decides whether the
// caller may make it is what the handler gets.
func admit[Req any](r *routes, method, op string, about subject[Req],
	read func(http.ResponseWriter, *http.Request, grant.Caller) (Req, error), h func(http.ResponseWriter, *http.Request, Req)) {
	r.ops = append(r.ops, route{op, about != nil})
	r.mux.HandleFunc(method+" "+protocol.Prefix+op, func(w http.ResponseWriter, hr *http.Request) {
		c, err := r.gate.identify(hr)
		if err != nil {
			refuse(w, fmt.Errorf("identify the caller: %w: %w", err, thread.ErrNotGranted))
			return
		}
		var req Req
		if !c.Agent || about != nil || c.May(op, false) == nil { // else it is refused whatever it asks
			if req, err = read(w, hr, c); err != nil {
				refuse(w, err)
				return
			}
		}
		if c.Agent {
			own := false
			if about != nil {
				own, err = about(hr.Context(), r.gate, c, &req)
			}
			if err == nil {
				err = c.May(op, own)
			}
			if err != nil {
				r.gate.refused(op, c)
				refuse(w, err)
				return
			}
		}
		ctx := context.WithValue(hr.Context(), callerKey{}, c)
		if env := protocol.Environ(hr.Header); env != nil && !c.Agent {
			// What its terminal speaks by is no agent's business, and differs from one to the next.
			ctx = thread.WithEnviron(ctx, world.Without(env, world.Terminals()))
		}
		h(w, hr.WithContext(ctx), req)
	})
}

// callerKey is the key of the caller in the context of a request.
type callerKey struct{}

// callerOf returns the caller of a request that was let through.
func callerOf(ctx context.Context) grant.Caller {
	c, ok := ctx.Value(callerKey{}).(grant.Caller)
	if !ok {
		return grant.Caller{Agent: true}
	}
	return c
}

// answer adds a function that handles a call.
func answer[Req, Resp any](r *routes, c api.Call[Req, Resp], about subject[Req],
	f func(context.Context, Req) (Resp, error)) {
	admit(r, http.MethodPost, c.Name(), about, sent[Req](r), func(w http.ResponseWriter, hr *http.Request, req Req) {
		resp, err := f(hr.Context(), req)
		if err != nil {
			refuse(w, err)
			return
		}
		_ = protocol.WriteResponse(w, hr.Header, resp) // the client is gone, there is nobody to tell
	})
}

// obey adds a function that handles a command.
func obey[Req any](r *routes, c api.Command[Req], about subject[Req], f func(context.Context, Req) error) {
	answer(r, api.Call[Req, struct{}](c), about, func(ctx context.Context, req Req) (struct{}, error) {
		return struct{}{}, f(ctx, req)
	})
}

// stream adds a function that opens a stream.
func stream[Req any](r *routes, s api.Stream[Req], about subject[Req],
	f func(context.Context, Req) (<-chan thread.Event, error)) {
	admit(r, s.Method(), s.Name(), about, sent[Req](r), func(w http.ResponseWriter, hr *http.Request, req Req) {
		events, err := f(hr.Context(), req)
		if err != nil {
			refuse(w, err)
			return
		}
		send(w, hr, events)
	})
}

// upload adds an operation that takes data. An error is sent at once, so that the client need not send the rest.
func upload[Req, Resp any](r *routes, u api.Upload[Req, Resp], about subject[Req],
	f func(context.Context, Req, io.Reader) (Resp, error)) {
	admit(r, http.MethodPut, u.Name(), about, queried[Req], func(w http.ResponseWriter, hr *http.Request, req Req) {
		control := http.NewResponseController(w)
		body := &paced{body: hr.Body, control: control, silence: r.silence}
		err := control.EnableFullDuplex()
		var resp Resp
		if err == nil {
			resp, err = f(hr.Context(), req, body)
		}
		if err != nil {
			w.Header().Set("Connection", "close") // there is no next request behind data that is left
			refuse(w, err)
			_ = control.Flush()
			_ = control.SetReadDeadline(time.Now().Add(r.bodyTime))
			_, _ = io.Copy(io.Discard, hr.Body) // until the client has read the error
			return
		}
		_ = protocol.WriteResponse(w, hr.Header, resp) // the client is gone, there is nobody to tell
	})
}

// paced is data that must go on coming.
type paced struct {
	body    io.Reader
	control *http.ResponseController
	silence time.Duration
}

// Read implements io.Reader.
func (p *paced) Read(b []byte) (int, error) {
	if err := p.control.SetReadDeadline(time.Now().Add(p.silence)); err != nil {
		return 0, fmt.Errorf("limit how long data may take: %w", err)
	}
	n, err := p.body.Read(b)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return n, thread.Kindf(thread.ErrInvalid, "no data came for %s", p.silence)
	}
	_ = p.control.SetReadDeadline(time.Time{}) // nobody waits for data now
	return n, err
}

// download adds an operation that returns data.
func download[Req any](r *routes, d api.Download[Req], about subject[Req],
	f func(context.Context, Req) (thread.StagedData, error)) {
	admit(r, http.MethodPost, d.Name(), about, sent[Req](r), func(w http.ResponseWriter, hr *http.Request, req Req) {
		data, err := f(hr.Context(), req)
		if err != nil {
			refuse(w, err)
			return
		}
		defer data.Close()
		w.Header().Set("Content-Type", "application/octet-stream")
		if http.NewResponseController(w).Flush() != nil { // a response that was not flushed has no trailers
			return
		}
		if _, err := data.WriteTo(w); err != nil {
			e, _ := protocol.FromError(err)
			e.Message = secret.Redact(e.Message)
			b, _ := json.Marshal(e) // it has only strings, so this cannot fail
			w.Header().Set(http.TrailerPrefix+protocol.ErrorTrailer, string(b))
		}
	})
}

// sent reads the request that is a call's body. A query is none.
func sent[Req any](r *routes) func(http.ResponseWriter, *http.Request, grant.Caller) (Req, error) {
	return func(w http.ResponseWriter, hr *http.Request, c grant.Caller) (req Req, err error) {
		if hr.URL.RawQuery != "" {
			return req, fmt.Errorf("%w request: it has a query", thread.ErrInvalid)
		}
		control := http.NewResponseController(w)
		if err := control.SetReadDeadline(time.Now().Add(r.bodyTime)); err != nil {
			return req, fmt.Errorf("limit how long a request may take: %w", err)
		}
		body, done, err := r.body(http.MaxBytesReader(w, hr.Body, maxBody), c)
		defer done()
		if err != nil { // the deadline stays: what is left of the body is not waited for either
			return req, fmt.Errorf("%w request: %w", thread.ErrInvalid, err)
		}
		if err := control.SetReadDeadline(time.Time{}); err != nil {
			return req, fmt.Errorf("limit how long a request may take: %w", err)
		}
		return read[Req](body)
	}
}

// body reads a request's body. A large one is read when there is a place, until done is called, if that is in time.
func (r *routes) body(in io.Reader, c grant.Caller) (body []byte, done func(), err error) {
	done = func() {}
	body, err = io.ReadAll(io.LimitReader(in, smallBody))
	if err != nil || len(body) < smallBody {
		return body, done, err
	}
	places := r.large
	if c.Agent {
		places = r.agentsLarge
	}
	wait := time.NewTimer(r.bodyTime)
	defer wait.Stop()
	select {
	case places <- struct{}{}:
		done = func() { <-places }
	case <-wait.C:
		return body, done, fmt.Errorf("%d other large requests are being read: %w", mostLarge, thread.ErrLimit)
	}
	rest, err := io.ReadAll(in)
	return append(body, rest...), done, err
}

// queried reads the request that is the query of an upload.
func queried[Req any](_ http.ResponseWriter, hr *http.Request, _ grant.Caller) (req Req, err error) {
	query, err := url.ParseQuery(hr.URL.RawQuery)
	if err != nil || len(query) != 1 || len(query[protocol.RequestQuery]) != 1 {
		return req, fmt.Errorf("%w request: its query must be one %s", thread.ErrInvalid, protocol.RequestQuery)
	}
	return read[Req]([]byte(query.Get(protocol.RequestQuery)))
}

// refuse responds with an error.
func refuse(w http.ResponseWriter, err error) {
	e, status := protocol.FromError(err)
	e.Message = secret.Redact(e.Message) // it may quote a prompt, an address or an environment
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(e) //nolint:errcheck // the client is gone, there is nobody to tell
}

// send writes events, as server-sent events of one JSON object each, until they end or the client disconnects. Periodic
// comments detect dead clients.
func send(w http.ResponseWriter, r *http.Request, events <-chan thread.Event) {
	flush := http.NewResponseController(w)
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	fmt.Fprint(w, ": begin\n\n")
	if flush.Flush() != nil {
		return
	}
	beat := time.NewTicker(time.Minute)
	defer beat.Stop()
	for {
		select {
		case <-r.Context().Done():
			return
		case <-beat.C:
			fmt.Fprint(w, ": still here\n\n")
		case e, ok := <-events:
			if !ok {
				return // fell behind: the client asks for everything again
			}
			if err := writeEvent(w, e); err != nil {
				return
			}
			for more := true; more; { // flush all pending events at once
				select {
				case e, ok = <-events:
					if !ok {
						return
					}
					if err := writeEvent(w, e); err != nil {
						return
					}
				default:
					more = false
				}
			}
		}
		if flush.Flush() != nil {
			return
		}
	}
}

func writeEvent(w http.ResponseWriter, e thread.Event) error {
	b, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("encode event: %w", err)
	}
	_, err = fmt.Fprintf(w, "data: %s\n\n", b)
	return err
}
