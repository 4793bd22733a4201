package hub

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"orchestrator/mcpctl/manifest"
	"orchestrator/mcpctl/process"
	"orchestrator/thread"
)

const (
	minBackoff = time.Second
	maxBackoff = time.Minute
	// jitterShare is by how much of itself a delay varies.
	jitterShare = 0.2
	// A server that fails maxFailures times, or ends maxEnds times, in budgetTime is left alone for slowRetry.
	maxFailures = 5
	maxEnds     = 30
	budgetTime  = 5 * time.Minute
	slowRetry   = 5 * time.Minute
	// healthyLife is how long a server has to live that has answered no call, for its end not to count as a failure.
	healthyLife = 10 * time.Second
	// askAgain is how long a server is left alone that needs a person.
	askAgain = time.Second
	// logShown is how many lines of the log a transition shows.
	logShown = 20
)

// key identifies a backend.
type key struct {
	hash   string
	thread thread.ID // empty if it is shared
}

// backend is a server that has been used: running, or to be started again.
type backend struct {
	*env
	key key
	id  string // in errors
	dir string
	log *process.Log

	mu       sync.Mutex // guards the fields below; held for moments
	server   Server
	status   Status
	reason   string
	session  *session
	attempt  *attempt // to start it, under way
	refused  error    // why it was not started, if only a person can change that
	closed   bool     // it is never started again
	starts   int
	calls    int
	lastCall time.Time
	lastTook time.Duration

	wasReady bool
	fails    int         // since it was last well: how long it is left alone
	failures []time.Time // the latest
	ends     []time.Time // the latest, whether it was well or not
	spent    bool        // it has failed too often
	next     time.Time   // it is not started before
}

// attempt is a start that is under way.
type attempt struct {
	cancel context.CancelFunc
	done   chan struct{}
	err    error // valid then
}

func newBackend(e *env, k key, s Server, dir string) *backend {
	return &backend{env: e, key: k, id: s.ID, dir: dir, log: &process.Log{}, server: s, status: Cold}
}

// idleStop is after what time without a call the server is stopped.
func (b *backend) idleStop() time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch d := b.server.Definition.Options.IdleStop; {
	case d > 0:
		return d
	case b.key.thread == "":
		return b.config.Times.IdleProject
	default:
		return b.config.Times.IdleThread
	}
}

// callTimeout is how long the server may be silent during a call. Callers hold mu.
func (b *backend) callTimeout() time.Duration {
	if d := b.server.Definition.Options.CallTimeout; d > 0 {
		return d
	}
	return b.config.Times.Call
}

// startTimeout is how long a start may take. Callers hold mu.
func (b *backend) startTimeout() time.Duration {
	if d := b.server.Definition.Options.StartTimeout; d > 0 {
		return d
	}
	switch filepath.Base(b.server.Definition.Command) {
	case "npx", "uvx":
		if !b.wasReady {
			return b.config.Times.FirstStart
		}
	}
	return b.config.Times.Start
}

// become changes the status and tells. Callers hold mu.
func (b *backend) become(status Status, reason string) {
	if b.status == status && b.reason == reason {
		return
	}
	b.status, b.reason = status, reason
	state := b.state()
	if reason != "" {
		lines := b.log.Lines()
		state.Log = lines[max(0, len(lines)-logShown):]
	}
	b.post(func() { b.config.Event(state) })
}

// state returns what the panel shows. Callers hold mu.
func (b *backend) state() State {
	s := State{
		Hash: b.key.hash, Thread: b.key.thread, Status: b.status, Reason: b.reason,
		Starts: b.starts, Calls: b.calls, LastCall: b.lastCall, LastTook: b.lastTook,
	}
	if b.session != nil {
		s.PID, s.InFlight = b.session.pid(), b.session.inFlight()
	}
	if b.next.After(b.config.Clock.Now()) {
		s.Next = b.next
	}
	return s
}

// refresh makes the status that of a running server.
func (b *backend) refresh() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.session == nil || b.status == Degraded {
		return
	}
	if b.session.inFlight() > 0 {
		b.become(Busy, "")
	} else {
		b.become(Ready, "")
	}
}

