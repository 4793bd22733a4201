// Package bridge connects the standard streams of an agent's MCP server process to the project's server.
//
// It passes lines on as they are. When the connection is lost it answers what was waiting with an error that says so,
// connects again, and repeats the handshake, so that the agent's connection outlives a restart of the server. It holds
// no credential: the server finds out from the kernel whose process it is.
package bridge

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"orchestrator/mcpctl/rpc"
)

// Protocol is what a connection to the server is upgraded to.
const Protocol = "orchestrator-mcp"

// Config configures a Bridge.
type Config struct {
	// Socket is the server's, Path that of the operation which serves bridges.
	Socket, Path string
	// Token is the agent's, if it is known. The server can do without it.
	Token, TokenHeader string
	In                 io.Reader
	Out                io.Writer
	// Patience is how long the server may be gone before the bridge gives up; 0 means a minute.
	Patience time.Duration
}

// Bridge is one connection of an agent.
type Bridge struct {
	cfg Config

	out sync.Mutex // held while a line is written to the agent

	// mu guards the fields below.
	mu         sync.Mutex
	server     net.Conn
	connected  chan struct{}              // closed while server is set
	waiting    map[string]json.RawMessage // ids of the agent's requests without a response
	listening  map[string][]byte          // lines of the agent's that open streams of changes, by id
	initialize []byte                     // the agent's handshake, to be repeated
	ready      []byte
	skip       string // id of a repeated handshake, whose response the agent has already
}

// New returns a bridge.
func New(cfg Config) *Bridge {
	if cfg.Patience == 0 {
		cfg.Patience = time.Minute
	}
	return &Bridge{cfg: cfg, connected: make(chan struct{}), waiting: map[string]json.RawMessage{},
		listening: map[string][]byte{}}
}

// Run passes messages on until the agent closes its side, or the server refuses the bridge or is gone for too long.
func (b *Bridge) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	first := make(chan error, 1)
	go func() { cancel(b.keepConnected(ctx, first)) }()
	if err := <-first; err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- b.fromAgent(ctx) }()
	select {
	case err := <-ended:
		cancel(err)
		b.mu.Lock()
		defer b.mu.Unlock()
		if b.server != nil {
			_ = b.server.Close()
		}
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// errRefused is why the server does not serve the bridge.
var errRefused = errors.New("the server refused the connection")

// firstPatience is how long the server may take to be there at all: an agent waits for the bridge meanwhile.
const firstPatience = 5 * time.Second

// keepConnected connects to the server again and again. first gets the outcome of the first time.
func (b *Bridge) keepConnected(ctx context.Context, first chan<- error) error {
	lost, patience := time.Now(), min(firstPatience, b.cfg.Patience)
	pause := 20 * time.Millisecond
	once := sync.OnceFunc(func() { first <- nil })
	for {
		conn, in, err := b.connect(ctx)
		switch {
		case err == nil:
			pause = 20 * time.Millisecond
			b.attach(conn)
			once()
			b.fromServer(in)
			b.detach(conn)
			lost, patience = time.Now(), b.cfg.Patience
		case errors.Is(err, errRefused), time.Since(lost) > patience:
			err = fmt.Errorf("connect to the server of this project: %w", err)
			select {
			case first <- err:
			default:
			}
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(pause):
		}
		pause = min(2*pause, time.Second)
	}
}

// connect opens a connection and upgrades it.
func (b *Bridge) connect(ctx context.Context) (net.Conn, *bufio.Reader, error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", b.cfg.Socket)
	if err != nil {
		return nil, nil, err
	}
	_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
	token := ""
	if b.cfg.Token != "" {
		token = b.cfg.TokenHeader + ": " + b.cfg.Token + "\r\n"
	}
	_, err = fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: orchestrator\r\nConnection: Upgrade\r\nUpgrade: %s\r\n%s"+
		"Content-Length: 0\r\n\r\n", b.cfg.Path, Protocol, token)
	in := bufio.NewReaderSize(conn, 64<<10)
	var answer *http.Response
	if err == nil {
		answer, err = http.ReadResponse(in, nil)
	}
	if err != nil {
		_ = conn.Close()
		return nil, nil, err
	}
	if answer.StatusCode != http.StatusSwitchingProtocols {
		why, _ := io.ReadAll(io.LimitReader(answer.Body, 4096))
		_ = conn.Close()
		return nil, nil, fmt.Errorf("%w: %s: %s", errRefused, answer.Status, strings.TrimSpace(string(why)))
	}
	_ = conn.SetDeadline(time.Time{})
	return conn, in, nil
}

