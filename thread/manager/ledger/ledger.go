package ledger

import (
	"cmp"
	"context"
	"log/slog"
	"sync"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/work"
)

// Config is what a Ledger works with.
type Config struct {
	Store Store // nil if nothing is recorded
	Log   *slog.Logger
	Now   func() time.Time
	// Context is that of writes; Closing ends when the server stops. Begin counts a goroutine in, unless it is too late,
	// and Done out.
	Context, Closing context.Context
	Begin            func() bool
	Done             func()
	File             string // keeps what the store refuses; "" for none
	// Host, User and Server are written into each row.
	Host, User, Server string
	// Ended is called with each row that is stored with its end, maybe again; nil for none. It must not block.
	Ended func(work.Execution)
}

// Ledger records processes in terminals, and sub-agents. Its methods are safe for concurrent use; a nil one records nothing.
type Ledger struct {
	c     Config
	queue queue

	mu        sync.Mutex // guards the fields below; taken before that of the queue
	processes map[thread.ID]*process
	resting   map[*native]bool // those whose last answer may have been their final one
	settling  bool
}

// New returns a ledger, nil without a store.
func New(c Config) *Ledger {
	if c.Store == nil {
		return nil
	}
	return &Ledger{c: c, processes: map[thread.ID]*process{}, resting: map[*native]bool{}, queue: queue{
		store: c.Store, log: c.Log, ctx: c.Context, begin: c.Begin, done: c.Done, closing: c.Closing, ended: c.Ended,
		kept: kept{c.File, c.Log}, waiting: map[work.ID]*item{}, lost: map[work.ID]bool{}, did: make(chan struct{}), wake: make(chan struct{}, 1),
	}}
}

// here is where rows are written down.
func (l *Ledger) here() work.Execution {
	return work.Execution{Host: l.c.Host, User: l.c.User, Server: l.c.Server}
}

// beginWait is how long the start of a process waits for its row at most.
const beginWait = time.Second

// Begin records a process that is about to start.
func (l *Ledger) Begin(p Process) {
	if l == nil {
		return
	}
	l.mu.Lock()
	x := newProcess(p, l.here())
	l.processes[p.Thread.ID] = x
	if !x.terminal {
		l.mu.Unlock()
		return
	}
	given := x.asked(p.Prompt)
	l.queue.put(item{Row: x.row, New: true, Given: given})
	l.mu.Unlock()
	l.queue.settled(x.row.ID, beginWait)
}

// with calls do with the process of a thread, if it has had one.
func (l *Ledger) with(id thread.ID, do func(p *process)) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if p := l.processes[id]; p != nil {
		do(p)
	}
}

// Asked records the first prompt of a process in a terminal.
func (l *Ledger) Asked(id thread.ID, prompt string) {
	l.with(id, func(p *process) {
		if given := p.asked(prompt); given != "" && !p.over {
			l.queue.put(item{Row: p.row, Given: given})
		}
	})
}

// Began takes a request in progress.
func (l *Ledger) Began(id thread.ID, b thread.Begun) {
	if b.Main || b.Sub.Key == "" {
		return
	}
	l.with(id, func(p *process) {
		n, made := l.native(p, p.keyed(b.Sub, true), b.At)
		if n == nil {
			return
		}
		n.began(b.Model)
		given := p.place(n, b.Sub, b.Prompt)
		if made || given != "" {
			l.queue.put(item{Row: n.row, New: made, Given: given})
		}
	})
}

// native returns a sub-agent of a process, nil if there are too many.
func (l *Ledger) native(p *process, key string, at time.Time) (n *native, made bool) {
	n, made, full := p.native(key, at)
	if full {
		l.queue.put(item{Row: p.row, Note: true, Notes: []string{tooMany()}})
	}
	return n, made
}

// Exchange takes a request that has ended.
func (l *Ledger) Exchange(id thread.ID, e thread.Exchange) {
	l.with(id, func(p *process) {
		p.used(e)
		switch {
		case e.Main:
			l.main(p, e)
		case e.Sub.Key != "":
			l.side(p, e)
		}
	})
}

// main takes an answer of the conversation. What it says is stored at the end of a turn.
func (l *Ledger) main(p *process, e thread.Exchange) {
	p.hands(p.row.ID, e)
	if !p.terminal || e.Answer == nil {
		return
	}
	p.row.Model = cmp.Or(word(e.Model), p.row.Model)
	if e.Text == "" || len(e.Tools) > 0 || e.Interrupted {
		return
	}
	p.said = whole(e.Text)
	p.row.Answer = thread.Excerpt(p.said)
	if !p.over {
		l.queue.put(item{Row: p.row})
	}
}

