package gateway

import (
	"fmt"
	"io"
	"math"
	"net/http"
	"strconv"
	"sync"
	"time"

	"orchestrator/contextmgr/wire"
	"orchestrator/thread"
)

// Caps bound what agents may use through a gateway. Zero is no bound, except for Bytes.
type Caps struct {
	// RequestsPerMinute bounds each thread's requests; a burst may use a whole minute's at once. It is the
	// setting limits.requests_per_minute.
	RequestsPerMinute int
	// USD bounds what each thread costs over its life, TotalUSD what all threads cost together. What is under
	// way when a bound is reached goes on to its end. Answers of models without a known price do not count.
	// They are the settings limits.usd and limits.total_usd.
	USD, TotalUSD float64
	// Bytes bounds what is held of bodies and answers at once, until they are stored; 0 is 256 MB. A thread may
	// have an eighth of it. It is the setting limits.memory_mb.
	Bytes int64
}

// noticer is an observer that shows people what they should know.
type noticer interface {
	Notice(id thread.ID, level thread.Level, text string)
}

// bucket lets a number of requests a minute through.
type bucket struct {
	mu   sync.Mutex // a leaf
	left float64
	at   time.Time // when left was right
}

// take takes one request out of a bucket that gains n a minute and holds as many. Where none is left it returns
// how long it is until there is one.
func (b *bucket) take(n int, now time.Time) (wait time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.at.IsZero() {
		b.left = float64(n)
	} else if passed := now.Sub(b.at); passed > 0 { // clocks may go back
		b.left = min(float64(n), b.left+passed.Minutes()*float64(n))
	}
	b.at = now
	if b.left < 1 {
		return time.Duration(math.Ceil((1 - b.left) / float64(n) * float64(time.Minute)))
	}
	b.left--
	return 0
}

// purse counts what threads have cost.
type purse struct {
	before func() map[thread.ID]float64 // what they had cost before this gateway
	load   sync.Once

	mu    sync.Mutex // a leaf
	by    map[thread.ID]float64
	total float64
}

// open reads what was spent before. Until then nothing was spent through this gateway.
func (p *purse) open() {
	p.load.Do(func() {
		var by map[thread.ID]float64
		if p.before != nil {
			by = p.before()
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.by == nil {
			p.by = map[thread.ID]float64{}
		}
		for id, usd := range by {
			p.by[id] += usd
			p.total += usd
		}
	})
}

// add counts what an answer cost.
func (p *purse) add(id thread.ID, usd float64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.by == nil {
		p.by = map[thread.ID]float64{}
	}
	p.by[id] += usd
	p.total += usd
}

func (p *purse) spent(id thread.ID) (own, total float64) {
	p.open()
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.by[id], p.total
}

// told notes what people were told of a thread, so that they are not told with every request.
type told struct {
	mu sync.Mutex // a leaf
	at map[string]time.Time
}

// again reports whether something is to be told, at most once in a while; never again where that is 0.
func (t *told) again(what string, now time.Time, while time.Duration) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	last, ok := t.at[what]
	if ok && (while == 0 || now.Sub(last) < while) {
		return false
	}
	if t.at == nil {
		t.at = map[string]time.Time{}
	}
	t.at[what] = now
	return true
}

// notice shows people something about a thread, in order with what else is told of it.
func (g *Gateway) notice(rt *route, level thread.Level, text string) {
	if n, ok := g.observer.(noticer); ok {
		rt.queue.offer(func() { n.Notice(rt.id, level, text) })
	}
}

// capped says why a request may not be sent, "" where it may. 429 asks the agent to wait; on 402 agents show
// the message and do not try again.
func (g *Gateway) capped(rt *route) (status int, message string, wait time.Duration) {
	caps := g.opts.Caps
	if caps.USD > 0 || caps.TotalUSD > 0 {
		own, total := g.purse.spent(rt.id)
		if caps.USD > 0 && own >= caps.USD {
			return http.StatusPaymentRequired, fmt.Sprintf("orchestrator does not send this request: the thread has cost $%.2f, and its cap is $%.2f. "+
				"Raise limits.usd in the configuration, or continue in another thread", own, caps.USD), 0
		}
		if caps.TotalUSD > 0 && total >= caps.TotalUSD {
			return http.StatusPaymentRequired, fmt.Sprintf("orchestrator does not send this request: the project's threads have cost $%.2f, and their cap is $%.2f. "+
				"Raise limits.total_usd in the configuration", total, caps.TotalUSD), 0
		}
	}
	if n := caps.RequestsPerMinute; n > 0 {
		if wait := rt.bucket.take(n, time.Now()); wait > 0 {
			return http.StatusTooManyRequests, fmt.Sprintf("orchestrator does not send this request: the thread's cap of %d requests a minute is reached. "+
				"Wait, or raise limits.requests_per_minute in the configuration", n), wait
		}
	}
	return 0, "", 0
}

// refuseCapped answers a request that a cap forbids, and tells the observer. It reports whether it did.
func (g *Gateway) refuseCapped(w http.ResponseWriter, r *http.Request, rt *route, codec wire.Codec) bool {
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodOptions:
		return false // lists of models and the like
	}
	status, message, wait := g.capped(rt)
	if status == 0 {
		return false
	}
	g.turnAway(w, r, rt, codec, status, message, wait)
	return true
}

// turnAway answers a request that is not sent upstream for a reason of ours, with the time after which it may be
// tried again, and tells the observer and people why.
func (g *Gateway) turnAway(w http.ResponseWriter, r *http.Request, rt *route, codec wire.Codec, status int, message string, wait time.Duration) {
	began := time.Now()
	// Agents read an answer only after they have sent their request.
	rc := http.NewResponseController(w)
	_ = rc.SetReadDeadline(began.Add(g.opts.BodyLimit)) // only a test's writer has none
	_, _ = io.Copy(io.Discard, http.MaxBytesReader(w, r.Body, g.opts.MaxBody))
	_ = rc.SetReadDeadline(time.Time{})
	if wait > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(wait.Seconds()))))
	}
	g.deny(w, codec, status, message)
	rt.queue.offer(func() {
		e := thread.Exchange{Main: true, Started: began, Ended: time.Now(), Status: status, Err: message}
		if wait > 0 {
			e.Until = believed(began.Add(wait), began)
		}
		g.observer.RequestStarted(rt.id, thread.Begun{Main: true, At: began, Again: rt.last.again(nil)})
		rt.last.ended(e)
		g.observer.ExchangeEnded(rt.id, e)
	})
	if rt.told.again(strconv.Itoa(status), began, time.Minute) {
		g.notice(rt, thread.LevelWarn, message)
	}
}

// charge counts what an exchange cost.
func (g *Gateway) charge(rt *route, e thread.Exchange) {
	if e.Usage.Priced {
		g.purse.add(rt.id, e.Usage.CostUSD)
		return
	}
	caps := g.opts.Caps
	used := e.Usage.Input+e.Usage.CacheRead+e.Usage.CacheWrite+e.Usage.Output > 0
	if used && (caps.USD > 0 || caps.TotalUSD > 0) && rt.told.again("price of "+e.Model, time.Now(), 0) {
		g.notice(rt, thread.LevelWarn, fmt.Sprintf("the price of the model %q is not known: what it costs does not count towards the cap in USD", wire.Clip(e.Model, 100)))
	}
}
