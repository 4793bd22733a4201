package gateway_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"orchestrator/contextmgr/gateway"
	"orchestrator/contextmgr/models"
	"orchestrator/thread"
)

// bigRequest is a main request of about size bytes: source code in tool results.
func bigRequest(size int) string {
	line := `func main() {\n\tfmt.Println(\"hello, world\")\n}\n`
	result := `{"role":"assistant","content":[` +
		`{"type":"tool_use","id":"toolu_1","name":"Bash","input":{"command":"cat a.go"}}]},` +
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"` + strings.Repeat(line, 100) +
		`"}]},`
	head, tail, _ := strings.Cut(request("go on"), `"messages":[`)
	return head + `"messages":[` + strings.Repeat(result, max(size/len(result), 1)) + tail
}

// longAnswer streams 45 events and a stop.
func longAnswer(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	w.Header().Set("Content-Type", "text/event-stream")
	rc := http.NewResponseController(w)
	events := answerEvents("some text of an answer")
	for i := range 45 {
		e := events[3]
		switch i {
		case 0:
			e = events[0]
		case 1:
			e = events[1]
		}
		_, _ = io.WriteString(w, e)
		_ = rc.Flush()
	}
	_, _ = io.WriteString(w, strings.Join(events[4:], ""))
}

// TestNoStreamIsTruncated is R14: 300 streams, or as many as ORCHESTRATOR_GATEWAY_STREAMS says
// (10000 for the gate), all of which must come whole and be heard of.
func TestNoStreamIsTruncated(t *testing.T) {
	n := 300
	if s := os.Getenv("ORCHESTRATOR_GATEWAY_STREAMS"); s != "" {
		var err error
		if n, err = strconv.Atoi(s); err != nil {
			t.Fatal(err)
		}
	}
	w := open(t, serve(t, longAnswer), nil)
	c := client(t)
	bodies := []string{bigRequest(8 << 10), bigRequest(199 << 10), bigRequest(1 << 20), bigRequest(4 << 20)}
	var next, bad atomic.Int64
	var heard atomic.Int64
	w.obs.onEnd = func(e thread.Exchange) {
		if e.EndsTurn && !e.Interrupted && e.Main && e.Usage.Output == 21 {
			heard.Add(1)
		}
	}
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() {
			for i := next.Add(1); i <= int64(n); i = next.Add(1) {
				body := bodies[0]
				switch {
				case i%40 == 0:
					body = bodies[3]
				case i%10 == 0:
					body = bodies[2]
				case i%3 == 0:
					body = bodies[1]
				}
				resp, err := c.Post(w.base+"/v1/messages", "application/json", strings.NewReader(body))
				if err != nil {
					bad.Add(1)
					continue
				}
				b, err := io.ReadAll(resp.Body)
				resp.Body.Close()
				if err != nil || strings.Count(string(b), `"message_stop"}`) != 1 || strings.Count(string(b), "\n\n") != 48 {
					bad.Add(1)
				}
			}
		})
	}
	wg.Wait()
	w.obs.wait(t, n)
	if bad.Load() != 0 || heard.Load() != int64(n) {
		t.Errorf("%d of %d streams were not whole, %d were heard of", bad.Load(), n, heard.Load())
	}
}

// The benchmarks run the upstream and the ways to it in processes of their own, as they are in
// life: agent, gateway and provider do not share a scheduler. TestMain plays these parts.
const (
	roleVar     = "ORCHESTRATOR_GATEWAY_BENCH_ROLE"
	upstreamVar = "ORCHESTRATOR_GATEWAY_BENCH_UPSTREAM"
)

