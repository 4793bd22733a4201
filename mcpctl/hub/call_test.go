package hub_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"orchestrator/mcpctl/hub"
	"orchestrator/mcpctl/mcptest"
	"orchestrator/thread/ground/await"
	"orchestrator/thread/ground/rpc"
)

// TestLazy: a known server is listed without a process; the first call starts it.
func TestLazy(t *testing.T) {
	file := filepath.Join(t.TempDir(), "starts")
	r := newRig(t, nil)
	s, c := server("starts="+file), r.by("t1")
	if _, ok := r.Cached(s); ok {
		t.Fatal("it is known before it was ever started")
	}
	m, err := r.Manifest(context.Background(), s, c)
	if err != nil || len(m.Tools) != 18 || len(linesIn(file)) != 1 {
		t.Fatalf("%d tools, %d starts: %v", len(m.Tools), len(linesIn(file)), err)
	}
	if m.Instructions != "Be kind." || m.Protocol != "2025-11-25" || !strings.Contains(string(m.Capabilities), "9007199254740993123") {
		t.Errorf("the manifest is %+v", m)
	}
	if len(m.Prompts) != 2 || string(m.Prompts[0]) != `{"name":"bye"}` || string(m.Resources[0]) != `{"uri":"mem://a","name":"a"}` ||
		len(m.Templates) != 1 {
		t.Errorf("other lists are %s %s %s", m.Prompts, m.Resources, m.Templates)
	}
	if _, _, changed := r.seen(); !slices.Equal(changed, []string{s.Hash}) {
		await.Until(t, "a new manifest is told", func() bool { _, _, changed := r.seen(); return len(changed) == 1 })
	}

	later := newRig(t, func(cfg *hub.Config) { cfg.Manifests = r.cache })
	if m, err = later.Manifest(context.Background(), s, c); err != nil || len(m.Tools) != 18 {
		t.Fatalf("%d tools: %v", len(m.Tools), err)
	}
	if launches, _, _ := later.seen(); launches != 0 || len(linesIn(file)) != 1 {
		t.Fatalf("%d launches and %d starts before the first call", launches, len(linesIn(file))-1)
	}
	later.must(s, c, "echo", "{}")
	later.must(s, c, "echo", "{}")
	if launches, _, _ := later.seen(); launches != 1 || len(linesIn(file)) != 2 {
		t.Fatalf("%d launches and %d starts after calls", launches, len(linesIn(file))-1)
	}
}

// TestVerbatim: what is said is passed on byte for byte, in both directions.
func TestVerbatim(t *testing.T) {
	r := newRig(t, nil)
	s, c := server(), r.by("t1")
	got, err := r.Call(context.Background(), s, c, "tools/call", json.RawMessage(`{"name":"verbatim"}`))
	if err != nil || string(got) != mcptest.Verbatim {
		t.Errorf("the result is %s %v", got, err)
	}
	_, err = r.Call(context.Background(), s, c, "tools/call", json.RawMessage(`{"name":"fail"}`))
	var refused *rpc.Error
	if !errors.As(err, &refused) || refused.Code != -32050 || string(refused.Data) != `{"n":9007199254740993123}` {
		t.Errorf("the error is %v", err)
	}
	for _, test := range []struct{ sent, want string }{
		{`{"a":9007199254740993123,"b":{"z":1,"a":"<&>"}}`, `{"a":9007199254740993123,"b":{"z":1,"a":"<&>"}}`},
		{``, `{}`},
		{`{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","traceparent":"00-1","x/y":1.50}}`,
			`{"_meta":{"traceparent":"00-1","x/y":1.50}}`},
		{`{"_meta":{"io.modelcontextprotocol/clientCapabilities":{"sampling":{}}}}`, `{}`},
		{`{"_meta":{"progressToken":7}}`, `{"_meta":{"progressToken":"orchestrator-6"}}`},
	} {
		got, err := r.Call(context.Background(), s, c, "test/params", json.RawMessage(test.sent))
		if err != nil || string(got) != test.want && !strings.Contains(test.want, "orchestrator-") ||
			strings.Contains(test.want, "orchestrator-") && !strings.HasPrefix(string(got), `{"_meta":{"progressToken":"orchestrator-`) {
			t.Errorf("sent %s, the server got %s %v, want %s", test.sent, got, err, test.want)
		}
	}
	if _, err := r.Call(context.Background(), s, c, "test/params", json.RawMessage(`[1]`)); !errors.As(err, &refused) {
		t.Errorf("params that are no object: %v", err)
	}
}

