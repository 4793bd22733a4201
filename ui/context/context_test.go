package context

import (
	"errors"
	"fmt"
	"testing"

	"orchestrator/thread"
	"orchestrator/ui/intent"
)

// loaded returns a view of a report.
func loaded(t *testing.T, r thread.ContextReport) *Model {
	t.Helper()
	m := New()
	m.Show("t")
	load(t, m, State{}, r)
	return m
}

func load(t *testing.T, m *Model, now State, r thread.ContextReport) {
	t.Helper()
	q, want := m.Want(now)
	if !want {
		t.Fatal("no report is wanted")
	}
	m.Fill(q, r, nil)
}

// reportOf returns a report with n results of 100 tokens.
func reportOf(n int) thread.ContextReport {
	r := thread.ContextReport{Window: 1000, Tokens: 500}
	for i := range n {
		r.Results = append(r.Results, thread.ContextResult{ID: fmt.Sprint("r", i), Tool: "Read", File: fmt.Sprint("f", i), Tokens: 100})
	}
	return r
}

func full(tokens int64) State { return State{Gauge: thread.Gauge{Tokens: tokens}} }

func TestAReportIsWantedOnce(t *testing.T) {
	m := New()
	if _, want := m.Want(full(1)); want {
		t.Error("wanted without a thread")
	}
	m.Show("t")
	q, want := m.Want(full(1))
	if _, again := m.Want(full(2)); !want || again {
		t.Errorf("wanted %v, and again while it is on its way %v", want, again)
	}
	m.Fill(q, reportOf(1), nil)
	if _, again := m.Want(full(1)); again {
		t.Error("wanted again although nothing has changed")
	}
	q, want = m.Want(full(2))
	if !want {
		t.Fatal("not wanted after the gauge has changed")
	}
	m.Fill(q, thread.ContextReport{}, errors.New("broken"))
	if _, again := m.Want(full(2)); again || !m.Failed() || len(m.Report().Results) != 1 {
		t.Errorf("after a failure: again %v, failed %v, shows %d results", again, m.Failed(), len(m.Report().Results))
	}
	if _, want = m.Want(State{Gauge: thread.Gauge{Tokens: 2}, Run: "another"}); !want {
		t.Error("not wanted for another run")
	}
}

// Answers that come in another order than the requests, or for another thread, do not bring back what was before.
func TestOldReportsAreDropped(t *testing.T) {
	m := New()
	m.Show("a")
	stray, _ := m.Want(full(1))
	m.Show("b")
	m.Show("a")
	m.Fill(stray, reportOf(9), nil)
	if m.Known() {
		t.Error("an answer from before the thread was shown again is taken")
	}
	read, _ := m.Want(full(1))
	change := m.Change()
	m.Fill(change, reportOf(2), nil)
	m.Fill(read, reportOf(1), nil)
	if n := len(m.Report().Results); n != 2 {
		t.Errorf("%d results: the report from before a change replaced the one after it", n)
	}
	q, want := m.Want(full(1))
	if !want {
		t.Error("which of two was later is not known, and it is not asked for again")
	}
	m.Fill(q, reportOf(3), nil)
	first, second := m.Change(), m.Change()
	if _, want := m.Want(full(5)); want {
		t.Error("a report is asked for while changes are on their way")
	}
	m.Fill(second, reportOf(5), nil)
	m.Fill(first, reportOf(4), nil)
	if n := len(m.Report().Results); n != 5 {
		t.Errorf("%d results: the answer to an earlier change replaced that to a later one", n)
	}
	if _, want := m.Want(full(1)); !want {
		t.Error("two changes crossed, and the result is not asked for")
	}
	m.Fill(m.Change(), thread.ContextReport{}, errors.New("refused"))
	if m.Failed() || len(m.Report().Results) != 5 {
		t.Error("a refused change has changed what is shown")
	}
}

func TestCursorStays(t *testing.T) {
	m := loaded(t, reportOf(5))
	if got := m.Selected(); got == nil || got.ID != "r4" {
		t.Fatalf("begins at %v", got)
	}
	load(t, m, full(2), reportOf(7))
	if got := m.Selected().ID; got != "r6" {
		t.Errorf("at the end it stays there, but is at %s", got)
	}
	m.Handle(intent.First)
	m.Move(2)
	more := reportOf(9)
	more.Results = more.Results[1:]
	load(t, m, full(3), more)
	if got := m.Selected().ID; got != "r2" {
		t.Errorf("the cursor went from r2 to %s", got)
	}
	load(t, m, full(4), thread.ContextReport{Tokens: 1})
	if got := m.Selected(); got != nil {
		t.Errorf("selects %v of nothing", got)
	}
	m.Move(3)
	m.Handle(intent.PageUp)
}

func TestFilter(t *testing.T) {
	r := reportOf(6)
	r.Results[1].Masked, r.Results[3].Tool, r.Results[4].Kept = true, "Bash", "its turn is still running"
	m := loaded(t, r)
	for text, want := range map[string]string{"bash": "r3", "f5 READ": "r5", "masked": "r1", "turn": "r4", "nothing": ""} {
		m.Search(text)
		got := ""
		if s := m.Selected(); s != nil {
			got = s.ID
		}
		if got != want {
			t.Errorf("%q selects %q, want %q", text, got, want)
		}
	}
	m.Search("bash")
	if !m.Close() || m.Selected().ID != "r3" || m.Close() {
		t.Error("the filter is not left, or is left twice, or the cursor moved")
	}
	m.About()
	if m.Listed() || m.Selected() != nil || m.Handle(intent.Up) {
		t.Error("keys are for a list that is not shown")
	}
	if !m.Close() || !m.Listed() {
		t.Error("the facts are not left")
	}
}

func TestWhatChangesMean(t *testing.T) {
	r := reportOf(5)
	r.Results[1].Masked, r.Results[2].Pinned, r.Results[3].Kept, r.Results[4].Tokens = true, true, "no", -7
	m := loaded(t, r)
	if n, tokens := m.Maskable(); n != 2 || tokens != 100 {
		t.Errorf("%d results with %d tokens can be masked, want 2 with 100", n, tokens)
	}
	if got := m.Later(&r.Results[0]); got != 200 {
		t.Errorf("%d tokens come later, want 200", got)
	}
}
