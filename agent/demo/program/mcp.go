package program

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"sync"
	"time"

	"orchestrator/thread/ground/rpc"
)

// The limits of what an MCP server is given and gives.
const (
	mcpVersion   = "2025-11-25"
	mcpStart     = 10 * time.Second // until it has answered the handshake
	mcpMostPages = 50
)

// mcpServer is one MCP server, by its name and the command that speaks MCP on its standard streams.
type mcpServer struct {
	Name    string   `json:"name"`
	Command []string `json:"command"`
	Free    []string `json:"free"` // tools of it that nobody is asked about
}

// mcpClient is the agent's connection with its one MCP server: version 2025-11-25 of the protocol, of which it uses
// tools. Its methods may be called from several goroutines.
type mcpClient struct {
	server mcpServer
	peer   *rpc.Peer
	wait   func() error
	stop   context.CancelFunc // ends the handshake
	ready  chan struct{}      // closed when the handshake is over
	failed error              // why it did not succeed; set before ready is closed

	mu      sync.Mutex // guards the rest
	tools   []definition
	listed  bool // tools are what the server offers
	changes int  // how often it told that they have changed
}

// connect starts a server, shakes hands and lists its tools beside the caller.
func connect(s mcpServer) *mcpClient {
	ctx, stop := context.WithTimeout(context.Background(), mcpStart)
	c := &mcpClient{server: s, stop: stop, ready: make(chan struct{})}
	go func() {
		defer stop()
		c.failed = c.start(ctx)
		close(c.ready)
		if c.failed == nil {
			_, _ = c.list(ctx) // as other agents do before they are asked; each turn asks again what it needs
		}
	}()
	return c
}

func (c *mcpClient) start(ctx context.Context) error {
	cmd := exec.Command(c.server.Command[0], c.server.Command[1:]...)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	c.peer, c.wait = rpc.NewPeer(rpc.NewLines(stdout, stdin, stdin, nil), c), cmd.Wait
	go func() { _ = c.peer.Run() }() // calls tell that it has ended
	if err := c.call(ctx, "initialize", map[string]any{
		"protocolVersion": mcpVersion, "capabilities": map[string]any{},
		"clientInfo": map[string]any{"name": "orchestrator-demo", "version": "1"},
	}, nil); err != nil {
		return err
	}
	return c.peer.Notify(ctx, "notifications/initialized", nil)
}

// close ends the server: it ends when its input does.
func (c *mcpClient) close() {
	c.stop()
	<-c.ready
	if c.peer != nil {
		_ = c.peer.Close() // it may have ended
		_ = c.wait()       // how it ends is its own affair
	}
}

// call asks for something and reads the result, unless into is nil.
func (c *mcpClient) call(ctx context.Context, method string, params, into any) error {
	raw, err := json.Marshal(params)
	if err != nil {
		return err
	}
	result, err := c.peer.Call(ctx, method, raw)
	refused := (*rpc.Error)(nil)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, rpc.ErrClosed):
		return fmt.Errorf("the MCP server %s has ended", c.server.Name)
	case errors.As(err, &refused):
		return errors.New(refused.Message)
	case err != nil || into == nil:
		return err
	}
	if err := json.Unmarshal(result, into); err != nil {
		return fmt.Errorf("read the result of %s: %w", method, err)
	}
	return nil
}

// Request implements rpc.Handler.
func (*mcpClient) Request(_ context.Context, m rpc.Message) (json.RawMessage, error) {
	if m.Method == "ping" {
		return nil, nil
	}
	return nil, rpc.Errorf(rpc.CodeNoMethod, "not supported: %s", m.Method)
}

// Notification implements rpc.Handler.
func (c *mcpClient) Notification(m rpc.Message) {
	if m.Method == "notifications/tools/list_changed" {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.listed = false
		c.changes++
	}
}

// prefix precedes the names of the server's tools, as in Claude Code.
func (c *mcpClient) prefix() string { return "mcp__" + c.server.Name + "__" }

// list returns the tools that the server offers now. If it cannot be reached, that is the error.
func (c *mcpClient) list(ctx context.Context) ([]definition, error) {
	select {
	case <-c.ready:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if c.failed != nil {
		return nil, c.failed
	}
	c.mu.Lock()
	known, listed, changes := c.tools, c.listed, c.changes
	c.mu.Unlock()
	if listed {
		return known, nil
	}
	all, err := c.pages(ctx)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tools, c.listed = all, c.changes == changes
	return all, nil
}

func (c *mcpClient) pages(ctx context.Context) ([]definition, error) {
	var all []definition
	params := map[string]any{}
	for range mcpMostPages {
		var page struct {
			Tools []struct {
				Name        string         `json:"name"`
				Description string         `json:"description"`
				InputSchema map[string]any `json:"inputSchema"`
			} `json:"tools"`
			Next string `json:"nextCursor"`
		}
		if err := c.call(ctx, "tools/list", params, &page); err != nil {
			return nil, err
		}
		for _, t := range page.Tools {
			all = append(all, definition{c.prefix() + t.Name, t.Description, t.InputSchema})
		}
		if page.Next == "" {
			return all, nil
		}
		params["cursor"] = page.Next
	}
	return all, nil
}

// use calls a tool by the name that the model knows, and returns the text of its result.
func (c *mcpClient) use(ctx context.Context, name string, input json.RawMessage) (string, error) {
	var result struct {
		Content []struct {
			Type string `json:"type"`
			Text string `json:"text"`
		} `json:"content"`
		IsError bool `json:"isError"`
	}
	if err := c.call(ctx, "tools/call", map[string]any{
		"name": strings.TrimPrefix(name, c.prefix()), "arguments": input,
	}, &result); err != nil {
		return "", err
	}
	var parts []string
	for _, part := range result.Content {
		if part.Type == "text" {
			parts = append(parts, part.Text)
		} else {
			parts = append(parts, "["+part.Type+"]")
		}
	}
	text := strings.Join(parts, "\n")
	if result.IsError {
		return "", errors.New(text)
	}
	return text, nil
}
