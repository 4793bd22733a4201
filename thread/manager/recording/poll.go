package recording

import (
	"context"
	"slices"
	"time"

	"orchestrator/thread"
)

// Poll records the responses that were added to the transcript.
func (r *Recorder) Poll(ctx context.Context) {
	r.poll(ctx, func(thread.Exchange) bool { return true })
}

// Around records the responses that were added to the transcript, from the first one to a prompt on, and reports
// whether there were any: the agent has answered it without the gateway.
func (r *Recorder) Around(ctx context.Context, asks func(said string) bool) bool {
	return r.poll(ctx, func(e thread.Exchange) bool { return e.Prompt != "" && asks(e.Prompt) })
}

// poll records the main responses that were added to the transcript from one on, and the others beside them; it reports
// whether there were any.
func (r *Recorder) poll(ctx context.Context, from func(thread.Exchange) bool) bool {
	t := r.live.Thread()
	agent, err := r.cfg.Agents.Agent(t.Agent)
	if err != nil {
		return false
	}
	reader, ok := agent.(thread.UsageReader)
	if !ok {
		return false
	}
	r.Load(ctx)
	chunks := r.peek(ctx, "", time.Time{})
	if len(chunks) == 0 {
		return false
	}
	exchanges, err := reader.ReadUsage(chunks)
	if err != nil {
		r.cfg.Log.Warn("read usage from the transcript", "thread", string(r.id), "err", err)
	}
	first := slices.IndexFunc(exchanges, func(e thread.Exchange) bool { return e.Main && from(e) })
	if first < 0 {
		return false // read again once there is an answer to store it with
	}
	read := time.Now()
	for i, e := range exchanges {
		if e.Main && i < first {
			continue
		}
		r.complete(&e)
		requests := r.reports.Read(e)
		if e.Main {
			r.answer(ctx, arrival{Exchange: e, requests: requests, direct: true, chunks: chunks, read: read})
			chunks = nil // stored with the first
		}
	}
	return true
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
