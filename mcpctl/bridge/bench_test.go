package bridge_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"orchestrator/mcpctl/bridge"
	"orchestrator/mcpctl/definition"
	"orchestrator/mcpctl/gateway"
	"orchestrator/mcpctl/hub"
	"orchestrator/mcpctl/manifest"
	"orchestrator/mcpctl/mcptest"
	"orchestrator/mcpctl/process"
	"orchestrator/thread"
	"orchestrator/thread/ground/rpc"
)

// stack is a gateway before a hub with one server, served to bridges on a socket.
type stack struct {
	testing.TB
	hub     *hub.Hub
	gateway *gateway.Gateway
	server  hub.Server
	socket  string

	mu sync.Mutex
	on []gateway.Server
}

func newStack(b testing.TB) *stack {
	dir, err := os.MkdirTemp("", "bridge")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = os.RemoveAll(dir) })
	host, err := process.New(filepath.Join(dir, "processes"), 0)
	if err != nil {
		b.Fatal(err)
	}
	cache, err := manifest.OpenCache(filepath.Join(dir, "manifests"))
	if err != nil {
		b.Fatal(err)
	}
	cmd, args, env := mcptest.Command()
	s := &stack{
		TB: b, socket: filepath.Join(dir, "s"),
		server: hub.Server{ID: "fake", Hash: "fake", Definition: definition.Definition{ID: "fake", Transport: definition.Stdio, Command: cmd, Args: args}},
	}
	s.hub = hub.New(hub.Config{
		Processes: host, Manifests: cache, Dir: dir,
		Launch: func(context.Context, hub.Server, thread.ID, string) (definition.Launch, []string, error) {
			return definition.Launch{Transport: definition.Stdio, Command: cmd, Args: args}, append(env, "PATH=/usr/bin:/bin"), nil
		},
	})
	s.gateway = gateway.New(gateway.Config{Servers: s})
	m, err := s.hub.Manifest(b.Context(), s.server, caller{dir})
	if err != nil {
		b.Fatal(err)
	}
	one := gateway.Server{ID: "fake"}
	for _, t := range m.Tools {
		one.Tools = append(one.Tools, gateway.Tool{Name: t.Name, Raw: t.Raw})
	}
	s.set(one)
	l, err := net.Listen("unix", s.socket)
	if err != nil {
		b.Fatal(err)
	}
	web := &http.Server{Handler: http.HandlerFunc(s.serve)}
	go func() { _ = web.Serve(l) }()
	b.Cleanup(func() {
		_ = web.Close()
		_ = s.gateway.Close()
		_ = s.hub.Close(context.Background())
		_ = host.Close()
		_ = cache.Close()
	})
	return s
}

func (s *stack) serve(w http.ResponseWriter, r *http.Request) {
	conn, in, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	_, _ = fmt.Fprintf(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: %s\r\n\r\n", bridge.Protocol)
	_ = s.gateway.Serve("t1", "/", rpc.NewLines(in, conn, conn, nil))
}

// The stack is gateway.Servers.
func (s *stack) On(thread.ID) []gateway.Server {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.on
}

func (s *stack) set(on ...gateway.Server) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.on = on
}

func (s *stack) Off(thread.ID, string, string) string { return "" }
func (s *stack) Call(ctx context.Context, _ string, c gateway.Caller, method string, params json.RawMessage) (json.RawMessage, error) {
	return s.hub.Call(ctx, s.server, c, method, params)
}
func (s *stack) Find(context.Context, thread.ID, string) []gateway.Found { return nil }

// caller calls without an agent.
type caller struct{ dir string }

func (caller) Thread() thread.ID        { return "t1" }
func (c caller) Dir() string            { return c.dir }
func (caller) Progress(json.RawMessage) {}
func (caller) Ask(context.Context, string, json.RawMessage) (json.RawMessage, error) {
	return nil, rpc.ErrClosed
}

// client is a connected agent.
type client struct {
	testing.TB
	*rpc.Peer
	told chan time.Time
}

func (c *client) Request(context.Context, rpc.Message) (json.RawMessage, error) { return nil, nil }
func (c *client) Notification(rpc.Message)                                      { c.told <- time.Now() }

func (s *stack) client(in io.Reader, out io.WriteCloser) *client {
	c := &client{TB: s.TB, told: make(chan time.Time, 10)}
	c.Peer = rpc.NewPeer(rpc.NewLines(in, out, out, nil), c)
	go func() { _ = c.Run() }()
	s.Cleanup(func() { _ = c.Close() })
	c.must("initialize", `{"protocolVersion":"2025-11-25","capabilities":{}}`)
	if err := c.Notify(context.Background(), "notifications/initialized", nil); err != nil {
		s.Fatal(err)
	}
	return c
}

func (c *client) must(method, params string) {
	if _, err := c.Call(context.Background(), method, json.RawMessage(params)); err != nil {
		c.Fatal(err)
	}
}

// dial connects over the socket alone.
func (s *stack) dial() *client {
	conn, err := net.Dial("unix", s.socket)
	if err != nil {
		s.Fatal(err)
	}
	_, _ = io.WriteString(conn, "POST / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: x\r\nContent-Length: 0\r\n\r\n")
	in := bufio.NewReader(conn)
	if _, err := http.ReadResponse(in, nil); err != nil {
		s.Fatal(err)
	}
	return s.client(in, conn)
}

// program builds the program.
func program(b *testing.B) string {
	path := filepath.Join(b.TempDir(), "orchestrator")
	if out, err := exec.Command("go", "build", "-o", path, "../../cmd/orchestrator").CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	return path
}

