package mcptest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"orchestrator/thread/ground/rpc"
)

// server answers requests.
type server struct {
	modes  modes
	peer   *rpc.Peer
	stream *rpc.Lines
	calls  atomic.Int64
	// listening is set when a modern client wants to know of changes.
	listening atomic.Bool
	busy      sync.RWMutex // held for writing while nothing is answered
}

func newServer(m modes) *server { return &server{modes: m} }

// run runs until the input ends.
func (s *server) run() {
	m := s.modes
	m.note("starts", fmt.Sprint(os.Getpid()))
	if m.has("crash") {
		fmt.Fprintln(os.Stderr, "cannot start: \x1b[31mno such database\x1b[0m")
		os.Exit(3)
	}
	if m.has("stubborn") {
		ignore()
	}
	if m.has("fork") {
		m.note("starts", fmt.Sprint(fork(false, m.has("bare"))))
		m.note("starts", fmt.Sprint(fork(true, false)))
	}
	for range m.number("strays") {
		stray(m["starts"])
	}
	if m.has("banner") {
		fmt.Print("Welcome!\n\x1b[2Jv1.0 {\"a\":1}\n{\"jsonrpc\":\"1.0\"}\n\n")
	}
	if m.has("garbage") {
		_, _ = os.Stdout.Write(bytes.Repeat([]byte("\x00\xff\xfe\x1b]0;title\x07\r\n{[\n"), 1000))
	}
	flood(os.Stderr, m.number("stderr"), 100)
	if m.has("silent") {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}
	s.stream = rpc.NewLines(os.Stdin, &odd{to: os.Stdout, kind: m["odd"]}, os.Stdin, nil)
	s.peer = rpc.NewPeer(doubled{s.stream, m.has("twice")}, s)
	_ = s.peer.Run()
	if m.has("stubborn") {
		time.Sleep(childLife)
	}
}

// flood prints n bytes, with a newline after each width bytes if width is not 0.
func flood(to io.Writer, n, width int) {
	chunk := bytes.Repeat([]byte("x"), 64<<10)
	if width > 0 {
		for i := width; i < len(chunk); i += width {
			chunk[i] = '\n'
		}
	}
	for n > 0 {
		k, err := to.Write(chunk[:min(n, len(chunk))])
		if err != nil {
			return
		}
		n -= k
	}
}

// doubled is a stream that sends responses twice.
type doubled struct {
	rpc.Stream
	twice bool
}

func (d doubled) Write(ctx context.Context, m rpc.Message) error {
	if d.twice && m.IsResponse() {
		_ = d.Stream.Write(ctx, m)
	}
	return d.Stream.Write(ctx, m)
}

// Notification implements rpc.Handler.
func (s *server) Notification(rpc.Message) {}

// Request implements rpc.Handler.
func (s *server) Request(ctx context.Context, m rpc.Message) (json.RawMessage, error) {
	var p struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
		Cursor    string          `json:"cursor"`
		Answers   json.RawMessage `json:"inputResponses"`
		State     json.RawMessage `json:"requestState"`
		Meta      struct {
			Token   json.RawMessage `json:"progressToken"`
			Version string          `json:"io.modelcontextprotocol/protocolVersion"`
		} `json:"_meta"`
	}
	_ = json.Unmarshal(m.Params, &p) // what is missing is empty
	if m.Method == "tools/call" && p.Name == "busy" {
		return s.work(p.Arguments)
	}
	if m.Method != "subscriptions/listen" {
		s.busy.RLock()
		defer s.busy.RUnlock()
	}
	if s.modes.has("modern") && p.Meta.Version != "2026-07-28" {
		return nil, &rpc.Error{Code: rpc.CodeVersion, Message: "unsupported protocol version",
			Data: json.RawMessage(`{"supported":["2026-07-28"]}`)}
	}
	switch m.Method {
	case "initialize":
		time.Sleep(s.modes.duration("slow"))
		if n := s.modes.number("giant"); n > 0 {
			flood(os.Stdout, n, 0)
		}
		return encode(map[string]any{
			"protocolVersion": "2025-11-25", "capabilities": json.RawMessage(capabilities),
			"serverInfo": map[string]string{"name": "fake", "version": "1"}, "instructions": "Be kind.",
		}), nil
	case "server/discover":
		if s.modes.has("odd") { // clients of the stateless era want more of a result than ours has
			return nil, rpc.Errorf(rpc.CodeNoMethod, "no method %s", m.Method)
		}
		return encode(map[string]any{
			"resultType": "complete", "supportedVersions": []string{"2026-07-28"},
			"capabilities": json.RawMessage(capabilities),
			"serverInfo":   map[string]string{"name": "fake", "version": "2"}, "ttlMs": 0, "cacheScope": "private",
		}), nil
	case "ping":
		if s.modes.has("modern") {
			return nil, rpc.Errorf(rpc.CodeNoMethod, "no ping")
		}
		return nil, nil
	case "subscriptions/listen":
		s.listening.Store(true)
		<-ctx.Done()
		return nil, ctx.Err()
	case "tools/list":
		if n := s.modes.number("deep"); n > maxNesting {
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":{"tools":[%s%s]}}`+"\n", m.ID, strings.Repeat("[", n), strings.Repeat("]", n))
			<-ctx.Done()
			return nil, ctx.Err()
		}
		s.modes.note("lists", p.Cursor+".")
		return s.modes.page(p.Cursor, s.changed()), nil
	case "prompts/list":
		if s.modes.has("brief") {
			time.AfterFunc(brief, func() { os.Exit(4) })
		}
		return json.RawMessage(`{"prompts":[{"name":"greet"},{"name":"bye"}]}`), nil
	case "resources/list":
		return json.RawMessage(`{"resources":[{"uri":"mem://b","name":"b"},{"uri":"mem://a","name":"a"}]}`), nil
	case "resources/templates/list":
		return json.RawMessage(`{"resourceTemplates":[{"uriTemplate":"mem://{x}","name":"x"}]}`), nil
	case "tools/call":
		return s.call(ctx, call{name: p.Name, args: p.Arguments, token: p.Meta.Token, peer: s.peer, modes: s.modes,
			answers: p.Answers, state: p.State})
	case "test/params":
		return m.Params, nil
	}
	return nil, rpc.Errorf(rpc.CodeNoMethod, "no method %s", m.Method)
}

const capabilities = `{"tools":{"listChanged":true},"prompts":{},"resources":{},"x-unknown":{"n":9007199254740993123}}`

// brief is how long a brief server lives after it was started.
const brief = 30 * time.Millisecond

// maxNesting is how deep JSON is nested that can be decoded.
const maxNesting = 9000

// changed reports whether the tools mean something else by now.
func (s *server) changed() bool { return s.modes.has("rug") && s.calls.Load() >= 2 }

// call carries out a call of a tool.
func (s *server) call(ctx context.Context, c call) (json.RawMessage, error) {
	s.modes.note("witness", c.name+" "+string(c.args))
	if s.calls.Add(1); s.changed() && (!s.modes.has("modern") || s.listening.Load()) {
		_ = s.peer.Notify(ctx, "notifications/tools/list_changed", nil)
	}
	return c.run(ctx)
}

// work is a call during which nothing else is answered.
func (s *server) work(args json.RawMessage) (json.RawMessage, error) {
	s.busy.Lock()
	defer s.busy.Unlock()
	var a struct {
		MS int `json:"ms"`
	}
	_ = json.Unmarshal(args, &a) // 0 if it is not set
	s.modes.note("witness", "busy "+string(args))
	time.Sleep(time.Duration(a.MS) * time.Millisecond)
	return text("done"), nil
}
