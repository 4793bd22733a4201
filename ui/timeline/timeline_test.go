package timeline

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"orchestrator/thread"
	"orchestrator/ui/intent"
	"orchestrator/ui/layout"
	"orchestrator/ui/theme"

	"github.com/charmbracelet/colorprofile"
)

var epoch = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func cp(th string, n, turn int, kind thread.CheckpointKind) thread.Checkpoint {
	return thread.Checkpoint{
		ID: thread.CheckpointID(fmt.Sprint(th, "-", n)), Thread: thread.ID(th), Seq: int64(n), Turn: turn, Kind: kind,
		Created: epoch.Add(time.Duration(n) * time.Minute),
		Prompt:  fmt.Sprint("prompt ", turn), Answer: fmt.Sprint("answer ", n),
		Usage: thread.Usage{Input: 100, Output: 10, CostUSD: 0.01, Priced: true},
	}
}

func draw(m *Model, w, h int) string {
	var c layout.Canvas
	c.Reset(w, h)
	m.Draw(&c, c.Bounds(), theme.New(colorprofile.ASCII, true), true)
	return c.String()
}

func made(cps ...thread.Checkpoint) *Model {
	m := New(func(id thread.ID) string { return "name-of-" + string(id) })
	m.Show("b")
	m.Want()
	m.Add("b", cps, nil)
	return m
}

