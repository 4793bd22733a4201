package hub_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"orchestrator/mcpctl/definition"
	"orchestrator/mcpctl/hub"
	"orchestrator/thread"
	"orchestrator/thread/ground/await"
	"orchestrator/thread/ground/rpc"
)

// TestCrashLoopStarts: 200 callers of a server that ends at once, in 4 s, cause 3 starts; at the fifth it is given up.
func TestCrashLoopStarts(t *testing.T) {
	file := filepath.Join(t.TempDir(), "starts")
	clk := newClock()
	r := newRig(t, func(cfg *hub.Config) { cfg.Clock = clk })
	s, c := server("crash", "starts="+file), r.by("t1")
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	errs := make([]error, 200)
	var calls sync.WaitGroup
	for i := range errs {
		calls.Go(func() {
			if i >= 100 { // half of them begin later
				<-clk.After(time.Duration(i) * 20 * time.Millisecond)
			}
			_, errs[i] = r.call(ctx, s, c, "echo", "{}")
		})
	}
	settle := func() {
		await.Until(t, "no start is under way", func() bool { st := r.state(s.Hash).Status; return st == hub.Backoff || st == hub.Failed })
	}
	for range 40 {
		settle()
		clk.advance(100 * time.Millisecond)
	}
	settle()
	if n := len(linesIn(file)); n != 3 {
		t.Errorf("%d starts in 4 s, want 3", n)
	}
	for range 150 {
		clk.advance(100 * time.Millisecond)
		settle()
	}
	calls.Wait() // nobody waits longer than 10 s
	for i, err := range errs {
		if !errors.Is(err, hub.ErrDown) || errors.Is(err, rpc.ErrUnsure) || !strings.Contains(err.Error(), "exit status 3") {
			t.Fatalf("call %d: %v", i, err)
		}
	}
	if _, err := r.call(ctx, s, c, "echo", "{}"); !errors.Is(err, hub.ErrDown) {
		t.Errorf("later: %v", err)
	}
	state := r.state(s.Hash)
	if n := len(linesIn(file)); n != 5 || state.Status != hub.Failed || state.Starts != 5 {
		t.Errorf("%d starts, then %+v; want 5 and failed", n, state)
	}
	if wait := state.Next.Sub(clk.Now()); wait < 4*time.Minute || wait > 5*time.Minute {
		t.Errorf("it is started again in %v", wait)
	}
	var last hub.State
	await.Until(t, "the event is told", func() bool { // events follow the state that they tell of
		_, events, _ := r.seen()
		last = events[len(events)-1]
		return last.Status == hub.Failed
	})
	if len(last.Log) == 0 || !strings.Contains(last.Log[len(last.Log)-1], "no such database") {
		t.Errorf("the event says %+v", last)
	}

	// Nothing is started until the time has come or a person asks for it; then once.
	if err := r.Restart(shortly(t, clk), s.Hash); err == nil {
		t.Error("restarted")
	}
	settle()
	if n := len(linesIn(file)); n < 6 {
		t.Errorf("%d starts after a restart by a person", n)
	}
}

// shortly is a context that ends after a second of real time, during which the clock goes on.
func shortly(t *testing.T, clk *clock) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
	t.Cleanup(cancel)
	go func() {
		for ctx.Err() == nil {
			clk.advance(100 * time.Millisecond)
		}
	}()
	return ctx
}