func TestMain(m *testing.M) {
	role := os.Getenv(roleVar)
	if role == "" {
		os.Exit(m.Run())
	}
	if err := play(role, os.Getenv(upstreamVar)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// play serves as a part of a benchmark until its standard input ends, and writes its address.
func play(role, upstream string) error {
	var handler http.Handler
	switch role {
	case "long":
		handler = http.HandlerFunc(longAnswer)
	case "paced":
		handler = http.HandlerFunc(pacedAnswer)
	case "proxy":
		u, err := url.Parse(upstream)
		if err != nil {
			return err
		}
		p := httputil.NewSingleHostReverseProxy(u)
		p.FlushInterval = -1
		p.ErrorLog = log.New(io.Discard, "", 0)
		p.Transport = &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 200}
		handler = p
	case "gateway":
		table, err := models.Builtin()
		if err != nil {
			return err
		}
		g, err := gateway.New("127.0.0.1:0", deaf{}, gateway.Options{Codecs: codecs(), Models: table})
		if err != nil {
			return err
		}
		base, _, err := g.Route("t", thread.RouteSpec{Agent: "bench", Upstreams: map[string]string{"": upstream}})
		if err != nil {
			return err
		}
		go func() { _ = g.Run(context.Background()) }()
		fmt.Println(base)
		_, _ = io.Copy(io.Discard, os.Stdin)
		return g.Close()
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	go func() { _ = http.Serve(ln, handler) }()
	fmt.Println("http://" + ln.Addr().String())
	_, _ = io.Copy(io.Discard, os.Stdin)
	return nil
}

// deaf is an observer that keeps nothing.
type deaf struct{}

func (deaf) RequestStarted(thread.ID, thread.Begun) {}

func (deaf) RequestReached(thread.ID, thread.Stage, time.Time)            {}
func (deaf) ExchangeEnded(thread.ID, thread.Exchange)                     {}
func (deaf) Spoke(thread.ID, thread.Speech)                               {}
func (deaf) Notice(thread.ID, thread.Level, string)                       {}
func (deaf) Asked(thread.ID, string, []byte) func(context.Context) []byte { return nil }
func (deaf) Hook(thread.ID, string, []byte)                               {}

// start runs this test binary as a part and returns its address.
func start(b *testing.B, role, upstream string) string {
	b.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), roleVar+"="+role, upstreamVar+"="+upstream)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		in.Close()
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		b.Fatal(err)
	}
	return strings.TrimSpace(line)
}

// target is one way to the upstream.
type target struct {
	name, base  string
	first, last []time.Duration
	events      int
}

func targets(b *testing.B, role string) []*target {
	upstream := start(b, role, "")
	return []*target{
		{name: "direct", base: upstream},
		{name: "proxy", base: start(b, "proxy", upstream)},
		{name: "gateway", base: start(b, "gateway", upstream)},
	}
}

func quantile(d []time.Duration, q float64) float64 {
	if len(d) == 0 {
		return 0
	}
	s := slices.Clone(d)
	slices.Sort(s)
	return float64(s[min(int(q*float64(len(s))), len(s)-1)]) / float64(time.Millisecond)
}

// BenchmarkLatency measures the time to an answer's first and last byte: straight, through a bare
// ReverseProxy and through the gateway, interleaved in one run. The metrics are the straight
// way's quantiles and what the others add to them.
func BenchmarkLatency(b *testing.B) {
	for _, size := range []struct {
		name string
		n    int
	}{{"8KB", 8 << 10}, {"199KB", 199 << 10}, {"1MB", 1 << 20}, {"4MB", 4 << 20}} {
		b.Run(size.name, func(b *testing.B) {
			ways := targets(b, "long")
			body := bigRequest(size.n)
			c := client(b)
			rng := rand.New(rand.NewPCG(1, 2))
			for range 3 {
				for _, w := range ways {
					w.once(b, c, body)
				}
			}
			for _, w := range ways {
				w.first, w.last = nil, nil
			}
			for b.Loop() {
				for _, i := range rng.Perm(len(ways)) {
					ways[i].once(b, c, body)
				}
			}
			for name, q := range map[string]float64{"p50": 0.5, "p95": 0.95, "p99": 0.99} {
				first, last := quantile(ways[0].first, q), quantile(ways[0].last, q)
				b.ReportMetric(first, "direct-first-"+name+"-ms")
				b.ReportMetric(last, "direct-last-"+name+"-ms")
				for _, w := range ways[1:] {
					b.ReportMetric(quantile(w.first, q)-first, w.name+"-adds-first-"+name+"-ms")
					b.ReportMetric(quantile(w.last, q)-last, w.name+"-adds-last-"+name+"-ms")
				}
			}
		})
	}
}