// TestP4Environment: servers get what they are given, nothing of ours.
func TestP4Environment(t *testing.T) {
	t.Setenv("ANTHROPIC_API_KEY", "canary-1")
	t.Setenv("ORCHESTRATOR_TOKEN", "canary-2")
	r := newRig(t, nil)
	env := r.must(server(), r.by("t1"), "environ", "{}")
	for line := range strings.Lines(env) {
		if name, _, _ := strings.Cut(line, "="); name != "PATH" && name != "GORACE" && name != "ORCHESTRATOR_MCP_SERVER" {
			t.Errorf("a server has %q", line)
		}
	}
	if !strings.Contains(env, "PATH=/usr/bin:/bin") {
		t.Errorf("a server has not what it was given: %q", env)
	}
}

// TestShares: threads have their own servers unless the definition says otherwise.
func TestShares(t *testing.T) {
	file := filepath.Join(t.TempDir(), "starts")
	r := newRig(t, nil)
	one, two := r.by("t1"), r.by("t2")
	two.dir = t.TempDir()
	own, all := server("starts="+file), shared(server("starts="+file, "x"))
	for range 2 {
		if got := r.must(own, one, "folder", "{}"); got != one.dir {
			t.Errorf("the server of a thread runs in %s, want %s", got, one.dir)
		}
		if got := r.must(own, two, "folder", "{}"); got != two.dir {
			t.Errorf("the server of another thread runs in %s, want %s", got, two.dir)
		}
	}
	if n := len(linesIn(file)); n != 2 {
		t.Errorf("%d starts for two threads, want 2", n)
	}
	r.must(all, one, "folder", "{}")
	if got := r.must(all, two, "folder", "{}"); got != r.dir {
		t.Errorf("a shared server runs in %s, want %s", got, r.dir)
	}
	if n := len(linesIn(file)); n != 3 {
		t.Errorf("%d starts with a shared server, want 3", n)
	}
	states := r.States()
	if len(states) != 3 || states[0].Bytes < 1<<20 || states[0].Status != hub.Ready || states[0].PID == 0 {
		t.Errorf("states are %+v", states)
	}
	r.Forget("t1")
	if n := running(file); n != 2 || len(r.States()) != 2 {
		t.Errorf("%d servers and %d states are left without a thread, want 2", n, len(r.States()))
	}
}

func TestProgress(t *testing.T) {
	r := newRig(t, nil)
	s, c, other := shared(server()), r.by("t1"), r.by("t2")
	const params = `{"name":"progress","_meta":{"progressToken":9007199254740993123}}`
	if _, err := r.Call(context.Background(), s, c, "tools/call", json.RawMessage(params)); err != nil {
		t.Fatal(err)
	}
	r.must(s, other, "progress", "{}") // it wants none
	r.must(s, other, "sleep", `{"ms":100}`)
	got := c.heard()
	if len(got) != 3 {
		t.Fatalf("progress is %q, want 3 and nothing that is late", got)
	}
	for i, p := range got {
		want := fmt.Sprintf(`{"big":9007199254740993123,"progress":%d,"progressToken":9007199254740993123}`, i)
		if p != want {
			t.Errorf("progress %d is %s, want %s", i, p, want)
		}
	}
	if got := other.heard(); len(got) > 0 {
		t.Errorf("another thread got %q", got)
	}
}

