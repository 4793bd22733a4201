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

	"orchestrator/thread/ground/rpc"
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
	repeated   map[string]bool            // ids of such streams that were opened again and are not acknowledged yet
	initialize []byte                     // the agent's handshake, to be repeated
	ready      []byte
}

// New returns a bridge.
func New(cfg Config) *Bridge {
	if cfg.Patience == 0 {
		cfg.Patience = time.Minute
	}
	return &Bridge{cfg: cfg, connected: make(chan struct{}), waiting: map[string]json.RawMessage{},
		listening: map[string][]byte{}, repeated: map[string]bool{}}
}

// Run passes messages on until the agent closes its side, or the server refuses the bridge or is gone for too long.
func (b *Bridge) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	first := make(chan error, 1)
	go func() {
		err := b.keepConnected(ctx, first)
		select {
		case first <- err:
		default: // it has been connected
		}
		cancel(err)
	}()
	if err := <-first; err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- b.fromAgent(ctx) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// answerLimit is how long the server may take to answer a new connection.
const answerLimit = 10 * time.Second

// errRefused is why the server does not serve the bridge.
var errRefused = errors.New("the server refused the connection")

// firstPatience is how long the server may take to be there at all: an agent waits for the bridge meanwhile.
const firstPatience = 5 * time.Second

// keepConnected connects to the server again and again. first gets nil at the first time.
func (b *Bridge) keepConnected(ctx context.Context, first chan<- error) error {
	lost, patience := time.Now(), min(firstPatience, b.cfg.Patience)
	pause := 20 * time.Millisecond
	once := sync.OnceFunc(func() { first <- nil })
	for {
		conn, in, err := b.connect(ctx)
		switch {
		case err == nil:
			pause = 20 * time.Millisecond
			stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
			b.attach(conn)
			once()
			err := b.fromServer(in)
			stop()
			b.detach(conn)
			if err != nil {
				return err
			}
			lost = time.Now()
		case errors.Is(err, errRefused), time.Since(lost) > patience:
			return fmt.Errorf("connect to the server of this project: %w", err)
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(pause):
		}
		pause = min(2*pause, time.Second)
	}
}

// connect opens a connection, upgrades it, and repeats the handshake on it.
func (b *Bridge) connect(ctx context.Context) (net.Conn, *bufio.Reader, error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", b.cfg.Socket)
	if err != nil {
		return nil, nil, err
	}
	_ = conn.SetDeadline(time.Now().Add(answerLimit))
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
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
		err := fmt.Errorf("%s: %s", answer.Status, strings.TrimSpace(string(why)))
		if answer.StatusCode < http.StatusInternalServerError { // others may be over when the server is up again
			err = fmt.Errorf("%w: %w", errRefused, err)
		}
		return nil, nil, err
	}
	if err := b.handshake(conn, in); err != nil {
		_ = conn.Close()
		return nil, nil, fmt.Errorf("repeat the handshake: %w", err)
	}
	_ = conn.SetDeadline(time.Time{})
	return conn, in, nil
}

// handshake repeats the agent's handshake on a new connection, if there was one. The agent gets the response only if it
// has none yet.
func (b *Bridge) handshake(conn net.Conn, in *bufio.Reader) error {
	b.mu.Lock()
	initialize, ready := b.initialize, b.ready
	b.mu.Unlock()
	if initialize == nil {
		return nil
	}
	asked, err := rpc.Decode(initialize)
	if err != nil {
		return err
	}
	if _, err := conn.Write(initialize); err != nil {
		return err
	}
	for {
		line, err := readLine(in)
		if err != nil {
			return err
		}
		m, err := rpc.Decode(line)
		if err != nil || !m.IsResponse() || string(m.ID) != string(asked.ID) {
			continue // nothing is said before the handshake
		}
		b.mu.Lock()
		_, first := b.waiting[string(m.ID)]
		delete(b.waiting, string(m.ID))
		b.mu.Unlock()
		if first {
			_ = b.toAgent(line) // an agent that is gone is noticed by who reads from it
		}
		break
	}
	if ready != nil {
		_, err = conn.Write(ready)
	}
	return err
}

// attach makes a connection the one that the agent's lines go to, and opens its streams of changes again.
func (b *Bridge) attach(conn net.Conn) {
	b.mu.Lock()
	defer b.mu.Unlock()
	clear(b.repeated)
	for id, line := range b.listening {
		b.repeated[id] = true
		_, _ = conn.Write(line) // a connection that is lost again is noticed by who reads from it
	}
	b.server = conn
	close(b.connected)
	if b.ready != nil { // the agent has had a connection before
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
		}
		b.mu.Unlock()
		if server != nil { // what the server says meanwhile is passed on, since the line may be long
			if _, err := server.Write(line); err != nil {
				_ = server.Close() // who reads from it answers the request
			}
			return nil
		}
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

// fromServer passes on what the server says until the connection ends. An error means that the agent is gone.
func (b *Bridge) fromServer(in *bufio.Reader) error {
	for {
		line, err := readLine(in)
		if err != nil {
			return nil // what is left of a line is no message
		}
		for _, l := range [][]byte{line, b.note(line)} {
			if err := b.toAgent(l); err != nil {
				return fmt.Errorf("write to the agent: %w", err)
			}
		}
	}
}

// The keys under which a stream of changes is acknowledged.
const (
	acknowledged   = "notifications/subscriptions/acknowledged"
	subscriptionID = "io.modelcontextprotocol/subscriptionId"
)

// note notes what a line of the server's means, and returns what the agent gets after it.
func (b *Bridge) note(line []byte) []byte {
	m, err := rpc.Decode(line)
	if err != nil {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if m.Method == acknowledged {
		return b.missed(m)
	}
	if !m.IsResponse() {
		return nil
	}
	delete(b.waiting, string(m.ID))
	delete(b.listening, string(m.ID))
	return nil
}

// missed returns the line that tells a stream of changes which was opened again that the tools may have changed
// meanwhile. mu is held.
func (b *Bridge) missed(m rpc.Message) []byte {
	var p struct {
		Meta map[string]json.RawMessage `json:"_meta"`
	}
	if json.Unmarshal(m.Params, &p) != nil || !b.repeated[string(p.Meta[subscriptionID])] {
		return nil
	}
	id := p.Meta[subscriptionID]
	delete(b.repeated, string(id))
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{"_meta":{%q:%s}}}`+"\n",
		subscriptionID, id)
}

// toAgent writes a line to the agent.
func (b *Bridge) toAgent(line []byte) error {
	if len(line) == 0 {
		return nil
	}
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
