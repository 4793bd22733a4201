package masking_test

import (
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"orchestrator/contextmgr/gateway"
	"orchestrator/contextmgr/policy"
	"orchestrator/contextmgr/wire"
	"orchestrator/thread"
)

// TestSummaryIsStable: between events each request goes on from the one before, in all formats; there are few events,
// and after each of them the context is smaller.
func TestSummaryIsStable(t *testing.T) {
	for _, f := range some(t) {
		t.Run(f.codec.Wire(), func(t *testing.T) {
			w := open(t, f, policy.ModeSafe)
			events, largest := 0, 0
			before := w.list(w.turns(1))
			for range 30 {
				sent := w.turns(1)
				w.checkPairs(sent)
				list := w.list(sent)
				if !strings.HasPrefix(list, before) {
					events++
					if len(list) >= len(before) {
						t.Errorf("an event makes %d bytes of %d", len(list), len(before))
					}
				}
				before, largest = list, max(largest, len(list))
			}
			if events < 2 || events > 8 {
				t.Errorf("%d events", events)
			}
			if limit := 4 * int(w.window) * 70 / 100; largest > limit {
				t.Errorf("up to %d bytes were sent, more than %d", largest, limit)
			}
			if report, err := w.Report("t1"); err != nil || len(report.Summaries) < 2 {
				t.Errorf("%d summaries (%v)", len(report.Summaries), err)
			}
		})
	}
}

// TestSummaryMeanwhile: requests, reports and changes at once neither race nor tear what is sent.
func TestSummaryMeanwhile(t *testing.T) {
	w := open(t, formats()[0], policy.ModeSafe)
	w.turns(16)
	body := w.body(w.model, strings.Join(w.items, ","))
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			if got := w.quietly("t1", body); !summarised(got) {
				t.Error("the summary is not sent")
			}
			if _, err := w.Report("t1"); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
}

// quietly sends a request that shares nothing with others of the test.
func (w *world) quietly(id thread.ID, body string) string {
	out := w.Rewrite(w.Context(), gateway.Outgoing{
		Thread: id, Codec: w.codec, To: &url.URL{Path: w.path},
		Call:   wire.Call{Path: w.path, Header: http.Header{}, Body: []byte(body)},
		Window: func(string, bool, int64) int64 { return 100_000 },
		Notice: func(thread.Level, string) {},
	})
	out.Ended(&thread.Exchange{Status: 200, EndsTurn: true, Usage: thread.Usage{CacheRead: 60_000, CacheWrite: 1}})
	return string(out.Body)
}
