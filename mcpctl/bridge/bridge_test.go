package bridge_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"orchestrator/mcpctl/bridge"
	"orchestrator/mcpctl/mcptest"
	"orchestrator/thread/ground/rpc"
)

func TestMain(m *testing.M) {
	mcptest.Main()
	goleak.VerifyTestMain(m)
}

// wait is how long something may take that happens at once.
const wait = 10 * time.Second

// server is the other end of bridges, played by hand.
type server struct {
	t      testing.TB
	socket string
	stop   func()
	links  chan *link
	status atomic.Int64 // of refusals; 0 serves
}

// link is one connection of a bridge.
type link struct {
	end
	conn net.Conn
	head http.Header
}

// end is one side's view of a connection.
type end struct {
	t   testing.TB
	in  *bufio.Reader
	out io.Writer
}

func (e end) say(format string, args ...any) {
	e.t.Helper()
	if _, err := fmt.Fprintf(e.out, format+"\n", args...); err != nil {
		e.t.Fatal(err)
	}
}

func (e end) hear() string {
	e.t.Helper()
	type heard struct {
		line string
		err  error
	}
	c := make(chan heard, 1)
	go func() {
		line, err := e.in.ReadString('\n')
		c <- heard{line, err}
	}()
	select {
	case h := <-c:
		if h.err != nil {
			e.t.Fatalf("%q, %v", h.line, h.err)
		}
		return strings.TrimSuffix(h.line, "\n")
	case <-time.After(wait):
		e.t.Fatal("nothing is said")
		return ""
	}
}

func (e end) expect(want ...string) {
	e.t.Helper()
	var got []string
	for range want {
		got = append(got, e.hear())
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		e.t.Fatalf("heard\n%s\nnot\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func newServer(t testing.TB) *server {
	dir, err := os.MkdirTemp("", "bridge") // a socket's path must be short
	if err != nil {
		t.Fatal(err)
	}
	s := &server{t: t, socket: filepath.Join(dir, "s"), links: make(chan *link, 10)}
	s.start()
	t.Cleanup(func() {
		s.stop()
		_ = os.RemoveAll(dir)
	})
	return s
}

func (s *server) start() {
	s.t.Helper()
	l, err := net.Listen("unix", s.socket)
	if err != nil {
		s.t.Fatal(err)
	}
	h := &http.Server{Handler: http.HandlerFunc(s.serve)}
	go func() { _ = h.Serve(l) }()
	s.stop = func() {
		_ = h.Close()
		_ = l.Close() // if it was not served yet
	}
}

func (s *server) serve(w http.ResponseWriter, r *http.Request) {
	if status := int(s.status.Load()); status != 0 {
		http.Error(w, "only an agent of a thread is served MCP", status)
		return
	}
	if r.Method != http.MethodPost || r.URL.Path != "/v1/mcp" || r.Header.Get("Upgrade") != bridge.Protocol {
		http.Error(w, "no upgrade", http.StatusBadRequest)
		return
	}
	conn, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		s.t.Error(err)
		return
	}
	_, _ = fmt.Fprintf(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: %s\r\n\r\n", bridge.Protocol)
	s.links <- &link{end: end{s.t, buffered.Reader, conn}, conn: conn, head: r.Header}
}

func (s *server) link() *link {
	s.t.Helper()
	select {
	case l := <-s.links:
		s.t.Cleanup(func() { _ = l.conn.Close() })
		return l
	case <-time.After(wait):
		s.t.Fatal("the bridge does not connect")
		return nil
	}
}

// agent is a bridge's agent.
type agent struct {
	end
	stdin  io.Closer
	stdout io.Closer
	ended  chan error
	stop   context.CancelFunc
}

func (s *server) agent(change func(*bridge.Config)) *agent {
	in, stdin := io.Pipe()
	stdout, out := io.Pipe()
	cfg := bridge.Config{Socket: s.socket, Path: "/v1/mcp", Token: "secret", TokenHeader: "X-Token", In: in, Out: out, Patience: wait}
	if change != nil {
		change(&cfg)
	}
	ctx, stop := context.WithCancel(context.Background())
	a := &agent{end: end{s.t, bufio.NewReader(stdout), stdin}, stdin: stdin, stdout: stdout, ended: make(chan error, 1), stop: stop}
	go func() { a.ended <- bridge.New(cfg).Run(ctx) }()
	s.t.Cleanup(func() {
		_ = stdin.Close()
		_ = stdout.Close()
		stop()
	})
	return a
}

func (a *agent) over() error {
	a.t.Helper()
	select {
	case err := <-a.ended:
		return err
	case <-time.After(wait):
		a.t.Fatal("the bridge does not end")
		return nil
	}
}

const (
	initialize  = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}`
	initialized = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
	toolsCall   = `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"n":9007199254740993123}}`
	response    = `{"jsonrpc":"2.0","id":%d,"result":{"z":1,"a":9007199254740993123}}`
	changed     = `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`
	restarted   = `{"jsonrpc":"2.0","id":%d,"error":{"code":-32603,"message":"orchestrator's server was restarted during this call, which may or may not have taken effect"}}`
	listen      = `{"jsonrpc":"2.0","id":"l%d","method":"subscriptions/listen","params":{}}`
	ack         = `{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":"l%d"}}}`
	missed      = `{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":"l%d"}}}`
)

