package masking_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"orchestrator/contextmgr/gateway"
	"orchestrator/contextmgr/masking"
	"orchestrator/contextmgr/masks"
	"orchestrator/contextmgr/models"
	"orchestrator/contextmgr/policy"
	"orchestrator/contextmgr/wire"
	"orchestrator/contextmgr/wire/anthropic"
	"orchestrator/thread"
	"orchestrator/thread/private"
)

// growing are the bodies of a conversation that has so many bytes and results: each has two items more than the one
// before, and the mark for the cache moves as Claude Code moves it.
func growing(size, results, n int) []string {
	f := formats()[0]
	items := []string{f.person("fix the bug")}
	each := size / (results + n)
	for i := range results + n {
		id := fmt.Sprintf("call_%d", i)
		items = append(items, f.call(id, "Bash", fmt.Sprintf(`{"command":"cat file%d"}`, i)), f.result(id, "Bash",
			strings.Repeat(fmt.Sprintf("%05d\tfmt.Println(\"line\")\n", i), max(1, each/30))))
	}
	var bodies []string
	for i := range n {
		part := slices.Clone(items[:1+2*(results+i)])
		last := len(part) - 1
		part[last] = strings.TrimSuffix(part[last], "}]}") + `,"cache_control":{"type":"ephemeral"}}]}`
		bodies = append(bodies, f.body("claude-sonnet-4-6", strings.Join(part, ",")))
	}
	return bodies
}

type silent struct{}

func (silent) RequestStarted(thread.ID, thread.Begun)                       {}
func (silent) RequestReached(thread.ID, thread.Stage, time.Time)            {}
func (silent) Spoke(thread.ID, thread.Speech)                               {}
func (silent) Notice(thread.ID, thread.Level, string)                       {}
func (silent) ExchangeEnded(thread.ID, thread.Exchange)                     {}
func (silent) Asked(thread.ID, string, []byte) func(context.Context) []byte { return nil }
func (silent) Hook(id thread.ID, event string, payload []byte)              {}
func (silent) Lineage(thread.ID) (parent thread.ID, last time.Time)         { return "", time.Time{} }

// gate opens a gateway; mode "" is one without a masker.
func gate(b *testing.B, upstream string, mode policy.Mode) string {
	b.Helper()
	table, err := models.Builtin()
	if err != nil {
		b.Fatal(err)
	}
	opts := gateway.Options{Codecs: wire.Codecs{anthropic.New()}, Models: table}
	if mode != "" {
		folder, err := private.Make(b.TempDir(), "masks")
		if err != nil {
			b.Fatal(err)
		}
		store := masks.Open(folder, masks.Config{})
		b.Cleanup(func() { _ = store.Close() })
		m, err := masking.New(masking.Config{
			Masks: store, Counts: &counts{known: map[[32]byte]int64{}}, Calibration: exact{}, Threads: silent{}, Models: table,
			Settings: func(thread.ID, bool) policy.Settings { return policy.Defaults(mode) }, Now: time.Now,
		})
		if err != nil {
			b.Fatal(err)
		}
		opts.Rewriter = m
	}
	g, err := gateway.New("127.0.0.1:0", silent{}, opts)
	if err != nil {
		b.Fatal(err)
	}
	go g.Run(context.Background()) //nolint:errcheck // it ends with Close
	b.Cleanup(func() { _ = g.Close() })
	base, _, err := g.Route("t1", thread.RouteSpec{Agent: "claude", Upstreams: map[string]string{"": upstream}})
	if err != nil {
		b.Fatal(err)
	}
	return base
}

