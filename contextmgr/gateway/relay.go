package gateway

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"
)

// relay copies an answer as it arrives. It returns an error if the agent did not get all of it.
func (g *Gateway) relay(
	w http.ResponseWriter, r *http.Request, resp *http.Response, o *observation, cancel context.CancelCauseFunc,
) error {
	h := w.Header()
	copyHeader(h, resp.Header)
	if resp.Header["Content-Type"] == nil {
		h["Content-Type"] = nil // suppresses Go's guess
	}
	rc := http.NewResponseController(w)
	w.WriteHeader(resp.StatusCode)
	if resp.ContentLength != 0 {
		_ = rc.Flush() // whether the agent is gone shows when its answer is written
	}
	silence := time.AfterFunc(g.opts.Silence, func() { cancel(errSilence) })
	defer silence.Stop()
	buf := g.bufs.Get().(*[]byte)
	defer g.bufs.Put(buf)
	for {
		n, err := resp.Body.Read(*buf)
		silence.Reset(g.opts.Silence)
		if n > 0 {
			_ = rc.SetWriteDeadline(time.Now().Add(g.opts.WriteLimit))
			_, sent := w.Write((*buf)[:n])
			if sent == nil {
				sent = rc.Flush()
			}
			// Read on even if not everything could be sent: an agent that has the end hangs up at once.
			o.write((*buf)[:n])
			if sent != nil {
				return errAgent
			}
		}
		switch {
		case err == nil:
		case errors.Is(err, io.EOF):
			for name, values := range resp.Trailer {
				h[http.TrailerPrefix+name] = values
			}
			if o.cutWithoutNotice(resp) {
				return io.ErrUnexpectedEOF
			}
			return nil
		case r.Context().Err() != nil:
			return g.gone()
		case errors.Is(context.Cause(resp.Request.Context()), errSilence):
			return errSilence
		default:
			return cut(err)
		}
	}
}

// gone returns who ended a connection to an agent.
func (g *Gateway) gone() error {
	if g.calls.over() {
		return errStopped
	}
	return errAgent
}
