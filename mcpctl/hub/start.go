package hub

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"orchestrator/mcpctl/definition"
	"orchestrator/mcpctl/process"
	"orchestrator/thread/secret"
)

// ready returns a running session. It starts the server if it does not run, once for all callers, and waits for that:
// for a first start as long as it takes, for a restart as long as callers wait.
func (b *backend) ready(ctx context.Context) (*session, error) {
	var deadline time.Time
	var patience <-chan time.Time
	for {
		b.mu.Lock()
		if b.closed {
			b.mu.Unlock()
			return nil, ErrClosed
		}
		if s := b.session; s != nil && s.alive() {
			b.mu.Unlock()
			return s, nil
		}
		now := b.config.Clock.Now()
		if patience == nil {
			deadline, patience = now.Add(b.config.Times.Wait), b.config.Clock.After(b.config.Times.Wait)
		}
		var wait <-chan struct{}
		var a *attempt
		later, restart, ending := b.next.Sub(now), b.wasReady, b.session
		switch {
		case ending != nil:
			wait = ending.ended
		case b.attempt != nil:
			a = b.attempt
			wait = a.done
		case later <= 0:
			a = b.begin()
			wait = a.done
		case b.refused != nil:
			err := b.refused
			b.mu.Unlock()
			return nil, err
		case b.next.After(deadline):
			err := b.down()
			b.mu.Unlock()
			return nil, err
		}
		b.mu.Unlock()
		if wait == nil {
			select {
			case <-b.config.Clock.After(later):
			case <-ctx.Done():
				return nil, context.Cause(ctx)
			}
			continue
		}
		limit := patience
		if !restart {
			limit = nil
		}
		select {
		case <-wait:
			if a != nil && a.err != nil && final(a.err) {
				return nil, a.err
			}
			if ending != nil {
				b.lost(ending) // whoever sees it first
			}
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-limit:
			b.mu.Lock()
			defer b.mu.Unlock()
			return nil, b.down()
		}
	}
}

// final reports whether a start fails in the same way if it is tried again.
func final(err error) bool {
	for _, e := range []error{
		ErrUnapproved, ErrNeedsInput, ErrQuarantined, ErrNeedsAuth, ErrClosed, ErrStopped, process.ErrNoProgram,
	} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// begin begins a start. Callers hold mu.
func (b *backend) begin() *attempt {
	ctx, cancel := context.WithCancel(b.ctx)
	a := &attempt{cancel: cancel, done: make(chan struct{})}
	b.attempt, b.refused = a, nil
	b.become(Starting, "")
	b.work.Go(func() {
		defer cancel()
		s, err := b.start(ctx)
		b.mu.Lock()
		b.attempt = nil
		switch {
		case err == nil:
			b.session, b.wasReady = s, true
			b.become(Ready, "")
		case ctx.Err() != nil:
			a.err = fmt.Errorf("%s: %w", b.id, ErrStopped)
			b.become(Cold, ErrStopped.Error())
		default:
			a.err = fmt.Errorf("%s: %w", b.id, err)
			switch {
			case b.refuse(a.err):
			case errors.Is(err, process.ErrNoProgram):
				b.cannot(err)
			default:
				b.fail(err.Error())
			}
			if final(a.err) {
				b.refused = a.err
			}
		}
		b.mu.Unlock()
		if err == nil {
			b.work.Go(func() {
				<-s.ended
				b.lost(s)
			})
			b.work.Go(func() { b.watch(s) })
			b.work.Go(func() { b.follow(s) })
		}
		close(a.done)
	})
	return a
}

// start starts the server when it is its turn, and lists what it offers.
func (b *backend) start(ctx context.Context) (*session, error) {
	select {
	case b.turns <- struct{}{}:
		defer func() { <-b.turns }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	b.mu.Lock()
	server, timeout := b.server, b.startTimeout()
	b.mu.Unlock()
	ctx, cancel := withTimeout(ctx, b.config.Clock, timeout, fmt.Errorf("it did not start in %v", timeout))
	defer cancel()
	launch, environ, err := b.config.Launch(ctx, server, b.key.thread, b.dir)
	if err != nil {
		return nil, fmt.Errorf("launch: %w", err)
	}
	before := b.log.Added()
	s, err := b.open(ctx, launch, environ)
	if err != nil {
		return nil, err
	}
	known, _ := b.config.Manifests.Get(server.Hash)
	err = s.introduce(ctx, b.config.Name, b.config.Version, known.Protocol == modern)
	if err == nil {
		m, listed := s.manifest(ctx, server.Hash)
		if err = listed; err == nil {
			b.learn(m)
			return s, nil
		}
	}
	timed := ctx.Err() != nil
	if timed {
		err = context.Cause(ctx)
	}
	var pending []byte
	if s.program != nil {
		pending = s.program.Pending()
	}
	s.end("", false, timed)
	if b.ctx.Err() != nil || errors.Is(err, ErrNeedsAuth) {
		return nil, err
	}
	if !timed {
		err = fmt.Errorf("%w (%s)", err, s.why)
	}
	if s.program == nil {
		return nil, err
	}
	lines := b.log.Since(before)
	if len(lines) == 0 && len(pending) > 0 {
		b.log.Add(pending)
		lines = b.log.Since(before)
	}
	return nil, fmt.Errorf("%w; %s", err, printed(lines))
}

// maxPrinted is how many characters a reason has of what a program printed.
const maxPrinted = 240

// printed returns what a program printed that is no message: its beginning and its end. Secrets are redacted: a reason is
// shown to agents too.
func printed(lines []string) string {
	text := secret.Redact(strings.Join(strings.Fields(strings.Join(lines, " ")), " "))
	if text == "" {
		return "it printed nothing"
	}
	if all := []rune(text); len(all) > maxPrinted {
		text = string(all[:maxPrinted/3]) + " … " + string(all[len(all)-2*maxPrinted/3:])
	}
	return "it printed: " + text
}

// open starts a program or connects to a remote server.
func (b *backend) open(ctx context.Context, l definition.Launch, environ []string) (*session, error) {
	b.mu.Lock()
	b.starts++
	b.mu.Unlock()
	if l.Transport != definition.Stdio && l.Transport != "" {
		if b.config.Dial == nil {
			return nil, fmt.Errorf("servers by %s are not supported", l.Transport)
		}
		stream, err := b.config.Dial(ctx, l, environ)
		if err != nil {
			return nil, fmt.Errorf("connect: %w", err)
		}
		return newSession(nil, stream, b.config.Clock, b.dir, b.log), nil
	}
	dir := l.Dir
	if dir == "" {
		dir = b.dir
	}
	p, err := b.config.Processes.Start(process.Spec{Command: l.Command, Args: l.Args, Env: environ, Dir: dir, Log: b.log})
	if err != nil {
		return nil, err
	}
	return newSession(p, p.Stream(), b.config.Clock, b.dir, b.log), nil
}

// prewarm starts the server if it does not run and may be started.
func (b *backend) prewarm() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.closed && b.session == nil && b.attempt == nil && !b.next.After(b.config.Clock.Now()) {
		b.begin()
	}
}
