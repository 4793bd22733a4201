// Package base tells what an agent sends before a word is said: of the first main request of each of its processes it
// counts the maker's prompt, the definitions of its own tools by name and those of MCP servers, files of instructions,
// lists and surroundings, the prompt apart.
//
// It guarantees:
//
//   - No request waits for it, is changed or fails because of it: it looks beside the request, at one at a time, and what
//     goes wrong is logged.
//
//   - Only requests of the conversation count, and once one of a process was answered no other of it is looked at.
//
//   - Parts are told apart by the agent's own package. Together they have the tokens of all texts and tools of the request
//     but the prompt and what was said before, in each format; what is not known is of kind system or other.
//
//   - Nothing of a text is kept but names, paths and counts. They are kept until the thread is removed, and are bounded.
package base

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"orchestrator/contextmgr/gateway"
	"orchestrator/contextmgr/wire"
	"orchestrator/thread"
)

// Watcher looks at the requests of all threads on their way to what rewrites them.
type Watcher struct {
	cfg Config

	one     sync.Mutex // held by the one look that is taken
	storing sync.Mutex // held while something is kept or removed
	mu      sync.Mutex // guards the rest
	of      map[thread.ID]*state
}

var _ gateway.Keeper = (*Watcher)(nil)

// mostTries is how many requests of a process are looked at if none of them is answered.
const mostTries = 3

// state is what is known of a thread's process.
type state struct {
	process int  // its number
	looking bool // at a request that is on its way
	done    bool
	tries   int
	tokens  int64 // of the base, 0 if they are not known
	gone    bool  // the thread was removed
}

// New returns a watcher.
func New(cfg Config) *Watcher { return &Watcher{cfg: cfg, of: map[thread.ID]*state{}} }

// First returns what is known of a thread's first request, nil if none was seen.
func (w *Watcher) First(id thread.ID) (*First, error) { return stored(w.cfg.Store, id) }

// Rest implements gateway.Keeper.
func (w *Watcher) Rest(id thread.ID) {
	w.mu.Lock()
	if s := w.of[id]; s != nil {
		*s = state{process: s.process + 1}
	}
	w.mu.Unlock()
	if k, ok := w.cfg.Rewriter.(gateway.Keeper); ok {
		k.Rest(id)
	}
}

// Forget implements gateway.Keeper.
func (w *Watcher) Forget(id thread.ID) {
	if k, ok := w.cfg.Rewriter.(gateway.Keeper); ok {
		k.Forget(id)
	}
	w.storing.Lock()
	defer w.storing.Unlock()
	w.mu.Lock()
	if s := w.of[id]; s != nil {
		s.gone = true
		delete(w.of, id)
	}
	w.mu.Unlock()
	if err := w.cfg.Store.Drop(id); err != nil {
		w.cfg.Log.Warn("remove what an agent sent first", "thread", string(id), "err", err)
	}
}

// Rewrite implements gateway.Rewriter.
func (w *Watcher) Rewrite(ctx context.Context, o gateway.Outgoing) gateway.Rewritten {
	out := w.cfg.Rewriter.Rewrite(ctx, o)
	if out.Refusal != "" || out.Request != nil && out.Request.Purpose != wire.PurposeMain {
		return out
	}
	s, process, first := w.claim(o.Thread)
	ended, tell := out.Ended, func(e *thread.Exchange) { e.Base = w.tokens(s) }
	if first {
		found := make(chan *First, 1)
		go func() { found <- w.look(o, out.Request) }()
		tell = func(e *thread.Exchange) {
			if f := <-found; w.ended(s, process, f, e) {
				w.keep(o.Thread, s, f)
			}
			e.Base = w.tokens(s)
		}
	}
	out.Ended = func(e *thread.Exchange) {
		defer tell(e) // whatever the other does
		if ended != nil {
			ended(e)
		}
	}
	return out
}

// tokens returns the tokens of the base of a thread's process, 0 if they are not known.
func (w *Watcher) tokens(s *state) int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return s.tokens
}

// claim returns the state of a thread that sends a request, and its process; first is set if the request is to be looked
// at.
func (w *Watcher) claim(id thread.ID) (s *state, process int, first bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if s = w.of[id]; s == nil {
		s = &state{}
		w.of[id] = s
	}
	first = !s.done && !s.looking
	s.looking = s.looking || first
	return s, s.process, first
}

// look looks at a request, nil if it is not one of the conversation.
func (w *Watcher) look(o gateway.Outgoing, q *wire.Request) (found *First) {
	defer func() {
		if p := recover(); p != nil {
			w.cfg.Log.Error("looking at a first request panicked", "wire", o.Codec.Wire(), "type", fmt.Sprintf("%T", p))
			found = nil
		}
	}()
	w.one.Lock()
	defer w.one.Unlock()
	if q == nil { // nobody has read it
		read, err := o.Codec.Request(o.Call)
		if err != nil || read.Purpose != wire.PurposeMain {
			return nil
		}
		q = &read
	}
	return w.cfg.first(o.Thread, *q, o.Call.Body)
}

// ended corrects what was found in a request by how the provider answered it, and reports whether it is to be kept.
func (w *Watcher) ended(s *state, process int, f *First, e *thread.Exchange) bool {
	if f != nil {
		f.correct(w.cfg.Factor(f.Model), counted(e))
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if s.process != process { // it has ended
		return f != nil && counted(e) > 0
	}
	s.looking = false
	if f == nil {
		return false
	}
	s.tries++
	s.done = counted(e) > 0 || s.tries >= mostTries
	s.tokens, _ = f.Corrected()
	return true
}

// counted returns how many tokens of input the provider counted, 0 if it did not answer.
func counted(e *thread.Exchange) int64 {
	if e.Status >= 300 {
		return 0
	}
	return e.Usage.Input + e.Usage.CacheRead + e.Usage.CacheWrite
}

// keep keeps what was found.
func (w *Watcher) keep(id thread.ID, s *state, f *First) {
	text, err := json.Marshal(f)
	w.storing.Lock()
	defer w.storing.Unlock()
	w.mu.Lock()
	gone := s.gone
	w.mu.Unlock()
	if err == nil && !gone {
		err = w.cfg.Store.Keep(id, text)
	}
	if err != nil {
		w.cfg.Log.Warn("keep what an agent sent first", "thread", string(id), "err", err)
	}
}