// TestRecovery: after kill -9 of a server that was well, the next call is answered after one start, without a delay.
func TestRecovery(t *testing.T) {
	r := newRig(t, nil)
	s, c := server("slow=50ms"), r.by("t1")
	begin := time.Now()
	r.must(s, c, "echo", "{}")
	start := time.Since(begin)
	for i := range 5 {
		kill(t, r.state(s.Hash).PID, syscall.SIGKILL)
		await.Until(t, "its end is seen", func() bool { return r.state(s.Hash).PID == 0 })
		begin = time.Now()
		if got := r.must(s, c, "write", `{"a":1}`); got != `{"a":1}` {
			t.Fatalf("got %s", got)
		}
		if took := time.Since(begin); took > start+2*time.Second { // the aim is 0.5 s on a quiet machine
			t.Errorf("round %d took %v, a start %v", i, took, start)
		}
	}
	if n := r.state(s.Hash).Starts; n != 6 || strings.Contains(r.statuses(s.Hash), "backoff") {
		t.Errorf("%d starts, want 6 without a delay: %s", n, r.statuses(s.Hash))
	}
}

// TestHungCall: a server that is silent for too long during a call is killed with its group.
func TestHungCall(t *testing.T) {
	dir := t.TempDir()
	file, witness := filepath.Join(dir, "starts"), filepath.Join(dir, "witness")
	clk := newClock()
	r := newRig(t, func(cfg *hub.Config) { cfg.Clock = clk })
	s, c := server("fork", "starts="+file, "witness="+witness), r.by("t1")
	r.must(s, c, "echo", "{}")
	ended := make(chan error, 1)
	go func() {
		_, err := r.call(context.Background(), s, c, "stop", "{}")
		ended <- err
	}()
	await.Until(t, "the call is carried out", func() bool { return len(linesIn(witness)) == 2 })
	time.Sleep(10 * time.Millisecond) // until it is waited for
	clk.advance(119 * time.Second)
	select {
	case err := <-ended:
		t.Fatalf("it ended too early: %v", err)
	default:
	}
	clk.advance(2 * time.Second)
	err := <-ended
	if !errors.Is(err, rpc.ErrUnsure) || !strings.Contains(err.Error(), "hung") {
		t.Errorf("the call ends with %v", err)
	}
	if n := running(file); n != 0 {
		t.Errorf("%d of its processes are left", n)
	}
	r.must(s, c, "echo", "{}")
}

// TestLongCallWithProgressGoesOn: a call may last as long as the server says something.
func TestLongCallWithProgressGoesOn(t *testing.T) {
	gate := filepath.Join(t.TempDir(), "gate")
	clk := newClock()
	r := newRig(t, func(cfg *hub.Config) { cfg.Clock = clk })
	s, one, two := shared(server()), r.by("t1"), r.by("t2")
	r.must(s, one, "echo", "{}")
	ended := make(chan error, 1)
	go func() {
		_, err := r.call(context.Background(), s, one, "sleep", fmt.Sprintf(`{"await":%q}`, gate))
		ended <- err
	}()
	await.Until(t, "the call is under way", func() bool { return r.state(s.Hash).InFlight == 1 })
	time.Sleep(10 * time.Millisecond)
	for range 5 {
		clk.advance(100 * time.Second)
		r.must(s, two, "echo", "{}")
	}
	touch(t, gate)
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if n := r.state(s.Hash).Starts; n != 1 {
		t.Errorf("%d starts", n)
	}
}

// TestBusyIsNotSick: a server that answers nothing else during a call is left alone.
func TestBusyIsNotSick(t *testing.T) {
	witness := filepath.Join(t.TempDir(), "witness")
	r := newRig(t, func(cfg *hub.Config) {
		cfg.Times = hub.Times{Probe: 10 * time.Millisecond, ProbeAnswer: 5 * time.Millisecond}
	})
	s, c := server("witness="+witness), r.by("t1")
	if got := r.must(s, c, "busy", `{"ms":400}`); got != "done" {
		t.Errorf("got %s", got)
	}
	if state := r.state(s.Hash); state.Starts != 1 || len(linesIn(witness)) != 1 || strings.Contains(r.statuses(s.Hash), "degraded") {
		t.Errorf("%d starts, %d calls carried out, statuses %s", state.Starts, len(linesIn(witness)), r.statuses(s.Hash))
	}
}

