package manager_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"orchestrator/thread"
)

// gateway routes without carrying anything.
type gateway struct {
	mu                 sync.Mutex // guards the fields
	removed            map[thread.ID]bool
	resting, forgotten []thread.ID
}

func (*gateway) Route(id thread.ID, _ thread.RouteSpec) (string, string, error) {
	return "http://127.0.0.1/t/" + string(id), "http://127.0.0.1/h/" + string(id), nil
}

func (g *gateway) Unroute(id thread.ID) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.removed[id] = true
}

func (g *gateway) Rest(id thread.ID) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.resting = append(g.resting, id)
}

func (g *gateway) Forget(id thread.ID) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.forgotten = append(g.forgotten, id)
}

// sessions starts fake processes.
type sessions struct {
	mu      sync.Mutex // guards the fields
	running []*session
	refuse  error
	deaf    bool                     // what is started takes no prompt
	asks    bool                     // what is started opens a dialog first
	started func(thread.SessionSpec) // sees every start
}

func (s *sessions) Start(_ context.Context, spec thread.SessionSpec) (thread.Session, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.started != nil {
		s.started(spec)
	}
	if s.refuse != nil {
		return nil, s.refuse
	}
	p := &session{spec: spec, deaf: s.deaf, done: make(chan struct{})}
	if s.asks {
		p.state = thread.StateReport{State: thread.StateApproval}
	}
	s.running = append(s.running, p)
	return p, nil
}

// of returns the newest process of a thread.
func (s *sessions) of(id thread.ID) *session {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := len(s.running) - 1; i >= 0; i-- {
		if s.running[i].spec.Thread == id {
			return s.running[i]
		}
	}
	return nil
}

// ignore has what is started from now on take no prompt, or take them.
func (s *sessions) ignore(deaf bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.deaf = deaf
}

// asking has what is started from now on open a dialog first, or not.
func (s *sessions) asking(asks bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asks = asks
}

// forget loses all processes as when their server dies.
func (s *sessions) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running = nil
}

// session is a fake process: its state is the newest evidence it was told.
type session struct {
	spec thread.SessionSpec
	once sync.Once
	done chan struct{}

	mu    sync.Mutex // guards the fields
	state thread.StateReport
	sent  []string
	// chosen are the choices that were answered with
	chosen []int
	open   []thread.Question // what it asks without a terminal, in this order
	said   []string          // texts that it was answered with
	deaf   bool              // Send waits in vain
	typed  string            // in its input
	fails  error             // of Send, which has typed the prompt
	heard  []thread.Evidence
}

func (p *session) PID() int { return 42 }

func (p *session) State() thread.StateReport {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.state
}

func (p *session) Report(e thread.Evidence) {
	p.mu.Lock()
	p.heard = append(p.heard, e)
	p.state = thread.StateReport{State: e.State, Since: e.At, Evidence: []thread.Evidence{e}}
	r := p.state
	p.mu.Unlock()
	p.spec.OnState(r)
}

func (p *session) Send(ctx context.Context, text string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.deaf {
		p.mu.Unlock()
		<-ctx.Done()
		p.mu.Lock()
		return ctx.Err()
	}
	if p.state.State == thread.StateApproval {
		return thread.ErrApproval
	}
	p.sent = append(p.sent, text)
	return p.fails
}

// draft has a text in its input that was not sent.
func (p *session) draft(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.typed = text
}

// Ready implements thread.Readier.
func (p *session) Ready() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.typed != "" {
		return &thread.NotReadyError{Reason: "its input holds something"}
	}
	if _, steers := p.spec.Dialogue.(thread.Steerer); p.spec.Dialogue != nil && len(p.sent) > 0 && !steers {
		return &thread.NotReadyError{Reason: "a run takes one prompt"}
	}
	return nil
}

// ignore has it take no more prompts.
func (p *session) ignore() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.deaf = true
}

// fail has it type prompts and then not send them.
func (p *session) fail(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fails = err
}

func (p *session) prompts() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Join(p.sent, "\n---\n")
}

// Decide decides if the question is the one that is asked.
func (p *session) Decide(_ context.Context, question string, decide func() bool) (bool, error) {
	q := p.State().Question
	return q != nil && q.ID == question && decide(), nil
}

// asks has it ask without a terminal.
func (p *session) asks(q thread.Question) {
	p.mu.Lock()
	p.open = append(p.open, q)
	p.mu.Unlock()
	p.questions()
	p.spec.OnRun(thread.RunEvent{Kind: thread.RunAsks, Question: &q})
}

// withdraw has a question be answered, or withdrawn by its agent; false if it is not open.
func (p *session) withdraw(id, text string, failed bool) bool {
	p.mu.Lock()
	i := slices.IndexFunc(p.open, func(q thread.Question) bool { return q.ID == id })
	if i < 0 {
		p.mu.Unlock()
		return false
	}
	q := p.open[i]
	p.open = slices.Delete(p.open, i, i+1)
	p.mu.Unlock()
	p.questions()
	p.spec.OnRun(thread.RunEvent{Kind: thread.RunAnswered, Question: &q, Text: text, Failed: failed})
	return true
}

// questions tells the state that follows from what it asks.
func (p *session) questions() {
	p.mu.Lock()
	p.state = thread.StateReport{State: thread.StateWorking, Since: time.Now()}
	if len(p.open) > 0 {
		q := p.open[0]
		p.state.State, p.state.Question = q.Kind.State(), &q
	}
	r := p.state
	p.mu.Unlock()
	p.spec.OnState(r)
}

// Reply implements thread.Replier.
func (p *session) Reply(ctx context.Context, question string, choice int, text string) error {
	p.mu.Lock()
	p.said = append(p.said, text)
	p.mu.Unlock()
	return p.Answer(ctx, question, choice)
}

// Answer is chosen at once if the question is the one that is asked.
func (p *session) Answer(_ context.Context, question string, choice int) error {
	p.mu.Lock()
	headless := p.spec.Dialogue != nil
	p.mu.Unlock()
	if headless {
		if !p.withdraw(question, fmt.Sprintf("choice %d", choice+1), false) {
			return thread.ErrRefused
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if headless {
		p.chosen = append(p.chosen, choice)
		return nil
	}
	if p.state.Question == nil || p.state.Question.ID != question {
		return thread.ErrRefused
	}
	p.chosen = append(p.chosen, choice)
	return nil
}

func (p *session) Input([]byte) error    { return nil }
func (p *session) Resize(int, int) error { return nil }
func (p *session) Done() <-chan struct{} { return p.done }
func (p *session) exit(code int) {
	p.once.Do(func() { close(p.done); p.spec.OnExit(thread.Exit{Code: code}) })
}
func (p *session) Stop(context.Context, time.Duration) error {
	p.exit(143)
	return nil
}
