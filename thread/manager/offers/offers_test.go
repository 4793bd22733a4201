package offers_test

import (
	"log/slog"
	"testing"

	"orchestrator/checkpoint/checkpointtest/memory"
	"orchestrator/thread"
	"orchestrator/thread/manager/offers"
	"orchestrator/thread/manager/past"
	"orchestrator/thread/manager/recording"
)

func signals() *offers.Signals {
	return offers.NewSignals("t1", past.Reader{Store: memory.New(), Log: slog.New(slog.DiscardHandler)})
}

// turn is the only response of a turn.
func turn(n int, prompt string) recording.Response {
	return recording.Response{
		Exchange: thread.Exchange{Prompt: prompt, Text: "noted", EndsTurn: true},
		First:    true, Turn: n, Began: "before", Head: "head",
	}
}

// TestObserve offers a fork for another approach where the turn began, once in a while, and not for what a fork was
// created for.
func TestObserve(t *testing.T) {
	const another = "let's try another approach: signed cookies"
	s := signals()
	if o, ok := s.Observe(t.Context(), turn(1, "build a login page"), ""); ok {
		t.Errorf("an offer for the first prompt: %+v", o)
	}
	o, ok := s.Observe(t.Context(), turn(2, another), "")
	if !ok || o.At != "before" || o.Prompt != another || o.Thread != "t1" || offers.Full(o) {
		t.Errorf("for another approach: %v, %+v", ok, o)
	}
	if r := offers.Request(o); r.At != "before" || r.Prompt != another || r.Fresh {
		t.Errorf("its fork: %+v", r)
	}
	if o, ok := s.Observe(t.Context(), turn(3, another), ""); ok {
		t.Errorf("the next turn: %+v", o)
	}
	if _, ok := s.Observe(t.Context(), turn(7, another), ""); !ok {
		t.Error("no offer after five turns")
	}
	fork := signals()
	fork.Observe(t.Context(), turn(1, "build a login page"), "before")
	if o, ok := fork.Observe(t.Context(), turn(2, another), "before"); ok {
		t.Errorf("where the thread itself was forked: %+v", o)
	}
}

// TestObserveAFullContext offers a fork that continues after the turn, with a summary only.
func TestObserveAFullContext(t *testing.T) {
	full := turn(1, "go on")
	full.Gauge = thread.Gauge{Tokens: 99, Window: 100}
	o, ok := signals().Observe(t.Context(), full, "")
	if !ok || o.At != "head" || o.Prompt != "" || !offers.Full(o) || !offers.Request(o).Fresh {
		t.Errorf("for a full context: %v, %+v", ok, o)
	}
	full.EndsTurn = false
	if o, ok := signals().Observe(t.Context(), full, ""); ok {
		t.Errorf("in the middle of a turn: %+v", o)
	}
}

func TestLeaves(t *testing.T) {
	s := signals()
	if _, ok := s.Leaves(t.Context(), "", "build a login page"); ok {
		t.Error("the first prompt leaves the thread")
	}
	s.Observe(t.Context(), turn(1, "build a login page"), "")
	o, ok := s.Leaves(t.Context(), "head", "let's try another approach: signed cookies")
	if !ok || o.Label != "signed cookies" {
		t.Errorf("another approach: %v, %+v", ok, o)
	}
}