// TestSickIsReplaced: an idle server that does not answer three probes is replaced at the next call.
func TestSickIsReplaced(t *testing.T) {
	file := filepath.Join(t.TempDir(), "starts")
	clk := newClock()
	r := newRig(t, func(cfg *hub.Config) { cfg.Clock = clk })
	s, c := server("starts="+file), r.by("t1")
	r.must(s, c, "echo", "{}")
	probed(t, clk, r, file)
	kill(t, r.state(s.Hash).PID, syscall.SIGSTOP)
	await.Until(t, "it is degraded", func() bool {
		clk.advance(time.Second)
		return r.state(s.Hash).Status == hub.Degraded
	})
	if running(file) != 1 {
		t.Fatal("it was ended after one probe")
	}
	await.Until(t, "it is ended", func() bool {
		clk.advance(time.Second)
		return running(file) == 0
	})
	r.must(s, c, "echo", "{}")
	if n := len(linesIn(file)); n != 2 {
		t.Errorf("%d starts", n)
	}
}

// probed holds that a server is left alone that answers probes. The clock goes on before the limit of an answer.
func probed(t *testing.T, clk *clock, r *rig, file string) {
	t.Helper()
	for range 5 {
		clk.advance(31 * time.Second)
		time.Sleep(20 * time.Millisecond)
	}
	if states := r.States(); len(linesIn(file)) != 1 || running(file) != 1 || states[0].Starts != 1 {
		t.Fatalf("a server that answers probes is %+v", states)
	}
}

// TestIdleStop: a server that nobody calls is stopped, and started again by the next call.
func TestIdleStop(t *testing.T) {
	clk := newClock()
	r := newRig(t, func(cfg *hub.Config) {
		cfg.Clock = clk
		cfg.Times.Probe = time.Hour
	})
	own, all, soon := server(), shared(server("x")), server("y")
	soon.Definition.Options.IdleStop = time.Minute
	c := r.by("t1")
	for _, s := range []hub.Server{own, all, soon} {
		r.must(s, c, "echo", "{}")
	}
	status := func(s hub.Server) hub.Status { return r.state(s.Hash).Status }
	after := func(d time.Duration, want ...hub.Status) {
		t.Helper()
		for range d / (10 * time.Second) {
			clk.advance(10 * time.Second)
		}
		await.Until(t, fmt.Sprintf("after %v more they are %v", d, want), func() bool {
			return slices.Equal([]hub.Status{status(own), status(all), status(soon)}, want)
		})
	}
	after(50*time.Second, hub.Ready, hub.Ready, hub.Ready)
	after(90*time.Second, hub.Ready, hub.Ready, hub.Cold)
	after(9*time.Minute, hub.Cold, hub.Ready, hub.Cold)
	after(21*time.Minute, hub.Cold, hub.Cold, hub.Cold)
	r.must(own, c, "echo", "{}")
	if s := r.state(own.Hash); s.Starts != 2 || s.Status != hub.Ready {
		t.Errorf("afterwards it is %+v", s)
	}
}

// TestFourAtOnce: more than four servers are not started at the same time.
func TestFourAtOnce(t *testing.T) {
	var mu sync.Mutex
	now, most, all := 0, 0, 0
	gate := make(chan struct{})
	r := newRig(t, func(cfg *hub.Config) {
		cfg.Launch = func(ctx context.Context, s hub.Server, _ thread.ID, dir string) (definition.Launch, []string, error) {
			mu.Lock()
			now++
			all++
			most = max(most, now)
			mu.Unlock()
			<-gate
			mu.Lock()
			now--
			mu.Unlock()
			return launch(ctx, s, "", dir)
		}
	})
	c := r.by("t1")
	for i := range 12 {
		r.Prewarm(server(fmt.Sprint("x", i)), c)
		r.Prewarm(server(fmt.Sprint("x", i)), c)
	}
	count := func(n *int) int {
		mu.Lock()
		defer mu.Unlock()
		return *n
	}
	await.Until(t, "four are being started", func() bool { return count(&now) == 4 })
	time.Sleep(20 * time.Millisecond)
	if n := count(&all); n != 4 {
		t.Errorf("%d are being started", n)
	}
	close(gate)
	await.Until(t, "all are ready", func() bool {
		states := r.States()
		return len(states) == 12 && !slices.ContainsFunc(states, func(s hub.State) bool { return s.Status != hub.Ready })
	})
	if count(&most) != 4 || count(&all) != 12 {
		t.Errorf("%d at once, %d altogether", count(&most), count(&all))
	}
}