// answered notes a response: the server is well.
func (b *backend) answered(took time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.calls++
	b.lastCall, b.lastTook = b.config.Clock.Now(), took
	b.well()
	if b.session != nil && b.status == Degraded {
		b.become(Ready, "")
	}
}

// well forgets failures. Callers hold mu.
func (b *backend) well() { b.fails, b.failures, b.spent = 0, nil, false }

// recent returns those of some times that count for the budget, and now.
func (b *backend) recent(times []time.Time) []time.Time {
	now := b.config.Clock.Now()
	for len(times) > 0 && now.Sub(times[0]) >= budgetTime {
		times = times[1:]
	}
	return append(times, now)
}

// fail notes that the server could not be started or ended before it was of use. Callers hold mu.
func (b *backend) fail(reason string) {
	b.failures = b.recent(b.failures)
	if b.spent || len(b.failures) >= maxFailures {
		b.giveUp(reason)
		return
	}
	delay := min(minBackoff<<min(b.fails, 10), maxBackoff)
	delay += time.Duration(float64(delay) * jitterShare * b.config.Jitter())
	b.fails++
	b.next = b.config.Clock.Now().Add(delay)
	b.become(Backoff, reason)
}

// giveUp leaves the server alone for a long time. Callers hold mu.
func (b *backend) giveUp(reason string) {
	b.spent = true
	b.next = b.config.Clock.Now().Add(slowRetry)
	b.become(Failed, reason)
}

// refuse notes that only a person can change that the server is not started. It returns false if that is not so. Callers
// hold mu.
func (b *backend) refuse(err error) bool {
	for _, r := range []struct {
		err    error
		status Status
	}{
		{ErrUnapproved, Unapproved}, {ErrNeedsInput, NeedsInput}, {ErrQuarantined, Quarantined}, {ErrNeedsAuth, NeedsAuth},
	} {
		if errors.Is(err, r.err) {
			b.refused = err
			b.next = time.Time{}
			if r.status == NeedsAuth { // asking costs the server something
				b.next = b.config.Clock.Now().Add(askAgain)
			}
			b.become(r.status, err.Error())
			return true
		}
	}
	return false
}

// cannot notes that there is nothing to start. A person may change that at any time. Callers hold mu.
func (b *backend) cannot(err error) {
	b.refused = err
	b.next = b.config.Clock.Now().Add(askAgain)
	b.become(Failed, err.Error())
}

// lost notes that a session has ended.
func (b *backend) lost(s *session) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.session != s {
		return
	}
	b.session = nil
	s.mu.Lock()
	why, wanted, answered := s.why, s.wanted, s.answered
	s.mu.Unlock()
	if wanted {
		b.become(Cold, why)
		return
	}
	if answered == 0 && b.config.Clock.Now().Sub(s.began) < healthyLife {
		b.fail(why)
		return
	}
	b.well()
	if b.ends = b.recent(b.ends); len(b.ends) >= maxEnds {
		b.giveUp(why)
		return
	}
	b.next = time.Time{}
	b.become(Cold, why)
}

// down is the error of a caller that does not wait any longer. Callers hold mu.
func (b *backend) down() error {
	now := b.config.Clock.Now()
	reason := b.reason
	if reason == "" {
		reason = "it did not start in time"
	}
	next := ""
	if wait := b.next.Sub(now); wait > 0 {
		next = fmt.Sprintf("; it is started again in %v at the earliest", wait.Round(time.Second))
	}
	return fmt.Errorf("%s: %w: %s%s", b.id, ErrDown, reason, next)
}

// learn keeps what the server offers, and tells if that is new.
func (b *backend) learn(m manifest.Manifest) {
	if old, ok := b.config.Manifests.Get(m.Hash); ok && old.Same(m) {
		return
	}
	if err := b.config.Manifests.Put(m); err != nil {
		b.log.Add([]byte("its lists are not kept: " + err.Error()))
	}
	b.post(func() { b.config.Changed(m.Hash) })
}