func TestCancel(t *testing.T) {
	file := filepath.Join(t.TempDir(), "witness")
	r := newRig(t, nil)
	s, c := server("witness="+file), r.by("t1")
	r.must(s, c, "echo", "{}")
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		_, err := r.call(ctx, s, c, "sleep", `{"ms":60000}`)
		ended <- err
	}()
	await.Until(t, "the call is carried out", func() bool { return len(linesIn(file)) == 2 })
	if got := r.state(s.Hash); got.Status != hub.Busy || got.InFlight != 1 {
		t.Errorf("during a call it is %s with %d calls", got.Status, got.InFlight)
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("the call ends with %v", err)
	}
	await.Until(t, "the server is told", func() bool { return slices.Contains(linesIn(file), "cancelled") })
	r.must(s, c, "echo", "{}")
	if got := r.state(s.Hash); got.Status != hub.Ready || got.Starts != 1 {
		t.Errorf("afterwards it is %s after %d starts", got.Status, got.Starts)
	}
}

// TestP7Elicitation: a server asks the thread whose call is under way; if that is not known, nobody.
func TestP7Elicitation(t *testing.T) {
	r := newRig(t, nil)
	s, one, two := shared(server()), r.by("t1"), r.by("t2")
	answer := func(c *client) {
		c.ask = func(method string, params json.RawMessage) (json.RawMessage, error) {
			return json.RawMessage(fmt.Sprintf(`{"action":"accept","content":{"by":%q,"n":9007199254740993123}}`, c.id)), nil
		}
	}
	answer(one)
	answer(two)
	if got := r.must(s, two, "elicit", "{}"); got != `{"action":"accept","content":{"by":"t2","n":9007199254740993123}}` {
		t.Errorf("the answer is %s", got)
	}
	if got := r.must(s, one, "elicit2", "{}"); !strings.Contains(got, `"t1"`) {
		t.Errorf("the answer to the second of two at once is %s", got)
	}
	if got := r.must(s, one, "sample", "{}"); !strings.Contains(got, "-32601") {
		t.Errorf("sampling is answered with %s", got)
	}
	if got := r.must(s, one, "roots", "{}"); got != fmt.Sprintf(`{"roots":[{"name":%q,"uri":"file://%s"}]}`, filepath.Base(r.dir), r.dir) {
		t.Errorf("roots are %s", got)
	}

	dir := t.TempDir()
	gate := filepath.Join(dir, "gate")
	long := make(chan string, 1)
	go func() { long <- r.must(s, one, "sleep", fmt.Sprintf(`{"await":%q}`, gate)) }()
	await.Until(t, "a call is under way", func() bool { return r.state(s.Hash).InFlight == 1 })
	if got := r.must(s, two, "elicit", "{}"); !strings.Contains(got, "refused") {
		t.Errorf("with calls of two threads under way, the answer is %s", got)
	}
	// From now on its calls are made one by one, so that it can ask.
	asked := make(chan string, 1)
	go func() { asked <- r.must(s, two, "elicit", "{}") }()
	time.Sleep(50 * time.Millisecond)
	select {
	case got := <-asked:
		t.Errorf("a second call at the same time: %s", got)
	default:
	}
	touch(t, gate)
	<-long
	if got := <-asked; !strings.Contains(got, `"t2"`) {
		t.Errorf("one by one, the answer is %s", got)
	}
	if got := r.state(s.Hash).Starts; got != 1 {
		t.Errorf("%d starts", got)
	}
}

