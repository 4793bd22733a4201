package recording

import (
	"context"
	"slices"
	"time"

	"orchestrator/thread"
)

// Poll records the responses that were added to the transcript.
func (r *Recorder) Poll(ctx context.Context) {
	t := r.live.Thread()
	agent, err := r.cfg.Agents.Agent(t.Agent)
	if err != nil {
		return
	}
	reader, ok := agent.(thread.UsageReader)
	if !ok {
		return
	}
	r.Load(ctx)
	chunks := r.peek(ctx, "", time.Time{})
	if len(chunks) == 0 {
		return
	}
	exchanges, err := reader.ReadUsage(chunks)
	if err != nil {
		r.cfg.Log.Warn("read usage from the transcript", "thread", string(r.id), "err", err)
	}
	if !slices.ContainsFunc(exchanges, func(e thread.Exchange) bool { return e.Main }) {
		return // read again once there is an answer to store it with
	}
	read := time.Now()
	for _, e := range exchanges {
		r.complete(&e)
		requests := r.reports.Read(e)
		if e.Main {
			r.answer(ctx, arrival{Exchange: e, requests: requests, direct: true, chunks: chunks, read: read})
			chunks = nil // stored with the first
		}
	}
}

// complete fills in what the transcript lacks about a response: the model's window and the price.
func (r *Recorder) complete(e *thread.Exchange) {
	known := r.cfg.Models
	if known == nil {
		return
	}
	if e.Window == 0 {
		e.Window = known.Window(e.Model, e.Usage.Context(), r.live.Windows())
	}
	if !e.Usage.Priced {
		e.Usage.CostUSD, e.Usage.Priced = known.Cost(e.Model, e.Usage)
	}
}