// BenchmarkLatency measures what masking adds to the first byte of an answer, in one run with a request that goes
// directly, a bare reverse proxy that buffers the body, and a gateway that masks nothing.
func BenchmarkLatency(b *testing.B) {
	answer := []byte("event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"role\":\"assistant\",\"usage\":{}}}\n\n")
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		for range 45 {
			_, _ = w.Write(answer)
			_ = http.NewResponseController(w).Flush()
		}
	}))
	b.Cleanup(upstream.Close)
	to, err := url.Parse(upstream.URL)
	if err != nil {
		b.Fatal(err)
	}
	reverse := httputil.NewSingleHostReverseProxy(to)
	reverse.Transport = &http.Transport{MaxIdleConnsPerHost: 10, DisableCompression: true}
	bare := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err == nil {
			r.Body = io.NopCloser(bytes.NewReader(body))
			reverse.ServeHTTP(w, r)
		}
	}))
	b.Cleanup(bare.Close)
	for _, size := range []struct {
		name string
		n    int
	}{{"199KB", 199 << 10}, {"1MB", 1 << 20}, {"4MB", 4 << 20}} {
		b.Run(size.name, func(b *testing.B) {
			ways := []struct {
				name, base string
				times      []float64
			}{
				{"direct", upstream.URL, nil}, {"proxy", bare.URL, nil}, {"plain", gate(b, upstream.URL, ""), nil},
				{"observe", gate(b, upstream.URL, policy.ModeObserve), nil}, {"lean", gate(b, upstream.URL, policy.ModeLean), nil},
			}
			bodies := growing(size.n, 400, 60)
			client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 10, DisableCompression: true}}
			n := 0
			for b.Loop() {
				body := bodies[n%len(bodies)]
				n++
				for _, i := range rand.Perm(len(ways)) {
					time.Sleep(40 * time.Millisecond) // a gateway reads beside a stream: what it does must not fall into the next one
					began := time.Now()
					resp, err := client.Post(ways[i].base+"/v1/messages", "application/json", strings.NewReader(body))
					if err != nil {
						b.Fatal(err)
					}
					_, _ = resp.Body.Read(make([]byte, 1))
					took := time.Since(began)
					_, _ = io.Copy(io.Discard, resp.Body)
					_ = resp.Body.Close()
					if n > 3 { // the first ones read the conversation for the first time, and mask
						ways[i].times = append(ways[i].times, took.Seconds()*1e3)
					}
				}
			}
			p50 := func(times []float64) float64 {
				slices.Sort(times)
				if len(times) == 0 {
					return 0
				}
				return times[len(times)/2]
			}
			direct := p50(ways[0].times)
			b.ReportMetric(direct, "direct-ms")
			for _, w := range ways[1:] {
				b.ReportMetric(p50(w.times)-direct, w.name+"-adds-ms")
			}
		})
	}
}

// BenchmarkRewrite is the part of that which is spent in this package, for a request that goes on with the one before.
func BenchmarkRewrite(b *testing.B) {
	for _, size := range []struct {
		name string
		n    int
	}{{"199KB", 199 << 10}, {"1MB", 1 << 20}, {"4MB", 4 << 20}} {
		b.Run(size.name, func(b *testing.B) {
			folder, err := private.Make(b.TempDir(), "masks")
			if err != nil {
				b.Fatal(err)
			}
			store := masks.Open(folder, masks.Config{})
			defer func() { _ = store.Close() }()
			table, err := models.Builtin()
			if err != nil {
				b.Fatal(err)
			}
			m, err := masking.New(masking.Config{
				Masks: store, Counts: &counts{known: map[[32]byte]int64{}}, Calibration: exact{}, Threads: silent{}, Models: table,
				Settings: func(thread.ID, bool) policy.Settings { return policy.Defaults(policy.ModeLean) }, Now: time.Now,
			})
			if err != nil {
				b.Fatal(err)
			}
			bodies := growing(size.n, 400, 60)
			send := func(body string) {
				out := m.Rewrite(b.Context(), gateway.Outgoing{
					Thread: "t1", Codec: anthropic.New(), To: &url.URL{Path: "/v1/messages"},
					Call:   wire.Call{Path: "/v1/messages", Header: http.Header{}, Body: []byte(body)},
					Window: func(string, bool, int64) int64 { return 200_000 }, Notice: func(thread.Level, string) {},
				})
				if out.Body == nil && size.n > 1<<20 {
					b.Fatal("nothing is masked")
				}
			}
			send(bodies[0])
			n := 0
			for b.Loop() {
				n++
				send(bodies[n%len(bodies)])
			}
		})
	}
}
