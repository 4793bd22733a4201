package daemon

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"orchestrator/mcpctl/bridge"
	"orchestrator/thread"
	"orchestrator/thread/api"
)

// registerMCP adds the operations on MCP servers.
func (s *Server) registerMCP(r *routes) {
	answer(r, api.MCP, thisThread(func(q *thread.MCPQuery) *string { return &q.Thread }),
		func(ctx context.Context, q thread.MCPQuery) (thread.MCPReport, error) {
			return s.MCP.Report(ctx, q)
		})
	answer(r, api.MCPDetail, aThread(func(q *thread.MCPAct) *string { return &q.Thread }),
		func(ctx context.Context, q thread.MCPAct) (thread.MCPDetail, error) {
			return s.MCP.Detail(ctx, q)
		})
	answer(r, api.MCPWhy, aThread(func(q *thread.MCPTask) *string { return &q.Thread }),
		func(ctx context.Context, q thread.MCPTask) ([]thread.MCPWhy, error) { return s.MCP.Why(ctx, q) })
	answer(r, api.SwitchMCP, nil, func(ctx context.Context, q thread.MCPChange) (thread.MCPReport, error) {
		return s.MCP.Switch(ctx, q)
	})
	answer(r, api.ActMCP, nil, func(ctx context.Context, q thread.MCPAct) (thread.MCPDetail, error) {
		return s.MCP.Act(ctx, q)
	})
	answer(r, api.CallMCP, nil, func(ctx context.Context, q thread.MCPCall) (thread.MCPResult, error) {
		return s.MCP.CallTool(ctx, q)
	})
	r.handle(http.MethodPost, api.ServeMCP, s.serveMCP)
}

// serveMCP turns the connection of an agent's bridge into one of messages. It serves the tools of the thread that the
// process belongs to, whatever the process says.
func (s *Server) serveMCP(w http.ResponseWriter, r *http.Request) {
	c := callerOf(r.Context())
	switch {
	case !c.Agent || c.Thread == "":
		refuse(w, fmt.Errorf("only an agent of a thread is served MCP: %w", thread.ErrNotGranted))
		return
	case r.Header.Get("Upgrade") != bridge.Protocol:
		refuse(w, fmt.Errorf("%w request: it must upgrade to %s", thread.ErrInvalid, bridge.Protocol))
		return
	}
	conn, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		refuse(w, fmt.Errorf("take over the connection: %w", err))
		return
	}
	_ = conn.SetDeadline(time.Time{}) // a connection that is lost is noticed by who reads from it
	_, err = fmt.Fprintf(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: %s\r\n\r\n",
		bridge.Protocol)
	if err != nil {
		_ = conn.Close()
		return
	}
	if err := s.ServeMCP(c.Thread, hijacked{Conn: conn, in: buffered.Reader}); err != nil {
		s.Log.Debug("an agent's MCP connection ended", "thread", string(c.Thread), "err", err)
	}
}

// hijacked is a connection of which a part was read already.
type hijacked struct {
	net.Conn
	in *bufio.Reader
}

// Read implements io.Reader.
func (h hijacked) Read(b []byte) (int, error) { return h.in.Read(b) }

var _ io.ReadWriteCloser = hijacked{}
