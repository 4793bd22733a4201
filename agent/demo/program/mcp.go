package program

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// The limits of what an MCP server is given and gives.
const (
	mcpVersion   = "2025-11-25"
	mcpStart     = 10 * time.Second // until it has answered the handshake
	mcpMostPages = 50
	mcpMostLine  = 32 << 20
)

// mcpServer is one MCP server, by its name and the command that speaks MCP on its standard streams.
type mcpServer struct {
	Name    string   `json:"name"`
	Command []string `json:"command"`
}

// mcpClient is the agent's connection with its one MCP server: version 2025-11-25 of the protocol, of which it uses
// tools. Its methods may be called from several goroutines.
type mcpClient struct {
	server mcpServer
	stdin  io.WriteCloser
	wait   func() error
	stop   context.CancelFunc // ends the handshake
	ready  chan struct{}      // closed when the handshake is over
	failed error              // why it did not succeed; set before ready is closed

	mu      sync.Mutex // guards the rest and the writing of messages
	next    int
	pending map[int]chan mcpMessage
	tools   []definition
	listed  bool  // tools are what the server offers
	changes int   // how often it told that they have changed
	gone    error // set when the server's output has ended
}

// mcpMessage is a message of JSON-RPC.
type mcpMessage struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  any             `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *mcpError       `json:"error,omitempty"`
}

type mcpError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

func (e *mcpError) Error() string { return e.Message }

// methodNotFound is JSON-RPC's code.
const methodNotFound = -32601

// connect starts a server and shakes hands beside the caller.
func connect(s mcpServer) *mcpClient {
	ctx, stop := context.WithTimeout(context.Background(), mcpStart)
	c := &mcpClient{server: s, stop: stop, ready: make(chan struct{}), pending: map[int]chan mcpMessage{}}
	go func() {
		defer close(c.ready)
		defer stop()
		c.failed = c.start(ctx)
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
	c.stdin, c.wait = stdin, cmd.Wait
	go c.read(stdout)
	if _, err := c.call(ctx, "initialize", map[string]any{
		"protocolVersion": mcpVersion, "capabilities": map[string]any{},
		"clientInfo": map[string]any{"name": "orchestrator-demo", "version": "1"},
	}); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.write(mcpMessage{Method: "notifications/initialized"})
}

// close ends the server: it ends when its input does.
func (c *mcpClient) close() {
	c.stop()
	<-c.ready
	if c.stdin != nil {
		_ = c.stdin.Close() // it may have ended
		_ = c.wait()        // how it ends is its own affair
	}
}

// write sends a message. mu is held.
func (c *mcpClient) write(m mcpMessage) error {
	m.Version = "2.0"
	raw, err := json.Marshal(m)
	if err != nil {
		return err
	}
	_, err = c.stdin.Write(append(raw, '\n'))
	return err
}

// call asks for something and waits for the result.
func (c *mcpClient) call(ctx context.Context, method string, params any) (json.RawMessage, error) {
	answer := make(chan mcpMessage, 1)
	c.mu.Lock()
	c.next++
	id := c.next
	err := c.gone
	if err == nil {
		c.pending[id] = answer
		err = c.write(mcpMessage{ID: json.RawMessage(fmt.Sprint(id)), Method: method, Params: params})
	}
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		delete(c.pending, id)
		c.mu.Unlock()
	}()
	if err != nil {
		return nil, err
	}
	select {
	case m, ok := <-answer:
		switch {
		case !ok:
			return nil, c.gone // set before the channel was closed
		case m.Error != nil:
			return nil, m.Error
		}
		return m.Result, nil
	case <-ctx.Done():
		c.mu.Lock()
		defer c.mu.Unlock()
		_ = c.write(mcpMessage{Method: "notifications/cancelled", Params: map[string]any{"requestId": id}})
		return nil, ctx.Err()
	}
}

// read takes what the server says until its output ends.
func (c *mcpClient) read(stdout io.Reader) {
	lines := bufio.NewScanner(stdout)
	lines.Buffer(make([]byte, 0, 16<<10), mcpMostLine)
	for lines.Scan() {
		var m mcpMessage
		if json.Unmarshal(lines.Bytes(), &m) == nil {
			c.take(m)
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.gone = errors.Join(fmt.Errorf("the MCP server %s has ended", c.server.Name), lines.Err())
	for id, waiting := range c.pending {
		close(waiting)
		delete(c.pending, id)
	}
}

func (c *mcpClient) take(m mcpMessage) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var id int
	switch {
	case m.Method == "notifications/tools/list_changed":
		c.listed = false
		c.changes++
	case m.Method == "ping":
		_ = c.write(mcpMessage{ID: m.ID, Result: json.RawMessage("{}")})
	case m.Method != "" && m.ID != nil:
		_ = c.write(mcpMessage{ID: m.ID, Error: &mcpError{methodNotFound, "not supported: " + m.Method}})
	case m.Method == "" && json.Unmarshal(m.ID, &id) == nil && c.pending[id] != nil:
		c.pending[id] <- m
		delete(c.pending, id)
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
		raw, err := c.call(ctx, "tools/list", params)
		if err != nil {
			return nil, err
		}
		var page struct {
			Tools []struct {
				Name        string         `json:"name"`
				Description string         `json:"description"`
				InputSchema map[string]any `json:"inputSchema"`
			} `json:"tools"`
			Next string `json:"nextCursor"`
		}
		if err := json.Unmarshal(raw, &page); err != nil {
			return nil, fmt.Errorf("read the list of tools: %w", err)
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
	raw, err := c.call(ctx, "tools/call", map[string]any{
		"name": strings.TrimPrefix(name, c.prefix()), "arguments": input,
	})
	if err != nil {
		return "", err
	}
	var result struct {
		Content []struct {
			Type string `json:"type"`
			Text string `json:"text"`
		} `json:"content"`
		IsError bool `json:"isError"`
	}
	if err := json.Unmarshal(raw, &result); err != nil {
		return "", fmt.Errorf("read the result: %w", err)
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