// TestManyCycles: nothing is left of servers that were started and stopped.
func TestManyCycles(t *testing.T) {
	cycles := 200
	if testing.Short() {
		cycles = 50
	}
	if n, err := strconv.Atoi(os.Getenv("CYCLES")); err == nil {
		cycles = n
	}
	t.Logf("%d cycles; CYCLES=1000 for the long run", cycles)
	file := filepath.Join(t.TempDir(), "starts")
	r := newRig(t, nil)
	s, c := server("starts="+file), r.by("t1")
	cycle := func(n int) {
		for range n {
			r.must(s, c, "echo", "{}")
			r.Stop(s.Hash)
		}
	}
	cycle(3)
	files, routines, threads := openFiles(t), runtime.NumGoroutine(), threadsOf(t)
	cycle(cycles)
	if n := len(linesIn(file)); n != cycles+3 {
		t.Errorf("%d starts in %d cycles", n, cycles+3)
	}
	if n := running(file); n != 0 {
		t.Errorf("%d processes are left", n)
	}
	await.Until(t, fmt.Sprintf("%d files and %d goroutines as before", files, routines), func() bool {
		return openFiles(t) <= files && runtime.NumGoroutine() <= routines
	})
	if n := threadsOf(t); n > threads+20 {
		t.Errorf("%d threads, %d before", n, threads)
	}
}

func openFiles(t testing.TB) int {
	t.Helper()
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}

func threadsOf(t testing.TB) int {
	t.Helper()
	list, err := os.ReadDir("/proc/self/task")
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}

// TestP10NothingLeft: neither when the hub is closed nor when its program is killed is a process left after 3 s.
func TestP10NothingLeft(t *testing.T) {
	t.Run("closed", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "starts")
		r := newRig(t, nil)
		for i := range 3 {
			s := server("fork", "starts="+file, fmt.Sprint("x", i))
			if i == 0 {
				s = server("stubborn", "fork", "starts="+file)
			}
			r.must(s, r.by("t1"), "echo", "{}")
		}
		if n := running(file); n != 9 {
			t.Fatalf("%d processes run, want 9", n)
		}
		ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
		defer cancel()
		if err := r.Close(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("closing ends with %v although one had to be killed", err)
		}
		if n := running(file); n != 0 {
			t.Errorf("%d processes are left", n)
		}
		if _, err := r.call(context.Background(), server(), r.by("t1"), "echo", "{}"); !errors.Is(err, hub.ErrClosed) {
			t.Errorf("a call after the end: %v", err)
		}
	})
	t.Run("killed", func(t *testing.T) {
		dir := t.TempDir()
		self, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		program := exec.Command(self)
		program.Env = append(os.Environ(), ownerVar+"="+dir)
		program.Stderr = os.Stderr
		out, err := program.StdoutPipe()
		if err == nil {
			err = program.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		if line, err := bufio.NewReader(out).ReadString('\n'); line != "started\n" {
			t.Errorf("it printed %q %v", line, err)
		}
		file := filepath.Join(dir, "starts")
		if n := running(file); n != 9 {
			t.Errorf("%d processes run, want 9", n)
		}
		_ = program.Process.Kill()
		_ = program.Wait()
		for end := time.Now().Add(3 * time.Second); running(file) > 0; time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("%d processes are left after 3 s", running(file))
			}
		}
	})
}