// shake does the handshake of an agent.
func shake(a *agent, l *link) {
	a.t.Helper()
	a.say(initialize)
	l.expect(initialize)
	l.say(response, 0)
	a.expect(fmt.Sprintf(response, 0))
	a.say(initialized)
	l.expect(initialized)
}

func TestLinesPassAsTheyAre(t *testing.T) {
	s := newServer(t)
	a := s.agent(nil)
	l := s.link()
	if l.head.Get("X-Token") != "secret" {
		t.Errorf("headers: %v", l.head)
	}
	for _, line := range []string{fmt.Sprintf(toolsCall, 1), ` {"jsonrpc": "2.0", "id":"é<&>", "method":"x" , "unknown":1.50}`, "garbage \x00\xff", "[]", `{"jsonrpc":"2.0","id":7,"result":null}`} {
		a.say("%s", line)
		l.expect(line)
		l.say("%s", line)
		a.expect(line)
	}
	a.say("\n\n%s", initialized) // empty lines are dropped
	l.expect(initialized)
}

func TestWithoutAToken(t *testing.T) {
	s := newServer(t)
	s.agent(func(c *bridge.Config) { c.Token = "" })
	if l := s.link(); l.head.Get("X-Token") != "" {
		t.Errorf("headers: %v", l.head)
	}
}

func TestLargeMessages(t *testing.T) {
	s := newServer(t)
	a := s.agent(nil)
	l := s.link()
	big := strings.Repeat("x", 30<<20)
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		a.say(`{"jsonrpc":"2.0","id":1,"method":"m","params":{"x":"%s"}}`, big)
	}()
	// The server answers before it reads: the bridge must not hold one direction for the other.
	l.say(`{"jsonrpc":"2.0","id":1,"result":{"x":"%s"}}`, big)
	if n := len(a.hear()); n < 30<<20 {
		t.Errorf("%d bytes came", n)
	}
	if n := len(l.hear()); n < 30<<20 {
		t.Errorf("%d bytes arrived", n)
	}
	<-sent
}

