package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/coder/websocket"

	"orchestrator/cmd/orchestrator/protocol"
	"orchestrator/thread"
	"orchestrator/thread/api"
)

// Terminal is an open terminal of a thread.
type Terminal struct{ conn *websocket.Conn }

// maxFrame limits the size of a frame from the server, such as a snapshot with its scrollback.
const maxFrame = 256 << 20

// Attach attaches to a thread's terminal: the first Read returns the whole screen, the others return what follows.
func (c *Client) Attach(ctx context.Context, id thread.ID, cols, rows int) (*Terminal, error) {
	return c.Show(ctx, id, api.Size{Cols: cols, Rows: rows})
}

// Show is Attach for a terminal that may be shown beside others.
func (c *Client) Show(ctx context.Context, id thread.ID, size api.Size) (*Terminal, error) {
	q := api.TerminalRequest{Thread: id, Cols: size.Cols, Rows: size.Rows, Watch: size.Watch}.Query()
	at := "ws://orchestrator" + protocol.Prefix + api.Terminal + "?" + q.Encode()
	conn, res, err := websocket.Dial(ctx, at, &websocket.DialOptions{HTTPClient: c.http})
	if err != nil {
		if res != nil && res.Body != nil {
			defer res.Body.Close()
			if refused := refusal(res); refused != nil {
				return nil, refused
			}
		}
		return nil, fmt.Errorf("attach to the terminal: %w", err)
	}
	conn.SetReadLimit(maxFrame)
	return &Terminal{conn: conn}, nil
}

// Read waits for the next bytes. It returns io.EOF when the terminal has ended.
func (t *Terminal) Read(ctx context.Context) ([]byte, error) {
	for {
		kind, b, err := t.conn.Read(ctx)
		var closed websocket.CloseError
		if errors.As(err, &closed) {
			return nil, io.EOF
		}
		if err != nil {
			return nil, fmt.Errorf("read the terminal: %w", err)
		}
		if kind == websocket.MessageBinary {
			return b, nil
		}
	}
}

// Write types bytes.
func (t *Terminal) Write(ctx context.Context, b []byte) error {
	if err := t.conn.Write(ctx, websocket.MessageBinary, b); err != nil {
		return fmt.Errorf("type into the terminal: %w", err)
	}
	return nil
}

// Resize sets the size that this client shows.
func (t *Terminal) Resize(ctx context.Context, size api.Size) error {
	b, err := json.Marshal(size)
	if err != nil {
		return fmt.Errorf("resize the terminal: %w", err)
	}
	if err := t.conn.Write(ctx, websocket.MessageText, b); err != nil {
		return fmt.Errorf("resize the terminal: %w", err)
	}
	return nil
}

// Close detaches from the terminal; the agent keeps running.
func (t *Terminal) Close() error {
	if err := t.conn.CloseNow(); err != nil {
		return fmt.Errorf("detach from the terminal: %w", err)
	}
	return nil
}
