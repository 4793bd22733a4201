package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"orchestrator/cmd/orchestrator/api"
	"orchestrator/thread"
	"orchestrator/thread/secret"
)

// maxBody limits the size of a request: prompts may be long.
const maxBody = 16 << 20

// routes has the handlers of operations.
type routes struct {
	mux *http.ServeMux
	// guard wraps every handler to check the caller.
	guard func(op string, next http.Handler) http.Handler
	ops   []string
}

// newRoutes returns empty routes.
func newRoutes(guard func(op string, next http.Handler) http.Handler) *routes {
	return &routes{mux: http.NewServeMux(), guard: guard}
}

// handle adds a handler for an operation.
func (r *routes) handle(method, op string, h http.HandlerFunc) {
	r.ops = append(r.ops, op)
	r.mux.Handle(method+" "+api.Prefix+op, r.guard(op, h))
}

// answer adds a function that handles a call.
func answer[Req, Resp any](r *routes, c api.Call[Req, Resp], f func(context.Context, Req) (Resp, error)) {
	r.handle(http.MethodPost, c.Name(), func(w http.ResponseWriter, hr *http.Request) {
		req, err := decode[Req](w, hr)
		if err != nil {
			refuse(w, err)
			return
		}
		resp, err := f(hr.Context(), req)
		if err != nil {
			refuse(w, err)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(resp) //nolint:errcheck // the client is gone, there is nobody to tell
	})
}

// obey adds a function that handles a command.
func obey[Req any](r *routes, c api.Command[Req], f func(context.Context, Req) error) {
	answer(r, api.Call[Req, struct{}](c), func(ctx context.Context, req Req) (struct{}, error) {
		return struct{}{}, f(ctx, req)
	})
}

// stream adds a function that opens a stream.
func stream[Req any](r *routes, s api.Stream[Req], f func(context.Context, Req) (<-chan thread.Event, error)) {
	r.handle(s.Method(), s.Name(), func(w http.ResponseWriter, hr *http.Request) {
		req, err := decode[Req](w, hr)
		if err != nil {
			refuse(w, err)
			return
		}
		events, err := f(hr.Context(), req)
		if err != nil {
			refuse(w, err)
			return
		}
		send(w, hr, events)
	})
}

// upload adds an operation that takes data. An error is sent at once, so that the client need not send the rest.
func upload[Req, Resp any](r *routes, u api.Upload[Req, Resp], f func(context.Context, Req, io.Reader) (Resp, error)) {
	r.handle(http.MethodPut, u.Name(), func(w http.ResponseWriter, hr *http.Request) {
		var req Req
		control := http.NewResponseController(w)
		err := control.EnableFullDuplex()
		if err == nil {
			if err = json.Unmarshal([]byte(hr.URL.Query().Get(api.RequestQuery)), &req); err != nil {
				err = fmt.Errorf("%w request: %w", thread.ErrInvalid, err)
			}
		}
		var resp Resp
		if err == nil {
			resp, err = f(hr.Context(), req, hr.Body)
		}
		if err != nil {
			refuse(w, err)
			_ = control.Flush()
			_, _ = io.Copy(io.Discard, hr.Body) // until the client has read the error
			return
		}
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(resp) //nolint:errcheck // the client is gone; nobody to tell
	})
}

// download adds an operation that returns data.
func download[Req any](r *routes, d api.Download[Req], f func(context.Context, Req) (thread.StagedData, error)) {
	r.handle(http.MethodPost, d.Name(), func(w http.ResponseWriter, hr *http.Request) {
		req, err := decode[Req](w, hr)
		if err != nil {
			refuse(w, err)
			return
		}
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
			e, _ := api.FromError(err)
			e.Message = secret.Redact(e.Message)
			b, _ := json.Marshal(e) // it has only strings, so this cannot fail
			w.Header().Set(http.TrailerPrefix+api.ErrorTrailer, string(b))
		}
	})
}

// decode reads a request. A missing body is the zero request.
func decode[Req any](w http.ResponseWriter, r *http.Request) (req Req, err error) {
	err = json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody)).Decode(&req)
	if err != nil && !errors.Is(err, io.EOF) {
		return req, fmt.Errorf("%w request: %w", thread.ErrInvalid, err)
	}
	return req, nil
}

// refuse responds with an error.
func refuse(w http.ResponseWriter, err error) {
	e, status := api.FromError(err)
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
