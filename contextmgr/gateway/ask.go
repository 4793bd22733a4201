package gateway

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"orchestrator/contextmgr/wire"
	"orchestrator/thread"
)

// Question is a request that a program makes on a thread's behalf.
type Question struct {
	// Body is complete and uncompressed, in the format of the thread's last main request.
	Body []byte
	// Purpose is how the request is reported; it must not be wire.PurposeMain.
	Purpose wire.Purpose
	// Limit is the largest answer in bytes.
	Limit int64
}

// ErrNoSender means that there is no request to take credentials from.
var ErrNoSender = thread.Kindf(thread.ErrRefused, "the agent has sent no request in the last hour")

// errLong means that an answer is longer than was asked for.
var errLong = errors.New("the answer is too long")

// Ask sends a request where a thread's last main request went, with its header, and returns what came back once it has
// been reported to the observer. The request counts towards the thread's caps and costs.
func (g *Gateway) Ask(ctx context.Context, id thread.ID, q Question) (thread.Exchange, error) {
	if !g.calls.enter() {
		return thread.Exchange{}, errors.New("ask the model: the gateway is closed")
	}
	defer g.calls.Done()
	rt := g.routes.of(id)
	if rt == nil {
		return thread.Exchange{}, thread.Kindf(thread.ErrRefused, "ask the model: the agent is not running")
	}
	from, ok := rt.sender.get()
	if !ok {
		return thread.Exchange{}, fmt.Errorf("ask the model: %w", ErrNoSender)
	}
	if why, _ := g.limiter.capped(rt, 0); why != "" {
		return thread.Exchange{}, fmt.Errorf("ask the model: %w: %s", thread.ErrRefused, why)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(g.asking, func() { cancel(errors.New("the gateway is closed")) })()
	out := outbound(ctx, &http.Request{Method: from.method, Header: from.header}, from.to, q.Body)
	in := seen{body: q.Body, rewritten: Rewritten{Request: &wire.Request{Model: from.model, Purpose: q.Purpose}}}
	var err error
	if in.hold, err = g.limiter.reserve(ctx, rt, from.codec, from.to, from.header, in); err != nil {
		return thread.Exchange{}, fmt.Errorf("ask the model: %w: %w", thread.ErrRefused, err)
	}
	held := g.bodies.memory.hold(&rt.held)
	held.force(int64(len(q.Body)))
	ended := make(chan thread.Exchange, 1)
	in.rewritten.Ended = func(e *thread.Exchange) { ended <- *e }
	o := g.watcher.watch(rt, from.codec, out, in, held)
	defer o.leave()
	err = g.ask(ctx, o.progress.traced(out), o, q.Limit, cancel)
	select {
	case e := <-ended:
		if err == nil && e.Err != "" {
			err = errors.New(e.Err)
		}
		if err != nil {
			return e, fmt.Errorf("ask the model: %w", err)
		}
		return e, nil
	case <-time.After(closeLimit): // whoever observes the thread is stuck
		return thread.Exchange{}, errors.New("ask the model: the answer was not taken")
	}
}

// ask sends the request and has the answer observed.
func (g *Gateway) ask(
	ctx context.Context, out *http.Request, o *observation, limit int64, cancel context.CancelCauseFunc,
) error {
	resp, err := g.upstreams.reach(ctx, o.rt, out)
	if err != nil {
		var cause *unreachableError
		switch {
		case ctx.Err() != nil:
			err = context.Cause(ctx)
		case !errors.As(err, &cause):
			err = &unreachableError{host: out.URL.Host, why: reason(err)}
		}
		o.end(err)
		return err
	}
	defer resp.Body.Close()
	resp.Request = out
	o.begin(resp)
	silence := time.AfterFunc(g.opts.Silence, func() { cancel(errSilence) })
	defer silence.Stop()
	n, err := io.Copy(listener{o, silence, g.opts.Silence}, io.LimitReader(resp.Body, limit+1))
	switch {
	case ctx.Err() != nil:
		err = context.Cause(ctx)
	case err == nil && n > limit:
		err = errLong
	}
	o.end(err)
	return err
}

// listener passes an answer to an observation.
type listener struct {
	o       *observation
	silence *time.Timer
	pause   time.Duration
}

// Write implements io.Writer.
func (l listener) Write(b []byte) (int, error) {
	l.silence.Reset(l.pause)
	l.o.write(b)
	return len(b), nil
}
