package gateway_test

import (
	"context"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"orchestrator/contextmgr/gateway"
	"orchestrator/contextmgr/wire"
	"orchestrator/thread"
	"orchestrator/thread/budget"
)

// BenchmarkReserve compares a gateway that holds back what requests cost with one that does not, request by request in the
// same run: ratio is that of the medians.
func BenchmarkReserve(b *testing.B) {
	for name, size := range map[string]int{"20KB": 20 << 10, "200KB": 200 << 10, "1MB": 1 << 20} {
		b.Run(name, func(b *testing.B) {
			up := serve(b, func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				streamAnswer(w, "ok")
			})
			limit := 1e9
			p := newPurse(budget.Thread, thread.Budget{USD: &limit}, budget.Spent{})
			read := func(o *gateway.Options) { o.Rewriter = reading{} }
			without := open(b, up, read)
			with := open(b, up, func(o *gateway.Options) { read(o); p.with(o) })
			body := request(strings.Repeat("word ", size/5))
			took := map[*world][]time.Duration{}
			for range b.N {
				for _, w := range []*world{without, with} {
					began := time.Now()
					if resp, _, err := post(b, w.base+"/v1/messages", body); err != nil || resp.StatusCode != http.StatusOK {
						b.Fatal(resp, err)
					}
					took[w] = append(took[w], time.Since(began))
				}
			}
			median := func(all []time.Duration) time.Duration { slices.Sort(all); return all[len(all)/2] }
			b.ReportMetric(float64(median(took[with]))/float64(median(took[without])), "ratio")
			b.ReportMetric(float64(median(took[with]).Microseconds()), "µs/with")
		})
	}
}

// reading is a Rewriter that only reads requests.
type reading struct{}

func (reading) Rewrite(_ context.Context, o gateway.Outgoing) gateway.Rewritten {
	q, _ := o.Codec.Request(o.Call)
	return gateway.Rewritten{Request: &wire.Request{Model: q.Model, Items: q.Items, Purpose: wire.PurposeMain}, Size: int64(len(o.Call.Body) / 4)}
}