// once asks and notes how long the first and the last byte took. A bare proxy may cut answers off.
func (w *target) once(b *testing.B, c *http.Client, body string) {
	begin := time.Now()
	resp, err := c.Post(w.base+"/v1/messages", "application/json", strings.NewReader(body))
	if err != nil {
		b.Fatal(err)
	}
	defer resp.Body.Close()
	_, err = resp.Body.Read(make([]byte, 1))
	w.first = append(w.first, time.Since(begin))
	if err == nil {
		_, err = io.Copy(io.Discard, resp.Body)
	}
	w.last = append(w.last, time.Since(begin))
	if err != nil && w.name != "proxy" {
		b.Fatal(err)
	}
}

const (
	pacedCount = 100
	pacedGap   = 20 * time.Millisecond
)

// pacedAnswer streams events that say when they were sent.
func pacedAnswer(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	w.Header().Set("Content-Type", "text/event-stream")
	rc := http.NewResponseController(w)
	_, _ = io.WriteString(w, strings.Join(answerEvents("")[:2], "")) // of text that is read and told
	_ = rc.Flush()
	tick := time.NewTicker(pacedGap)
	defer tick.Stop()
	for range pacedCount {
		<-tick.C
		_, _ = fmt.Fprintf(w, "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,"+
			"\"delta\":{\"type\":\"text_delta\",\"text\":\"%d|\"}}\n\n", time.Now().UnixNano())
		_ = rc.Flush()
	}
}

// BenchmarkEventDelay measures how late events arrive over 100 streams at once, 100 events each,
// 20 ms apart, after a request of 199 KB.
func BenchmarkEventDelay(b *testing.B) {
	const streams = 100
	body := bigRequest(199 << 10)
	ways := targets(b, "paced")
	for b.Loop() {
		for _, w := range ways {
			var mu sync.Mutex
			var wg sync.WaitGroup
			c := client(b)
			for range streams {
				wg.Go(func() {
					resp, err := c.Post(w.base+"/v1/messages", "application/json", strings.NewReader(body))
					if err != nil {
						return // counted by the events that are missing
					}
					defer resp.Body.Close()
					delays := readDelays(resp.Body)
					mu.Lock()
					w.first = append(w.first, delays...)
					w.events += len(delays)
					mu.Unlock()
				})
			}
			wg.Wait()
		}
	}
	for _, w := range ways {
		b.ReportMetric(float64(w.events)/float64(b.N), w.name+"-events")
		b.ReportMetric(quantile(w.first, 0.5), w.name+"-p50-ms")
		b.ReportMetric(quantile(w.first, 0.99), w.name+"-p99-ms")
	}
}

// readDelays returns how long ago each event was sent when it came, by the machine's clock.
func readDelays(r io.Reader) (delays []time.Duration) {
	buf := make([]byte, 4096)
	var rest string
	for {
		n, err := r.Read(buf)
		now := time.Now().UnixNano()
		rest += string(buf[:n])
		for {
			line, after, ok := strings.Cut(rest, "\n\n")
			if !ok {
				break
			}
			rest = after
			_, at, _ := strings.Cut(line, `"text":"`)
			at, _, _ = strings.Cut(at, "|")
			if sent, err := strconv.ParseInt(at, 10, 64); err == nil {
				delays = append(delays, time.Duration(now-sent))
			}
		}
		if err != nil {
			return delays
		}
	}
}