// attach makes a connection the one that the agent's lines go to, and repeats the handshake on it if there was one.
func (b *Bridge) attach(conn net.Conn) {
	b.mu.Lock()
	defer b.mu.Unlock()
	again := b.initialize != nil || len(b.listening) > 0
	if b.initialize != nil {
		var m struct{ ID json.RawMessage }
		_ = json.Unmarshal(b.initialize, &m) // it was decoded before
		b.skip = string(m.ID)
		_, _ = conn.Write(b.initialize) // a connection that is lost again is noticed by who reads from it
		if b.ready != nil {
			_, _ = conn.Write(b.ready)
		}
	}
	for _, line := range b.listening {
		_, _ = conn.Write(line)
	}
	b.server = conn
	close(b.connected)
	if again && b.ready != nil {
		go func() { _ = b.toAgent([]byte(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}` + "\n")) }()
	}
}

// detach ends a connection and answers what was waiting for it.
func (b *Bridge) detach(conn net.Conn) {
	_ = conn.Close()
	b.mu.Lock()
	b.server = nil
	b.connected = make(chan struct{})
	waiting := b.waiting
	b.waiting = map[string]json.RawMessage{}
	if m, err := rpc.Decode(b.initialize); err == nil && waiting[string(m.ID)] != nil {
		b.waiting[string(m.ID)] = m.ID // it is sent again, and answered then
		delete(waiting, string(m.ID))
	}
	b.mu.Unlock()
	for _, id := range waiting {
		m := rpc.Message{ID: id, Error: rpc.Errorf(rpc.CodeInternal,
			"orchestrator's server was restarted during this call, which may or may not have taken effect")}
		if line, err := m.Encode(); err == nil {
			_ = b.toAgent(append(line, '\n')) // an agent that is gone is noticed by who reads from it
		}
	}
}

// fromAgent passes on what the agent says, waiting while there is no server.
func (b *Bridge) fromAgent(ctx context.Context) error {
	in := bufio.NewReaderSize(b.cfg.In, 64<<10)
	for {
		line, err := readLine(in)
		if len(bytes.TrimSpace(line)) > 0 {
			if sent := b.send(ctx, line); sent != nil {
				return sent
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read from the agent: %w", err)
		}
	}
}

// send writes a line of the agent's to the server.
func (b *Bridge) send(ctx context.Context, line []byte) error {
	for {
		b.mu.Lock()
		server, connected := b.server, b.connected
		if server != nil {
			b.remember(line)
			_, err := server.Write(line)
			b.mu.Unlock()
			if err != nil {
				_ = server.Close() // who reads from it answers the request
			}
			return nil
		}
		b.mu.Unlock()
		select {
		case <-connected:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// remember keeps what is needed after the connection is lost. mu is held.
func (b *Bridge) remember(line []byte) {
	m, err := rpc.Decode(line)
	if err != nil {
		return
	}
	switch {
	case m.Method == "initialize":
		b.initialize = line
		b.waiting[string(m.ID)] = m.ID
	case m.Method == "notifications/initialized":
		b.ready = line
	case m.Method == "subscriptions/listen" && m.ID != nil:
		b.listening[string(m.ID)] = line
	case m.Method == "notifications/cancelled":
		var p struct {
			RequestID json.RawMessage `json:"requestId"`
		}
		if json.Unmarshal(m.Params, &p) == nil {
			delete(b.listening, string(p.RequestID))
			delete(b.waiting, string(p.RequestID))
		}
	case m.IsRequest():
		b.waiting[string(m.ID)] = m.ID
	}
}

// fromServer passes on what the server says until the connection ends.
func (b *Bridge) fromServer(in *bufio.Reader) {
	for {
		line, err := readLine(in)
		if err != nil {
			return // what is left of a line is no message
		}
		if b.wanted(line) && b.toAgent(line) != nil {
			return
		}
	}
}

// wanted notes a response, and reports whether the agent waits for it.
func (b *Bridge) wanted(line []byte) bool {
	m, err := rpc.Decode(line)
	if err != nil || !m.IsResponse() {
		return true
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	id := string(m.ID)
	if b.skip != "" && b.skip == id {
		b.skip = ""
		if _, first := b.waiting[id]; !first {
			return false
		}
	}
	delete(b.waiting, id)
	delete(b.listening, id)
	return true
}

// toAgent writes a line to the agent.
func (b *Bridge) toAgent(line []byte) error {
	b.out.Lock()
	defer b.out.Unlock()
	_, err := b.cfg.Out.Write(line)
	return err
}

// readLine reads a line with its end, of a message's size at most.
func readLine(in *bufio.Reader) ([]byte, error) {
	var whole []byte
	for {
		part, err := in.ReadSlice('\n')
		if len(whole)+len(part) > rpc.MaxFrame {
			return nil, rpc.ErrTooLong
		}
		whole = append(whole, part...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return whole, err
		}
	}
}