// spawn starts a process that ends with the benchmark, or when end is called.
func spawn(b *testing.B, argv ...string) (in io.WriteCloser, out io.Reader, end func()) {
	cmd := exec.Command(argv[0], argv[1:]...)
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err = cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		b.Fatal(err)
	}
	end = sync.OnceFunc(func() {
		_ = in.Close()
		_ = cmd.Wait()
	})
	b.Cleanup(end)
	return in, out, end
}

// p50 returns the median in milliseconds.
func p50(all []time.Duration) float64 {
	slices.Sort(all)
	return float64(all[len(all)/2].Nanoseconds()) / 1e6
}

// BenchmarkAdded is what the gateway adds to a call, over the socket alone and with the bridge's process, beside the call
// of the hub alone. The three take turns. Budget: 1.5 ms more with the bridge.
func BenchmarkAdded(b *testing.B) {
	s := newStack(b)
	socket := s.dial()
	in, out, _ := spawn(b, program(b), "mcp-bridge", s.socket)
	bridged := s.client(out, in)
	const params = `{"name":"%s","arguments":{"text":"hello"}}`
	ways := []func(){
		func() {
			if _, err := s.hub.Call(context.Background(), s.server, caller{"/"}, "tools/call", fmt.Appendf(nil, params, "echo")); err != nil {
				b.Fatal(err)
			}
		},
		func() { socket.must("tools/call", fmt.Sprintf(params, "fake__echo")) },
		func() { bridged.must("tools/call", fmt.Sprintf(params, "fake__echo")) },
	}
	took := make([][]time.Duration, len(ways))
	for range 20 {
		for _, call := range ways {
			call()
		}
	}
	b.ResetTimer()
	for range max(b.N, 300) {
		for i, call := range ways {
			began := time.Now()
			call()
			took[i] = append(took[i], time.Since(began))
		}
	}
	hub, unix, process := p50(took[0]), p50(took[1]), p50(took[2])
	b.ReportMetric(hub, "ms-hub-p50")
	b.ReportMetric(unix-hub, "ms-added-socket-p50")
	b.ReportMetric(process-hub, "ms-added-bridge-p50")
	b.ReportMetric(process/hub, "ratio-bridge")
}

// BenchmarkToggle is the time from a switch to its notification at the agent, behind the bridge's process, beside a ping.
// Budget: 50 ms.
func BenchmarkToggle(b *testing.B) {
	s := newStack(b)
	in, out, _ := spawn(b, program(b), "mcp-bridge", s.socket)
	c := s.client(out, in)
	all := s.On("t1")
	var took, pings []time.Duration
	b.ResetTimer()
	for i := range max(b.N, 100) {
		c.must("tools/list", `{}`)
		began := time.Now()
		c.must("ping", `{}`)
		pings = append(pings, time.Since(began))
		s.set(all[:i%2]...)
		began = time.Now()
		s.gateway.Changed("t1")
		took = append(took, (<-c.told).Sub(began))
	}
	b.ReportMetric(p50(took), "ms-told-p50")
	b.ReportMetric(float64(took[len(took)-1].Nanoseconds())/1e6, "ms-told-most")
	b.ReportMetric(p50(took)/p50(pings), "ratio-ping")
}

// BenchmarkConnections is 100 agents that connect and list, and what they keep in memory, both sides of each together,
// beside one that does so alone. Budget: 3 s, 200 KiB each.
func BenchmarkConnections(b *testing.B) {
	s := newStack(b)
	const agents = 100
	var one, all []time.Duration
	var kept uint64
	for b.Loop() {
		began := time.Now()
		c := s.dial()
		c.must("tools/list", `{}`)
		one = append(one, time.Since(began))
		before := memory()
		began = time.Now()
		var work sync.WaitGroup
		clients := make([]*client, agents)
		for i := range agents {
			work.Go(func() {
				clients[i] = s.dial()
				clients[i].must("tools/list", `{}`)
			})
		}
		work.Wait()
		all = append(all, time.Since(began))
		if after := memory(); after > before {
			kept = max(kept, after-before)
		}
		for _, c := range append(clients, c) {
			_ = c.Close()
		}
	}
	b.ReportMetric(p50(all), "ms-100-p50")
	b.ReportMetric(p50(all)/p50(one), "ratio-one")
	b.ReportMetric(float64(kept)/1024/agents, "KiB-each")
}

// memory returns what is in use, with the stacks.
func memory() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapInuse + m.StackInuse
}

// BenchmarkBridgeStart is the time from the start of the bridge's process to its first response, beside that of cat.
// Budget: 30 ms.
func BenchmarkBridgeStart(b *testing.B) {
	s := newStack(b)
	path := program(b)
	line := `{"jsonrpc":"2.0","id":1,"method":"ping"}` + "\n"
	start := func(argv ...string) time.Duration {
		began := time.Now()
		in, out, end := spawn(b, argv...)
		_, _ = io.WriteString(in, line)
		got, err := bufio.NewReader(out).ReadString('\n')
		if err != nil || !strings.Contains(got, `"id":1`) {
			b.Fatalf("%q, %v", got, err)
		}
		took := time.Since(began)
		end()
		return took
	}
	var bridges, cats []time.Duration
	b.ResetTimer()
	for range max(b.N, 20) {
		bridges = append(bridges, start(path, "mcp-bridge", s.socket))
		cats = append(cats, start("cat"))
	}
	b.ReportMetric(p50(bridges), "ms-start-p50")
	b.ReportMetric(p50(cats), "ms-cat-p50")
	b.ReportMetric(p50(bridges)/p50(cats), "ratio-cat")
}
