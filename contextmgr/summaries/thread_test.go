package summaries

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"orchestrator/contextmgr/gateway"
	"orchestrator/contextmgr/masks"
	"orchestrator/contextmgr/summary"
	"orchestrator/contextmgr/wire"
	"orchestrator/thread"
)

// talk is a conversation in a state.
type talk struct {
	sync.Mutex
	state State
}

func (t *talk) State() State                                         { return t.state }
func (t *talk) Sent(gateway.Outgoing, wire.Scanner, *wire.Scan) Sent { panic("nothing is planned") }

type nobody struct{}

func (nobody) Write(context.Context, summary.Draft) (summary.Written, error) {
	return summary.Written{}, nil
}

// TestAllow: a summary is refused in words that say what to do.
func TestAllow(t *testing.T) {
	all := Settings{Model: nobody{}, Program: nobody{}}
	safe := State{Mode: thread.MaskSafe}
	for _, tt := range []struct {
		state State
		how   Settings
		by    thread.SummaryAuthor
		want  string // "" if it is allowed
	}{
		{safe, all, thread.ByModel, ""},
		{State{Mode: thread.MaskLean}, all, thread.ByProgram, ""},
		{State{Mode: thread.MaskObserve, Why: "as configured"}, all, thread.ByExtract, "mode observe (as configured)"},
		{State{Mode: thread.MaskOff}, all, thread.ByModel, "mode off"},
		{safe, Settings{}, thread.ByExtract, ""},
		{safe, Settings{}, thread.ByModel, "no model"},
		{safe, Settings{Model: nobody{}}, thread.ByProgram, "no program"},
		{safe, all, "oracle", `"oracle" does not`},
		{safe, all, thread.ByNobody, `"" does not`},
		{State{Mode: thread.MaskSafe, Login: true}, all, thread.ByModel, "needs consent"},
		{State{Mode: thread.MaskSafe, Login: true}, all, thread.ByExtract, ""},
		{State{Mode: thread.MaskSafe, Login: true}, all, thread.ByProgram, ""},
		{State{Mode: thread.MaskSafe, Login: true}, Settings{Model: nobody{}, Login: true}, thread.ByModel, ""},
	} {
		err := New("t1", &talk{state: tt.state}).allow(tt.how, tt.by)
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s in %+v: %v, want %q", tt.by, tt.state, err, tt.want)
		}
	}
}

// TestStand: what the first request with a summary costs is counted once, and again for another one.
func TestStand(t *testing.T) {
	s := New("t1", &talk{})
	at := func(text string) Place { return Place{From: 1, To: 3, Summary: masks.Summary{Text: text}} }
	for i, tt := range []struct {
		place Place
		other bool
	}{{Place{}, false}, {at("a"), true}, {at("a"), false}, {at("b"), true}, {Place{}, false}, {at("b"), true}} {
		if got := s.Stand(tt.place); got != tt.other {
			t.Errorf("request %d: another summary stands: %v", i, got)
		}
	}
}

// TestBill: what authors cost is charged once, also for what is not used, and until then the thread is not forgotten.
func TestBill(t *testing.T) {
	s := New("t1", &talk{})
	no := errors.New("it invents files")
	for _, usd := range []float64{0.5, 0.25} {
		if _, err := s.written(plan{}, "", summary.Written{CostUSD: usd}, no); !errors.Is(err, no) {
			t.Error(err)
		}
	}
	if !s.Pending() || s.Bill() != 0.75 || s.Bill() != 0 || s.Pending() {
		t.Error("what two summaries cost is not charged once")
	}
	if s.writing = true; !s.Pending() {
		t.Error("a thread of which a summary is being written may be forgotten")
	}
}