// TestTheServersEndAndReturn: what waits is answered once, the handshake is repeated, and its response is not delivered
// again.
func TestTheServersEndAndReturn(t *testing.T) {
	s := newServer(t)
	a := s.agent(nil)
	l := s.link()
	shake(a, l)
	for i := 1; i <= 4; i++ {
		a.say(toolsCall, i)
		l.expect(fmt.Sprintf(toolsCall, i))
	}
	l.say(response, 2)
	a.expect(fmt.Sprintf(response, 2))
	a.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}}`)
	l.hear()
	l.say(`{"jsonrpc":"2.0","id":4,"res`) // half a line; the newline makes it garbage
	a.hear()
	_, _ = io.WriteString(l.conn, `{"jsonrpc":"2.0","id":4,"result`) // half a line
	s.stop()
	_ = l.conn.Close()
	a.expect(fmt.Sprintf(restarted, 1), fmt.Sprintf(restarted, 4))

	said := make(chan struct{})
	go func() { // while there is no server
		defer close(said)
		a.say(toolsCall, 5)
	}()
	time.Sleep(50 * time.Millisecond)
	s.start()
	l = s.link()
	l.expect(initialize)
	l.say(`{"jsonrpc":"2.0","method":"too/early"}`)
	l.say(response, 0)
	l.expect(initialized)
	l.expect(fmt.Sprintf(toolsCall, 5))
	l.say(response, 5)
	a.expect(changed, fmt.Sprintf(response, 5))
	<-said

	// And once more: nothing of the first time is left.
	_ = l.conn.Close()
	l = s.link()
	l.expect(initialize)
	l.say(response, 0)
	l.expect(initialized)
	a.say(toolsCall, 6)
	l.expect(fmt.Sprintf(toolsCall, 6))
	l.say(response, 6)
	a.expect(changed, fmt.Sprintf(response, 6))
}

// TestTheServerEndsDuringTheHandshake: the agent gets one response to it.
func TestTheServerEndsDuringTheHandshake(t *testing.T) {
	s := newServer(t)
	a := s.agent(nil)
	l := s.link()
	a.say(initialize)
	l.expect(initialize)
	_ = l.conn.Close()
	l = s.link()
	l.expect(initialize)
	_ = l.conn.Close() // during the repetition, too
	l = s.link()
	l.expect(initialize)
	l.say(response, 0)
	a.expect(fmt.Sprintf(response, 0))
	a.say(initialized)
	l.expect(initialized)
	a.say(toolsCall, 1)
	l.expect(fmt.Sprintf(toolsCall, 1))
	l.say(response, 1)
	a.expect(fmt.Sprintf(response, 1))
}