// TestKilledDuringCall: a call that may have taken effect is never repeated unless its server is trusted and says that
// it may be.
func TestKilledDuringCall(t *testing.T) {
	for _, test := range []struct {
		name  string
		trust bool
		tool  string
		calls int // that are carried out
	}{
		{"unrepeatable", true, "write", 1},
		{"read-only, not trusted", false, "echo", 1},
		{"read-only, trusted", true, "echo", 2},
		{"idempotent, trusted", true, "again", 2},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			witness, starts, gate := filepath.Join(dir, "witness"), filepath.Join(dir, "starts"), filepath.Join(dir, "gate")
			r := newRig(t, nil)
			s, c := server("witness="+witness, "starts="+starts), r.by("t1")
			s.Trusted = test.trust
			r.must(s, c, "environ", "{}") // so that it is known to be well
			ended := make(chan error, 1)
			go func() {
				_, err := r.call(context.Background(), s, c, test.tool, fmt.Sprintf(`{"await":%q}`, gate))
				ended <- err
			}()
			count := func() (n int) {
				for _, line := range linesIn(witness) {
					if strings.HasPrefix(line, test.tool) {
						n++
					}
				}
				return n
			}
			await.Until(t, "the call is carried out", func() bool { return count() == 1 })
			kill(t, r.state(s.Hash).PID, 9)
			if test.calls == 2 {
				await.Until(t, "the call is repeated", func() bool { return count() == 2 })
				touch(t, gate)
				if err := <-ended; err != nil {
					t.Error(err)
				}
				return
			}
			err := <-ended
			if !errors.Is(err, rpc.ErrUnsure) || !strings.Contains(err.Error(), "may or may not have taken effect") {
				t.Errorf("the call ends with %v", err)
			}
			r.must(s, c, "environ", "{}") // it has been restarted
			if n := count(); n != test.calls || len(linesIn(starts)) != 2 {
				t.Errorf("the call was carried out %d times in %d starts", n, len(linesIn(starts)))
			}
		})
	}
}

// TestUnreadCallIsRepeated: a call that its server had not read when it ended has not taken effect.
func TestUnreadCallIsRepeated(t *testing.T) {
	witness := filepath.Join(t.TempDir(), "witness")
	r := newRig(t, nil)
	s, c := server("witness="+witness), r.by("t1")
	r.must(s, c, "echo", "{}")
	pid := r.state(s.Hash).PID
	kill(t, pid, syscall.SIGSTOP)
	await.Until(t, "all its threads have stopped", func() bool { return stopped(t, pid) })
	done := make(chan error, 1)
	go func() {
		_, err := r.call(context.Background(), s, c, "write", `{"n":1}`)
		done <- err
	}()
	await.Until(t, "the call is under way", func() bool { return r.state(s.Hash).InFlight == 1 })
	time.Sleep(20 * time.Millisecond) // until it is written
	kill(t, pid, syscall.SIGKILL)
	if err := <-done; err != nil {
		t.Error(err)
	}
	if got, want := linesIn(witness), []string{"echo {}", `write {"n":1}`}; !slices.Equal(got, want) || r.state(s.Hash).Starts != 2 {
		t.Errorf("%d starts carried out %q, want %q", r.state(s.Hash).Starts, got, want)
	}
}

// TestConcurrentCallsStartOnce: however many call at the same time, there is one start.
func TestConcurrentCallsStartOnce(t *testing.T) {
	file := filepath.Join(t.TempDir(), "starts")
	r := newRig(t, nil)
	s, c := server("starts="+file), r.by("t1")
	var calls sync.WaitGroup
	for i := range 100 {
		calls.Go(func() {
			want := fmt.Sprintf(`{"n":%d}`, i)
			if got, err := r.call(context.Background(), s, c, "echo", want); got != want {
				t.Errorf("call %d: %s %v", i, got, err)
			}
		})
	}
	calls.Wait()
	if n := len(linesIn(file)); n != 1 {
		t.Errorf("%d starts", n)
	}
	if s := r.state(s.Hash); s.Calls != 100 || s.Starts != 1 || s.LastCall.IsZero() {
		t.Errorf("the state is %+v", s)
	}
}