// TestP9HostileServer: whatever a server says, the memory is bounded, nothing panics, and other servers are not affected.
func TestP9HostileServer(t *testing.T) {
	dir := t.TempDir()
	r := newRig(t, func(cfg *hub.Config) {
		cfg.Times = hub.Times{Start: 20 * time.Second}
	})
	good, c := server(), r.by("t1")
	r.must(good, c, "echo", "{}")
	for _, test := range []struct {
		name    string
		mode    []string
		slow    bool
		timeout time.Duration
		fails   string // what the error says; empty if calls are answered
		tools   int    // that are not withheld
		problem string // of the manifest or a tool
	}{
		{name: "banner, garbage and a flood", mode: []string{"banner", "garbage", "stderr=20000000"}, tools: 17},
		{name: "two responses", mode: []string{"twice"}, tools: 17},
		{name: "null schemas", mode: []string{"null"}, tools: 17, problem: "its inputSchema is not an object"},
		{name: "deep", mode: []string{"deep=1000"}, tools: 17, problem: "nested 1002 deep"},
		{name: "too deep to be JSON", mode: []string{"deep=100000"}, timeout: time.Second, fails: "did not start in 1s"},
		{name: "names", mode: []string{"names"}, tools: 20, problem: "another tool of this name"},
		{name: "pages", mode: []string{"pages=1"}, tools: 17},
		{name: "pages without an end", mode: []string{"pages=5", "loop"}, tools: 4, problem: "its pages repeat"},
		{name: "100,000 tools", mode: []string{"tools=100000"}, tools: 1999, problem: "98018 more tools"},
		{name: "a giant line", mode: []string{"giant=1000000000"}, slow: true, fails: "64 MiB"},
		{name: "silence", mode: []string{"silent"}, timeout: 200 * time.Millisecond,
			fails: "did not start in 200ms; it printed nothing"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.slow && testing.Short() {
				t.Skip("SKIPPED under -short: it reads 64 MiB")
			}
			s := server(append(test.mode, "starts="+filepath.Join(dir, "starts"))...)
			s.Definition.Options.StartTimeout = test.timeout
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			if test.fails != "" {
				go func() {
					await.Until(t, "it has failed", func() bool { return r.state(s.Hash).Status == hub.Backoff })
					cancel()
				}()
			}
			m, err := r.Manifest(ctx, s, c)
			if test.fails != "" {
				state := r.state(s.Hash)
				if err == nil || !strings.Contains(state.Reason, test.fails) {
					t.Fatalf("%v, and it says %q, want %q", err, state.Reason, test.fails)
				}
				r.Stop(s.Hash)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			tools, problems := 0, slices.Clone(m.Problems)
			for _, tool := range m.Tools {
				if tool.Problem == "" {
					tools++
					if !json.Valid(tool.Raw) {
						t.Errorf("tool %q is %s", tool.Name, tool.Raw)
					}
				} else {
					problems = append(problems, tool.Problem)
				}
			}
			if all := strings.Join(problems, "\n"); tools != test.tools || !strings.Contains(all, test.problem) {
				t.Errorf("%d tools, want %d; problems are %.1000q, want %q", tools, test.tools, all, test.problem)
			}
			for i := range 3 {
				want := fmt.Sprintf(`{"i":%d}`, i)
				if got := r.must(s, c, "echo", want); got != want {
					t.Errorf("call %d got %s", i, got)
				}
			}
			r.Stop(s.Hash)
		})
	}
	if n := running(filepath.Join(dir, "starts")); n != 0 {
		t.Errorf("%d hostile servers are left", n)
	}
	r.must(good, c, "echo", "{}")
	if got := r.state(good.Hash).Starts; got != 1 {
		t.Errorf("the other server was started %d times", got)
	}
	var mem runtime.MemStats
	runtime.ReadMemStats(&mem)
	if mem.Sys > 1<<30 {
		t.Errorf("%d MiB of memory are used", mem.Sys>>20)
	}
}