// side takes an answer to a sub-agent.
func (l *Ledger) side(p *process, e thread.Exchange) {
	n, made := l.native(p, p.keyed(e.Sub, false), e.Started)
	if n == nil {
		return
	}
	if e.Sub.Told && n.seen {
		return // what we saw of it counts
	}
	given := p.place(n, e.Sub, e.Prompt)
	n.ended(e, len(e.Tools) > 0)
	if c := p.hands(n.row.ID, e); c.Ends { // unless it is refused: then it asks again
		n.says(c.Said)
		n.rests = e.Ended
	}
	said := ""
	if n.row.State.Final() && !n.rests.IsZero() { // it went on after its end
		said = n.final()
	}
	l.queue.put(item{Row: n.row, New: made, Given: given, Said: said})
	switch {
	case p.over:
		l.forget(p)
	case !n.rests.IsZero() && !n.row.State.Final():
		l.resting[n] = true
		l.settle()
	}
}

// forget forgets of a process that is over what nothing comes for any more. mu is held.
func (l *Ledger) forget(p *process) {
	for key, n := range p.natives {
		if n.open == 0 {
			delete(p.natives, key)
			delete(l.resting, n)
		}
	}
	if id := p.row.Thread; len(p.natives) == 0 && l.processes[id] == p {
		delete(l.processes, id)
	}
}

// settleAfter is how long a sub-agent asks nothing after an answer without calls before that was its final one.
const settleAfter = 3 * time.Second

// settle looks at the sub-agents after a while. mu is held.
func (l *Ledger) settle() {
	if l.settling || !l.c.Begin() {
		return
	}
	l.settling = true
	go func() {
		defer l.c.Done()
		t := time.NewTimer(settleAfter)
		defer t.Stop()
		select {
		case <-t.C:
		case <-l.c.Closing.Done(): // the end of their processes says what becomes of them
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		l.settling = false
		if l.c.Closing.Err() == nil && l.rest(l.c.Now()) {
			l.settle()
		}
	}()
}

// rest ends the sub-agents that rest long enough. It reports whether others may soon. mu is held.
func (l *Ledger) rest(now time.Time) (more bool) {
	for n := range l.resting {
		switch {
		case n.rests.IsZero() || n.open > 0 || n.row.State.Final(): // its next answer may put it here again
			delete(l.resting, n)
		case now.Sub(n.rests) < settleAfter && now.After(n.rests):
			more = true
		default:
			delete(l.resting, n)
			n.end(work.Completed, "", n.rests)
			l.queue.put(item{Row: n.row, Said: n.final()})
		}
	}
	return more
}

// Hook takes what a hook reports of a sub-agent.
func (l *Ledger) Hook(id thread.ID, r thread.SubReport) {
	if r.Key == "" {
		return
	}
	l.with(id, func(p *process) {
		now := l.c.Now()
		n, made := l.native(p, r.Key, now)
		if n == nil {
			return
		}
		was, given, said := n.row, "", ""
		if n.seen {
			n.named(r.Type, "")
		} else {
			given = p.place(n, thread.SubAgent{Key: r.Key, Type: r.Type}, "")
		}
		if r.Ended && !n.row.State.Final() {
			if n.said == "" {
				n.says(r.Said)
			}
			said = n.final()
			if said == "" && n.failed != "" {
				n.over(work.Failed, "", now)
			} else {
				n.end(work.Completed, "", now)
			}
		}
		if made || given != "" || n.row != was {
			l.queue.put(item{Row: n.row, New: made, Given: given, Said: said})
		}
	})
}

// Files records the commits with the files of a process in a terminal, as they were at its start and its end; "" for what is
// not known.
func (l *Ledger) Files(id thread.ExecutionID, of thread.ID, base, result string) {
	l.with(of, func(p *process) {
		if p.id != id || !p.terminal {
			return
		}
		p.row.Base, p.row.Result = cmp.Or(base, p.row.Base), cmp.Or(result, p.row.Result)
		if !p.over {
			l.queue.put(item{Row: p.row})
		}
	})
}

// End records the end of a process. Asked is set if we ended it.
func (l *Ledger) End(id thread.ExecutionID, of thread.ID, exit thread.Exit, asked bool) {
	l.with(of, func(p *process) {
		if p.id != id || p.over {
			return
		}
		p.over = true
		now := l.c.Now()
		state, why := work.Lost, "the process of its agent ended while it worked"
		if asked {
			state, why = work.Cancelled, "its agent was stopped"
		}
		for _, n := range p.natives {
			if !n.row.State.Final() {
				n.over(state, why, now)
				l.queue.put(item{Row: n.row, Said: n.final()})
			}
		}
		p.handed = handed{}
		defer l.forget(p)
		if !p.terminal {
			return
		}
		p.row.State, p.row.Reason = outcome(exit, asked)
		p.row.Ended = now
		if now.Before(p.row.Started) {
			p.row.Ended = p.row.Started
		}
		l.queue.put(item{Row: p.row, Said: p.said})
		p.said = ""
	})
}