func TestGroupsTurns(t *testing.T) {
	m := made(cp("b", 6, 4, thread.KindResponse), cp("b", 5, 3, thread.KindTurn), cp("b", 4, 3, thread.KindResponse),
		cp("b", 7, 3, thread.KindResponse), cp("b", 3, 2, thread.KindRewind),
		cp("a", 2, 2, thread.KindTurn), cp("a", 1, 1, thread.KindTurn))
	m.sort()
	var kinds []string
	for _, r := range m.rows {
		kinds = append(kinds, fmt.Sprint(r.kind, ":", r.cp.Turn, ":", r.responses))
	}
	if got, want := strings.Join(kinds, " "), "0:4:1 0:3:2 2:2:0 3:0:0 0:2:0 0:1:0"; got != want {
		t.Errorf("rows %s, want %s", got, want)
	}
	text := draw(m, 80, 20)
	for _, want := range []string{"forked from name-of-a here", "rewound", "prompt 3", "2×", "$0.03", "30 out"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	m.Select("b-5")
	m.Handle(intent.Unfold)
	if text := draw(m, 80, 20); !strings.Contains(text, "answer 4") {
		t.Errorf("responses are not unfolded:\n%s", text)
	}
	if s := m.Step(3, -1); s == nil || s.Turn != 2 {
		t.Errorf("turn before 3 is %v", s)
	}
	if s := m.Step(4, 1); s != nil {
		t.Errorf("turn after 4 is %v", s)
	}
}

// TestCostsOfTurns: what has no price shows none; only what was free costs $0.00. Both for a turn and for the responses
// that it unfolds to.
func TestCostsOfTurns(t *testing.T) {
	for _, c := range []struct {
		usage thread.Usage
		want  int // prices that show
		price string
	}{
		{thread.Usage{Input: 100, Output: 10}, 0, "$"},
		{thread.Usage{Input: 100, Output: 10, Priced: true}, 2, "$0.00"},
		{thread.Usage{Input: 100, Output: 10, Priced: true, CostUSD: 0.5}, 2, "$0.50"},
	} {
		first, second := cp("b", 1, 1, thread.KindResponse), cp("b", 2, 1, thread.KindResponse)
		first.Usage, second.Usage = c.usage, thread.Usage{}
		m := made(second, first)
		m.sort()
		m.Handle(intent.Unfold)
		text := draw(m, 80, 20)
		if n := strings.Count(text, c.price); n != c.want || !strings.Contains(text, "100 in 10 out") {
			t.Errorf("%+v: %s shows %d times, want %d:\n%s", c.usage, c.price, n, c.want, text)
		}
	}
}

// A fork that has said nothing yet shows where it began; the cursor goes to turns only.
func TestForkWithoutTurns(t *testing.T) {
	m := made(cp("a", 2, 2, thread.KindTurn), cp("a", 1, 1, thread.KindTurn))
	if text := draw(m, 80, 20); !strings.HasPrefix(strings.TrimLeft(text, " \x1b[0123456789;m"),
		"── forked from name-of-a here") {
		t.Errorf("the fork point is not first:\n%s", text)
	}
	for _, move := range []int{0, -1, 1, -1, -5, 5, -5} {
		m.Move(move)
		if s := m.Selected(); s == nil || s.ID == "" {
			t.Fatalf("after %d the cursor is on no checkpoint", move)
		}
	}
	m.Push(cp("b", 3, 3, thread.KindTurn))
	if s := m.Selected(); s == nil || s.Turn != 3 {
		t.Errorf("a new turn is not followed: %+v", s)
	}
	m.Move(1)
	if s := m.Selected(); s == nil || s.Turn != 2 {
		t.Errorf("below the mark is %+v", s)
	}
	m.Move(-1)
	if s := m.Selected(); s == nil || s.Turn != 3 {
		t.Errorf("above the mark is %+v", s)
	}
}

func TestCompare(t *testing.T) {
	m := made(cp("b", 3, 3, thread.KindTurn), cp("b", 2, 2, thread.KindTurn), cp("b", 1, 1, thread.KindTurn))
	if _, _, both := m.Mark(); both {
		t.Error("one is enough")
	}
	if text := draw(m, 80, 20); !strings.Contains(text, "compare") {
		t.Errorf("the mark does not show:\n%s", text)
	}
	if m.Mark(); m.mark != nil {
		t.Error("marked twice is still marked")
	}
	m.Mark()
	m.Move(2)
	from, to, both := m.Mark()
	if !both || from.Turn != 1 || to.Turn != 3 || m.mark != nil {
		t.Errorf("compares %d with %d", from.Turn, to.Turn)
	}
}

func TestPaging(t *testing.T) {
	m := New(func(id thread.ID) string { return string(id) })
	m.Show("a")
	all := []thread.Checkpoint{}
	for n := 350; n > 0; n-- {
		turn := (n + 2) / 3
		if turn > 50 && turn < 90 {
			turn = 50 // one long turn that fills a page
		}
		all = append(all, cp("a", n, turn, thread.KindResponse))
	}
	for rounds := 0; ; rounds++ {
		m.Move(1000)
		p, want := m.Want()
		if !want {
			break
		}
		if _, twice := m.Want(); twice {
			t.Fatal("asks twice for one page")
		}
		var page []thread.Checkpoint
		for _, c := range all {
			if (p.Before == 0 || int64(c.Turn) < p.Before) && len(page) < p.Limit {
				page = append(page, c)
			}
		}
		m.Add("a", page, nil)
		if rounds > 20 {
			t.Fatal("does not come to an end")
		}
	}
	if oldest := m.cps[len(m.cps)-1]; oldest.Turn != 1 {
		t.Errorf("comes down to turn %d only", oldest.Turn)
	}
}

func TestStrangersAndErrors(t *testing.T) {
	m := made(cp("b", 1, 1, thread.KindTurn))
	m.Add("other", []thread.Checkpoint{cp("other", 9, 9, thread.KindTurn)}, nil)
	m.Push(cp("other", 8, 8, thread.KindTurn))
	m.Push(cp("b", 2, 2, thread.KindTurn))
	m.Push(cp("b", 2, 2, thread.KindTurn))
	if len(m.cps) != 2 || m.Selected().Turn != 2 {
		t.Errorf("%d checkpoints, turn %d selected", len(m.cps), m.Selected().Turn)
	}
	m.Show("c")
	m.Want()
	m.Add("c", nil, errors.New("stored data is damaged"))
	if got := draw(m, 60, 5); !strings.Contains(got, "stored data is damaged") {
		t.Errorf("the error does not show:\n%s", got)
	}
}

// Turns that a rewind left behind are listed among the others by their time, can be selected, and are no part of
// the way
// from turn to turn.
func TestTurnsLeftBehind(t *testing.T) {
	m := made(cp("b", 6, 2, thread.KindTurn), cp("b", 5, 1, thread.KindRewind), cp("b", 4, 3, thread.KindSafety),
		cp("b", 1, 1, thread.KindTurn))
	if !m.WantRest(nil) || m.WantRest(nil) {
		t.Error("they are to be asked for once")
	}
	if p := []thread.Prompt{{ID: "p1", State: thread.PromptRefused}}; !m.WantRest(p) || m.WantRest(p) {
		t.Error("another prompt without an answer is to be asked for once")
	}
	left := []thread.Checkpoint{cp("b", 3, 3, thread.KindTurn), cp("b", 2, 2, thread.KindTurn),
		cp("b", 1, 1, thread.KindTurn)}
	left[0].Rewound, left[1].Rewound = true, true
	m.SetRest("other", left)
	m.SetRest("b", left)
	text := draw(m, 80, 20)
	var order []int
	for _, want := range []string{"answer 6", "rewound", "safety checkpoint", "answer 3", "answer 2", "answer 1"} {
		order = append(order, strings.Index(text, want))
	}
	if !slices.IsSorted(order) || order[0] < 0 || strings.Count(text, "rewound · ") != 2 {
		t.Errorf("order %v:\n%s", order, text)
	}
	m.Move(3)
	if got := m.Selected(); got == nil || got.ID != "b-3" {
		t.Errorf("selected %v", got)
	}
	if got := m.Step(1, 1); got == nil || got.ID != "b-6" {
		t.Errorf("after turn 1 comes %v", got)
	}
	m.Mark()
	m.Move(1)
	if from, to, both := m.Mark(); !both || from.ID != "b-2" || to.ID != "b-3" {
		t.Errorf("compares %s with %s", from.ID, to.ID)
	}
}

// A merge that was taken back is no row; one that somebody worked after is.
func TestTakenBack(t *testing.T) {
	before, back := cp("b", 2, 1, thread.KindSafety), cp("b", 3, 1, thread.KindSafety)
	before.Note, back.Note, back.Parent = "before the merge into main", "the merge was taken back", before.ID
	text := draw(made(cp("b", 4, 2, thread.KindTurn), back, before, cp("b", 1, 1, thread.KindTurn)), 80, 20)
	if strings.Contains(text, "merge") || !strings.Contains(text, "answer 4") ||
		!strings.Contains(text, "answer 1") {
		t.Errorf("nothing was merged:\n%s", text)
	}
	back.Parent = "b-9"
	if text := draw(made(back, before, cp("b", 1, 1, thread.KindTurn)), 80, 20); strings.Count(text, "merge") != 2 {
		t.Errorf("something happened in between:\n%s", text)
	}
}

// Prompts that no turn answered are listed after the turn that they came after, before and after a fork, and none of
// the way from turn to turn.
func TestPromptsWithoutATurn(t *testing.T) {
	m := made(cp("b", 6, 4, thread.KindTurn), cp("b", 5, 3, thread.KindTurn), cp("a", 2, 2, thread.KindTurn))
	asked := func(id string, after int, how thread.PromptState) thread.Checkpoint {
		return thread.PromptRow(thread.Prompt{ID: thread.PromptID(id), Thread: "b", Text: "text of " + id, State: how,
			Reason: "why " + id, Accepted: epoch}, after)
	}
	m.SetRest("b", []thread.Checkpoint{asked("p4", 4, thread.PromptRefused), cp("b", 6, 4, thread.KindTurn),
		asked("p3", 3, thread.PromptInterrupted), asked("p2", 2, thread.PromptTaken)})
	text := draw(m, 80, 20)
	at := -1
	for _, want := range []string{"text of p4", "refused", "why p4", "answer 6", "text of p3", "interrupted", "why p3", "answer 5",
		"text of p2", "taken", "why p2", "forked from", "answer 2"} {
		was := at
		if at = strings.Index(text, want); at <= was {
			t.Errorf("%q is at %d, after %d:\n%s", want, at, was, text)
		}
	}
	if s := m.Step(3, 1); s == nil || s.Turn != 4 {
		t.Errorf("turn after 3 is %v", s)
	}
	m.Move(-9)
	if s := m.Selected(); s == nil || s.Kind != thread.KindPrompt {
		t.Errorf("on the first row is %v", s)
	}
}

// A turn that cannot be read says so, and no time, prompt or answer that nobody knows.
func TestDamagedTurn(t *testing.T) {
	lost := thread.Checkpoint{ID: "b-2", Thread: "b", Seq: 2, Turn: 2, Kind: thread.KindTurn, Damaged: true}
	text := draw(made(cp("b", 3, 3, thread.KindTurn), lost, cp("b", 1, 1, thread.KindTurn)), 80, 20)
	for _, want := range []string{"answer 3", "damaged", "its stored data cannot be read", "answer 1"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	if strings.Contains(text, "00:00") || strings.Contains(text, "no text") {
		t.Errorf("it says what is not known:\n%s", text)
	}
}
