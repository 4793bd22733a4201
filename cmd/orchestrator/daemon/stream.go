package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/coder/websocket"

	"orchestrator/cmd/orchestrator/api"
	"orchestrator/thread"
)

// send writes events, as server-sent events of one JSON object each, until they end or the client leaves. A comment
// every now and then lets it notice a client that is dead.
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
			for more := true; more; { // what has piled up goes out with one flush
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

// terminal joins a client and a thread's terminal: binary frames carry bytes both ways, a text
// frame of the client a new size.
func (s *Server) terminal(w http.ResponseWriter, r *http.Request) {
	q := api.ParseTerminal(r.URL.Query())
	v, err := s.Terminals.Attach(q.Thread, q.Cols, q.Rows)
	if err != nil {
		refuse(w, err)
		return
	}
	defer v.Close()
	c, err := websocket.Accept(w, r, nil)
	if err != nil {
		return // Accept has answered
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

// typed passes on what the client types until it goes.
func (s *Server) typed(ctx context.Context, c *websocket.Conn, v Viewer) {
	for {
		kind, b, err := c.Read(ctx)
		if err != nil {
			return
		}
		if kind == websocket.MessageText {
			var size api.Size
			if json.Unmarshal(b, &size) == nil {
				err = v.Resize(size.Cols, size.Rows)
			}
		} else {
			err = v.Input(b)
		}
		if err != nil && !errors.Is(err, thread.ErrNotRunning) {
			s.Log.Warn("terminal input", "error", err)
		}
	}
}
