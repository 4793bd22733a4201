package manager_test

import (
	"slices"
	"strings"
	"sync"
	"testing/synctest"

	"orchestrator/thread"
)

// log collects events.
type log struct {
	mu   sync.Mutex // guards list
	list []thread.Event
}

func (l *log) read(ch <-chan thread.Event) {
	for e := range ch {
		l.mu.Lock()
		l.list = append(l.list, e)
		l.mu.Unlock()
	}
}

// offers returns the forks that threads were shown to be offered, each once.
func (l *log) offers() []*thread.Offer {
	var all []*thread.Offer
	for _, e := range l.of(thread.EventThread) {
		o := e.Status.Offer
		if o != nil && !slices.ContainsFunc(all, func(p *thread.Offer) bool { return p.ID == o.ID }) {
			all = append(all, o)
		}
	}
	return all
}

// of returns the events of a kind so far.
func (l *log) of(kind thread.EventKind) []thread.Event {
	synctest.Wait()
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []thread.Event
	for _, e := range l.list {
		if e.Kind == kind {
			out = append(out, e)
		}
	}
	return out
}

// notices returns the texts that people were told.
func (l *log) notices() string {
	var out []string
	for _, e := range l.of(thread.EventNotice) {
		out = append(out, e.Notice.Text)
	}
	return strings.Join(out, "\n")
}

// states returns the states a thread showed, one after the other.
func (l *log) states(id thread.ID) string {
	var out []string
	for _, e := range l.of(thread.EventThread) {
		if e.ThreadID != id {
			continue
		}
		if s := string(e.Status.State.State); len(out) == 0 || out[len(out)-1] != s {
			out = append(out, s)
		}
	}
	return strings.Join(out, " ")
}