// TestStreamsOfChangesAreOpenedAgain: and told that the tools may have changed, after they are acknowledged.
func TestStreamsOfChangesAreOpenedAgain(t *testing.T) {
	s := newServer(t)
	a := s.agent(nil)
	l := s.link()
	for i := 1; i <= 3; i++ {
		a.say(listen, i)
		l.expect(fmt.Sprintf(listen, i))
		l.say(ack, i)
		a.expect(fmt.Sprintf(ack, i))
	}
	l.say(`{"jsonrpc":"2.0","id":"l2","result":{}}`) // ended by the server
	a.hear()
	a.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"l3"}}`) // and by the agent
	l.hear()
	for range 2 {
		_ = l.conn.Close()
		l = s.link()
		l.expect(fmt.Sprintf(listen, 1))
		l.say(ack, 1)
		a.expect(fmt.Sprintf(ack, 1))
		a.expect(fmt.Sprintf(missed, 1))
		l.say(ack, 1) // not a second time
		a.expect(fmt.Sprintf(ack, 1))
		a.say(toolsCall, 1)
		l.expect(fmt.Sprintf(toolsCall, 1))
		l.say(response, 1)
		a.expect(fmt.Sprintf(response, 1))
	}
}

func TestRefused(t *testing.T) {
	s := newServer(t)
	s.status.Store(http.StatusForbidden)
	err := s.agent(nil).over()
	if err == nil || !strings.Contains(err.Error(), "403") || !strings.Contains(err.Error(), "only an agent of a thread is served MCP") {
		t.Errorf("%v", err)
	}

	// Later, too: the thread has ended.
	s.status.Store(0)
	a := s.agent(nil)
	l := s.link()
	s.status.Store(http.StatusForbidden)
	_ = l.conn.Close()
	if err := a.over(); err == nil || !strings.Contains(err.Error(), "403") {
		t.Errorf("%v", err)
	}
}

func TestAServerThatIsNotReadyIsAskedAgain(t *testing.T) {
	s := newServer(t)
	s.status.Store(http.StatusServiceUnavailable)
	a := s.agent(nil)
	time.Sleep(50 * time.Millisecond)
	s.status.Store(0)
	l := s.link()
	a.say(toolsCall, 1)
	l.expect(fmt.Sprintf(toolsCall, 1))
}

func TestPatience(t *testing.T) {
	s := newServer(t)
	s.stop()
	began := time.Now()
	impatient := func(c *bridge.Config) { c.Patience = 100 * time.Millisecond }
	if err := s.agent(impatient).over(); err == nil || time.Since(began) < 100*time.Millisecond {
		t.Errorf("after %v: %v", time.Since(began), err)
	}
	s.start()
	a := s.agent(impatient)
	l := s.link()
	time.Sleep(150 * time.Millisecond) // patience begins when the server is gone
	s.stop()
	_ = l.conn.Close()
	began = time.Now()
	if err := a.over(); err == nil || time.Since(began) < 100*time.Millisecond {
		t.Errorf("after %v: %v", time.Since(began), err)
	}
}

func TestTheAgentsEnd(t *testing.T) {
	for _, last := range []string{"", "half a line"} {
		s := newServer(t)
		a := s.agent(nil)
		l := s.link()
		_, _ = io.WriteString(a.out, last)
		_ = a.stdin.Close()
		if err := a.over(); err != nil {
			t.Errorf("%q: %v", last, err)
		}
		_ = l.conn.SetReadDeadline(time.Now().Add(wait))
		rest, err := io.ReadAll(l.in)
		if err != nil || string(rest) != last {
			t.Errorf("%q: the server heard %q, %v", last, rest, err)
		}
	}

	s := newServer(t) // without a server, too
	a := s.agent(nil)
	l := s.link()
	s.stop()
	_ = l.conn.Close()
	_ = a.stdin.Close()
	if err := a.over(); err != nil {
		t.Error(err)
	}

	s = newServer(t) // its output, while its input is open
	a = s.agent(nil)
	l = s.link()
	_ = a.stdout.Close()
	l.say(changed)
	if err := a.over(); err == nil || !strings.Contains(err.Error(), "write to the agent") {
		t.Errorf("%v", err)
	}
}

func TestTheContextsEnd(t *testing.T) {
	s := newServer(t)
	a := s.agent(nil)
	l := s.link()
	a.say(toolsCall, 1)
	l.hear()
	a.stop()
	if err := a.over(); err == nil {
		t.Error("no error")
	}
	_ = l.conn.SetReadDeadline(time.Now().Add(wait))
	if _, err := l.in.ReadByte(); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("the connection is open: %v", err)
	}
}

func TestLinesThatAreTooLong(t *testing.T) {
	s := newServer(t)
	a := s.agent(nil)
	l := s.link()
	a.say(toolsCall, 1)
	l.hear()
	go func() { _, _ = io.Copy(l.conn, &endless{}) }()
	a.expect(fmt.Sprintf(restarted, 1))
	s.link() // it connects again
	go func() { _, _ = io.Copy(a.out, &endless{}) }()
	if err := a.over(); err == nil || !strings.Contains(err.Error(), rpc.ErrTooLong.Error()) {
		t.Errorf("%v", err)
	}
}

// endless is a line that never ends.
type endless struct{}

func (endless) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = 'x'
	}
	return len(b), nil
}

// FuzzBridge: whatever an agent says arrives, but for empty lines, and the bridge does not fail.
func FuzzBridge(f *testing.F) {
	f.Add([]byte(initialize + "\n\n" + initialized + "\n" + fmt.Sprintf(listen, 1)))
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"method":"notifications/cancelled","params":7}` + "\n\x00\n"))
	f.Fuzz(func(t *testing.T, said []byte) {
		s := newServer(t)
		a := s.agent(nil)
		l := s.link()
		go func() {
			_, _ = a.out.Write(said)
			_ = a.stdin.Close()
		}()
		_ = l.conn.SetReadDeadline(time.Now().Add(wait))
		heard, err := io.ReadAll(l.in)
		if err != nil {
			t.Fatal(err)
		}
		var want []byte
		for line := range strings.Lines(string(said)) {
			if strings.TrimSpace(line) != "" {
				want = append(want, line...)
			}
		}
		if string(heard) != string(want) {
			t.Errorf("%q arrived, not %q", heard, want)
		}
		if err := a.over(); err != nil {
			t.Error(err)
		}
	})
}
