package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"orchestrator/thread/ground/rpc"
)

// ConfigureMCP writes what the person configures for all agents.
func (r *Rig) ConfigureMCP(servers map[string]any) {
	r.T.Helper()
	b, err := json.Marshal(map[string]any{"mcpServers": servers})
	if err != nil {
		r.T.Fatal(err)
	}
	dir := filepath.Join(r.Home, ".config", "orchestrator")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		r.T.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "mcp.json"), b, 0o600); err != nil {
		r.T.Fatal(err)
	}
}

// mcpClient is the MCP client of a thread's agent: a bridge below the agent, whose streams the test holds.
type mcpClient struct {
	t       *testing.T
	peer    *rpc.Peer
	Changed chan struct{} // a list of tools has changed
}

// Request implements rpc.Handler.
func (c *mcpClient) Request(context.Context, rpc.Message) (json.RawMessage, error) {
	return nil, rpc.Errorf(rpc.CodeNoMethod, "not here")
}

// Notification implements rpc.Handler.
func (c *mcpClient) Notification(m rpc.Message) {
	if m.Method == "notifications/tools/list_changed" {
		c.Changed <- struct{}{}
	}
}

// Mcp connects as the thread's agent does. environment may change that of the bridge.
func (i *Inside) Mcp(environment string) *mcpClient {
	i.T.Helper()
	i.jobs++
	in, out := filepath.Join(i.dir, fmt.Sprint("in", i.jobs)), filepath.Join(i.dir, fmt.Sprint("out", i.jobs))
	for _, fifo := range []string{in, out} {
		if err := syscall.Mkfifo(fifo, 0o600); err != nil {
			i.T.Fatal(err)
		}
	}
	res := i.Sh(fmt.Sprintf("%s %s mcp-bridge %s <%s >%s 2>%s.err &", environment, Program, i.Socket(), in, out, out))
	if res.Code != 0 {
		i.T.Fatalf("start the bridge: %+v", res)
	}
	w, err := os.OpenFile(in, os.O_WRONLY, 0)
	if err != nil {
		i.T.Fatal(err)
	}
	read, err := os.OpenFile(out, os.O_RDONLY, 0)
	if err != nil {
		i.T.Fatal(err)
	}
	c := &mcpClient{t: i.T, Changed: make(chan struct{}, 100)}
	c.peer = rpc.NewPeer(rpc.NewLines(read, w, w, nil), c)
	ended := make(chan struct{})
	go func() { defer close(ended); _ = c.peer.Run() }()
	i.T.Cleanup(func() {
		_ = c.peer.Close()
		_ = read.Close()
		<-ended
	})
	c.do("initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}`)
	if err := c.peer.Notify(i.T.Context(), "notifications/initialized", nil); err != nil {
		i.T.Fatal(err)
	}
	return c
}

func (c *mcpClient) do(method, params string) string {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), 30*time.Second)
	defer cancel()
	result, err := c.peer.Call(ctx, method, json.RawMessage(params))
	if err != nil {
		c.t.Fatalf("%s: %v", method, err)
	}
	return string(result)
}

// Tools are the names of the tools that the agent gets.
func (c *mcpClient) Tools() (names []string) {
	c.t.Helper()
	var list struct{ Tools []struct{ Name string } }
	if err := json.Unmarshal([]byte(c.do("tools/list", `{}`)), &list); err != nil {
		c.t.Fatal(err)
	}
	for _, t := range list.Tools {
		names = append(names, t.Name)
	}
	return names
}

func (c *mcpClient) Has(tool string) bool { return slices.Contains(c.Tools(), tool) }

// Call calls a tool; ok is unset if the result is an error, or there is none.
func (c *mcpClient) Call(tool, arguments string) (text string, ok bool) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), 30*time.Second)
	defer cancel()
	raw, err := c.peer.Call(ctx, "tools/call", json.RawMessage(fmt.Sprintf(`{"name":%q,"arguments":%s}`, tool, arguments)))
	var answer *rpc.Error
	if errors.As(err, &answer) {
		return answer.Message, false
	}
	if err != nil {
		c.t.Fatal(err)
	}
	var res struct {
		Content []struct{ Text string }
		IsError bool
	}
	if err := json.Unmarshal(raw, &res); err != nil || len(res.Content) == 0 {
		c.t.Fatalf("%s: %v in %s", tool, err, raw)
	}
	return res.Content[0].Text, !res.IsError
}

// AwaitChange waits until the agent is told that its tools have changed.
func (c *mcpClient) AwaitChange() {
	c.t.Helper()
	select {
	case <-c.Changed:
	case <-time.After(30 * time.Second):
		c.t.Fatal("the agent was not told of a change")
	}
}
