package hub

import (
	"context"
	"errors"
	"fmt"
	"time"

	"orchestrator/thread/ground/rpc"
)

const (
	// maxMisses is how many probes in a row a server may leave without an answer.
	maxMisses = 3
	// listPause is the time between two readings of the lists.
	listPause = time.Second
)

var errNoAnswer = errors.New("no answer")

// watch probes a session while nobody calls it, and ends it if it does not answer or has not been called for long. A
// server that is busy is left alone: a call that is not answered ends it by itself.
func (b *backend) watch(s *session) {
	idleStop := b.idleStop()
	misses := 0
	for {
		wait := min(b.config.Times.Probe, idleStop)
		if idle, free := s.idle(); free {
			wait = max(min(wait, idleStop-idle), 0)
		}
		select {
		case <-s.ended:
			return
		case <-b.config.Clock.After(wait):
		}
		idle, free := s.idle()
		switch {
		case !free:
			misses = 0
			continue
		case idle >= idleStop:
			s.end(fmt.Sprintf("it was stopped: nobody has called it for %v", idleStop), true, false)
			return
		case idle < b.config.Times.Probe:
			continue
		}
		if b.probe(s) {
			misses = 0
			b.recovered(s)
			continue
		}
		if idle, free := s.idle(); !free || idle < b.config.Times.Probe {
			continue // it was called meanwhile, and may be busy with that
		}
		misses++
		if misses >= maxMisses {
			s.end(fmt.Sprintf("it did not answer %d probes", misses), false, true)
			return
		}
		b.degraded(s, misses)
	}
}

// probe reports whether the server answers. Any answer will do.
func (b *backend) probe(s *session) bool {
	ctx, cancel := withTimeout(b.ctx, b.config.Clock, b.config.Times.ProbeAnswer, errNoAnswer)
	defer cancel()
	method := "ping"
	if s.meta != nil {
		method = "server/discover"
	}
	got := make(chan error, 1)
	go func() { // it can be stuck while it writes
		_, err := s.ask(ctx, method, nil)
		got <- err
	}()
	select {
	case err := <-got:
		var refused *rpc.Error
		return err == nil || errors.As(err, &refused)
	case <-ctx.Done():
		return false
	}
}

func (b *backend) degraded(s *session, misses int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.session == s {
		b.become(Degraded, fmt.Sprintf("it has not answered %d of %d probes", misses, maxMisses))
	}
}

func (b *backend) recovered(s *session) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.session == s && b.status == Degraded {
		b.become(Ready, "")
	}
}

// follow reads the lists of a session again when they change.
func (b *backend) follow(s *session) {
	ctx, cancel := context.WithCancel(b.ctx)
	defer cancel()
	if s.meta != nil {
		b.work.Go(func() { s.listen(ctx) })
	}
	for {
		select {
		case <-s.ended:
			return
		case <-s.changed:
		}
		b.list(ctx, s)
		select {
		case <-s.ended:
			return
		case <-b.config.Clock.After(listPause):
		}
	}
}

// list reads the lists of a session. A server that does not answer keeps the lists that are known.
func (b *backend) list(ctx context.Context, s *session) {
	ctx, cancel := withTimeout(ctx, b.config.Clock, b.config.Times.Start, errNoAnswer)
	defer cancel()
	m, err := s.manifest(ctx, b.key.hash)
	if err != nil {
		b.log.Add([]byte("its lists have changed and could not be read: " + err.Error()))
		return
	}
	b.learn(m)
}
