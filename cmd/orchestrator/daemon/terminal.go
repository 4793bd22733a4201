package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/coder/websocket"

	"orchestrator/thread"
	"orchestrator/thread/api"
)

// terminal connects a client to a thread's terminal: binary frames carry bytes in both directions, and a text frame
// from the client carries a new size.
func (s *Server) terminal(w http.ResponseWriter, r *http.Request) {
	q := api.ParseTerminal(r.URL.Query())
	v, err := s.Terminals.Attach(q.Thread, q.Cols, q.Rows, q.Watch)
	if err != nil {
		refuse(w, err)
		return
	}
	defer v.Close()
	c, err := websocket.Accept(w, r, nil)
	if err != nil {
		return // Accept has responded
	}
	defer c.CloseNow()
	c.SetReadLimit(maxBody)
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	go func() {
		defer cancel()
		s.typed(ctx, c, v)
	}()
	for {
		b, err := v.Next(ctx)
		if err != nil {
			if ctx.Err() == nil {
				c.Close(websocket.StatusNormalClosure, "terminal ended")
			}
			return
		}
		if c.Write(ctx, websocket.MessageBinary, b) != nil {
			return
		}
	}
}

// typed forwards what the client types until it disconnects.
func (s *Server) typed(ctx context.Context, c *websocket.Conn, v Viewer) {
	for {
		kind, b, err := c.Read(ctx)
		if err != nil {
			return
		}
		if kind == websocket.MessageText {
			var size api.Size
			if json.Unmarshal(b, &size) == nil {
				err = v.Resize(size.Cols, size.Rows, size.Watch)
			}
		} else {
			err = v.Input(b)
		}
		if err != nil && !errors.Is(err, thread.ErrNotRunning) && !errors.Is(err, thread.ErrUnsupported) { // it has a log only
			s.Log.Warn("terminal input", "error", err)
		}
	}
}
