package tree

import (
	"flag"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"orchestrator/thread"
	"orchestrator/ui/layout"
	"orchestrator/ui/plain"
	"orchestrator/ui/theme"

	"github.com/charmbracelet/colorprofile"
	"pgregory.net/rapid"
)

// The property tests run the same everywhere; -rapid.seed on the command line wins.
var _ = flag.Set("rapid.seed", "1")

var epoch = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func status(id, parent string, st thread.State, n int) thread.Status {
	return thread.Status{
		Thread: thread.Thread{ID: thread.ID(id), Name: id, Parent: thread.ID(parent), Agent: "demo",
			Created: epoch.Add(time.Duration(n) * time.Minute)},
		State: thread.StateReport{State: st},
	}
}

func family() *Tree {
	t := New("")
	t.Set([]thread.Status{
		status("one", "", thread.StateIdle, 1),
		status("two", "", thread.StateWorking, 2),
		status("two-a", "two", thread.StateIdle, 3),
		status("two-b", "two", thread.StateApproval, 4),
		status("three", "", thread.StateDone, 5),
	}, 0)
	return t
}

func names(t *Tree) string {
	t.sort()
	var out []string
	for _, l := range t.lines {
		if l.row < 0 {
			out = append(out, strings.ToUpper(string(l.group)))
			continue
		}
		r := t.rows[l.row]
		out = append(out, r.Guide+string(r.ID))
	}
	return strings.Join(out, "|")
}

// drawn is what a list of a size shows, without colours.
func drawn(t *Tree, w, h int) string {
	var c layout.Canvas
	c.Reset(w, h)
	t.Draw(&c, c.Bounds(), theme.New(colorprofile.ASCII, true), View{Focus: true, Now: epoch.Add(time.Hour), Next: "w", Fold: "z"})
	return regexp.MustCompile("\x1b\\[[0-9;]*m").ReplaceAllString(c.String(), "")
}

func TestGroups(t *testing.T) {
	tr := family()
	if got, want := names(tr), "NEEDS YOU|two-b|WORKING|two|TO READ|three|QUIET|one|two-a"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	s := status("three-a", "three", thread.StateDone, 6)
	tr.Put(s)
	tr.Put(status("three-b", "three", thread.StateDone, 7))
	s.Pinned = true
	tr.Put(status("two-c", "two", thread.StateQuestion, 8))
	if got, want := names(tr), "NEEDS YOU|two-b|two-c|WORKING|two|TO READ|three|├ three-a|└ three-b|QUIET|one|two-a"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	tr.Pure()
	if got, want := names(tr), "two|├ two-b|├ two-c|└ two-a|three|├ three-a|└ three-b|one"; got != want {
		t.Errorf("the tree: %s, want %s", got, want)
	}
}

// TestTreeDoesNotMoveWhileTheyWork: in the pure tree, those that need the user come first, and their parents with them.
func TestTreeDoesNotMoveWhileTheyWork(t *testing.T) {
	tr := family()
	tr.Pure()
	if got, want := names(tr), "two|├ two-b|└ two-a|three|one"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	s := status("one", "", thread.StateWorking, 1)
	tr.Put(s)
	if got, want := names(tr), "two|├ two-b|└ two-a|three|one"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	s.Pinned = true
	tr.Put(s)
	if got, want := names(tr), "two|├ two-b|└ two-a|one|three"; got != want {
		t.Errorf("pinned: got %s, want %s", got, want)
	}
}

// TestOldestWaitsFirst: a fork that waits longer lifts its parent.
func TestOldestWaitsFirst(t *testing.T) {
	at := func(id, parent string, minutes int) thread.Status {
		s := status(id, parent, thread.StateApproval, 1)
		s.State.Since = epoch.Add(time.Duration(minutes) * time.Minute)
		return s
	}
	tr := New("")
	tr.Set([]thread.Status{at("a", "", 5), at("b", "", 3), at("a1", "a", 2), at("c", "", 9)}, 0)
	if got, want := names(tr), "NEEDS YOU|a|└ a1|b|c"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	tr.Select("c")
	var order []string
	for range 4 {
		tr.NextWaiting()
		order = append(order, string(tr.Selected().ID))
	}
	if got := strings.Join(order, " "); got != "a1 b a c" {
		t.Errorf("next waiting went to %s", got)
	}
}

// TestNoRowMovesUnderTheCursor: while the list has the keyboard and the cursor rests, a thread that changes its group
// keeps its row; the cursor's next step lets it go to its place.
func TestNoRowMovesUnderTheCursor(t *testing.T) {
	tr := family()
	drawn(tr, 46, 30)
	tr.Select("two-b")
	before := names(tr)
	for _, st := range []thread.State{thread.StateWorking, thread.StateDone, thread.StateIdle, thread.StateExited} {
		tr.Put(status("two-b", "two", st, 4))
		if got := names(tr); got != before {
			t.Errorf("as %s: %s, was %s", st, got, before)
		}
	}
	if n := tr.Counts().Groups[thread.GroupNeedsYou]; n != 0 {
		t.Errorf("%d are said to need the user", n)
	}
	// What others do is shown: it does not concern the row of the cursor.
	tr.Put(status("one", "", thread.StateQuestion, 1))
	if got, want := names(tr), "NEEDS YOU|one|two-b|WORKING|two|TO READ|three|QUIET|two-a"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	tr.Move(1)
	if got, want := names(tr), "NEEDS YOU|one|WORKING|two|TO READ|three|QUIET|two-a|two-b"; got != want || tr.Selected().ID != "two" {
		t.Errorf("after a step: %s, want %s, at %s", got, want, tr.Selected().ID)
	}
}

// TestRowsMoveWhereNoCursorIs: with the keyboard elsewhere, or where no row would move, each stands in its group.
func TestRowsMoveWhereNoCursorIs(t *testing.T) {
	tr := family()
	tr.Select("two-b")
	tr.Put(status("two-b", "two", thread.StateDone, 4))
	if got, want := names(tr), "WORKING|two|TO READ|two-b|three|QUIET|one|two-a"; got != want {
		t.Errorf("without the keyboard: %s, want %s", got, want)
	}
	alone := New("")
	alone.Put(status("a", "", thread.StateWorking, 1))
	drawn(alone, 46, 30)
	alone.Put(status("a", "", thread.StateApproval, 1))
	if got := names(alone); got != "NEEDS YOU|a" {
		t.Errorf("alone: %s", got)
	}
}

func TestSelectionFollowsTheThread(t *testing.T) {
	tr := family()
	tr.Select("one")
	tr.Put(status("one", "", thread.StateQuestion, 1))
	if got := tr.Selected().ID; got != "one" {
		t.Errorf("selected %s", got)
	}
	tr.Remove("one", 1)
	if tr.Selected() == nil {
		t.Error("nothing is selected after the selected one went")
	}
}

// TestSelectionStaysNearARemovedThread removes the selected one: the selection stays in its row, or in the last.
func TestSelectionStaysNearARemovedThread(t *testing.T) {
	tr := family()
	tr.Select("one")
	tr.Remove("one", 1)
	if got := tr.Selected(); got == nil || got.ID != "two-a" {
		t.Errorf("in the row of the removed one: %+v in %s", got, names(tr))
	}
	tr.Remove("two-a", 2)
	if got := tr.Selected(); got == nil || got.ID != "three" {
		t.Errorf("in the last row: %+v in %s", got, names(tr))
	}
}

func TestFoldFilterJump(t *testing.T) {
	tr := family()
	tr.Select("two")
	tr.Fold()
	if got, want := names(tr), "NEEDS YOU|two-b|WORKING|two|TO READ|three|QUIET|one"; got != want {
		t.Errorf("folded: %s", got)
	}
	if r := tr.rows[tr.index["two"]]; r.Hides != 2 || r.Loud != thread.GroupNeedsYou || r.Louds != 1 {
		t.Errorf("it hides %+v", r)
	}
	if got := drawn(tr, 46, 30); !strings.Contains(got, "◐ two +2 ◆1") {
		t.Errorf("drawn\n%s", got)
	}
	if !tr.NextWaiting() || tr.Selected().ID != "two-b" {
		t.Errorf("next waiting: %s", tr.Selected().ID)
	}
	if !tr.Select("two-a") || tr.Selected().ID != "two-a" {
		t.Error("what is folded away cannot be selected")
	}
	tr.Fold() // a leaf: goes to the parent
	if tr.Selected().ID != "two" {
		t.Errorf("fold of a leaf leads to %s", tr.Selected().ID)
	}
	tr.Filter("two approval")
	if got, want := names(tr), "NEEDS YOU|two-b"; got != want {
		t.Errorf("filtered: %s", got)
	}
	tr.Filter("quiet")
	if got, want := names(tr), "QUIET|one|two-a"; got != want {
		t.Errorf("filtered: %s", got)
	}
	tr.Filter("")
	drawn(tr, 46, 30)
	if !tr.Jump(3) || tr.Selected().ID != "three" || tr.Jump(9) {
		t.Errorf("jump: %s", tr.Selected().ID)
	}
}

func TestFoldGroup(t *testing.T) {
	tr := family()
	tr.FoldGroup(thread.GroupQuiet)
	if got, want := names(tr), "NEEDS YOU|two-b|WORKING|two|TO READ|three|QUIET"; got != want {
		t.Errorf("folded: %s", got)
	}
	if got := drawn(tr, 46, 30); !strings.Contains(got, "QUIET  2                            z unfold") {
		t.Errorf("drawn\n%s", got)
	}
	if tr.Select("one"); names(tr) != "NEEDS YOU|two-b|WORKING|two|TO READ|three|QUIET|one|two-a" {
		t.Errorf("selected: %s", names(tr))
	}
	drawn(tr, 46, 30)
	var rows []int // of its title: a blank one, and the words
	for y := range 30 {
		if i, hit := tr.win.Hit(y); hit && tr.lines[i].row < 0 && tr.lines[i].group == thread.GroupQuiet {
			rows = append(rows, y)
		}
	}
	if len(rows) != 2 {
		t.Fatalf("its title has the rows %v", rows)
	}
	for i, y := range rows { // only its words fold it
		if tr.ClickRow(y) {
			t.Error("a title is no thread")
		}
		if got := names(tr); strings.Contains(got, "one") != (i == 0) {
			t.Errorf("row %d clicked: %s", i, got)
		}
	}
}

// TestClicksHitRows: every row of a thread of two selects it.
func TestClicksHitRows(t *testing.T) {
	tr := family()
	got := strings.Split(drawn(tr, 46, 30), "\n")
	for y, text := range got {
		_, name, found := strings.Cut(text, "◆ ")
		if !found {
			continue
		}
		for _, at := range []int{y, y + 1} {
			tr.Select("one")
			drawn(tr, 46, 30)
			if !tr.ClickRow(at) || !strings.HasPrefix(name, string(tr.Selected().ID)) {
				t.Errorf("row %d of\n%s\nselects %s", at, strings.Join(got, "\n"), tr.Selected().ID)
			}
		}
	}
}

func TestArchive(t *testing.T) {
	tr := family()
	s := status("one", "", thread.StateExited, 1)
	s.Archived = epoch
	tr.Put(s)
	if got := names(tr); strings.Contains(got, "one") {
		t.Errorf("living: %s", got)
	}
	tr.ShowArchive(true)
	if got := names(tr); got != "one" {
		t.Errorf("archive: %s", got)
	}
	if n := tr.Counts(); n.Archived != 1 || n.Threads != 4 || n.Waiting != 1 || n.Unseen != 1 {
		t.Errorf("counts %+v", n)
	}
}

// Parents that form a ring, or are unknown, hang nothing and lose no thread that has a root.
func TestAnyParents(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tr := New("")
		n := rapid.IntRange(0, 12).Draw(t, "n")
		for i := range n {
			p := rapid.IntRange(-1, n).Draw(t, "parent")
			parent := ""
			if p >= 0 {
				parent = fmt.Sprint("t", p)
			}
			tr.Put(status(fmt.Sprint("t", i), parent, thread.StateIdle, i))
		}
		seen := map[thread.ID]bool{}
		tr.sort()
		for _, r := range tr.rows {
			if seen[r.ID] {
				t.Fatalf("%s is shown twice", r.ID)
			}
			seen[r.ID] = true
		}
		tr.Move(rapid.IntRange(-20, 20).Draw(t, "move"))
		var c layout.Canvas
		c.Reset(20, 5)
		tr.Draw(&c, c.Bounds(), theme.New(colorprofile.ASCII, true), View{Focus: true, Now: epoch})
	})
}

func TestDrawHasNoControlBytes(t *testing.T) {
	tr := New("")
	s := status("evil", "", thread.StateIdle, 1)
	s.Name = "a\x1b]0;x\x07\u202eb"
	tr.Put(s)
	var c layout.Canvas
	c.Reset(40, 3)
	tr.Draw(&c, c.Bounds(), theme.New(colorprofile.ASCII, true), View{Focus: false, Now: epoch})
	got := regexp.MustCompile("\x1b\\[[0-9;]*m").ReplaceAllString(c.String(), "")
	if strings.ContainsAny(got, "\x1b\x07\u202e") {
		t.Errorf("%q", got)
	}
}

// TestLateRepliesChangeNothing: a server's events come in order, its replies and lists whenever they like. Whatever the
// order, what is shown in the end is what the server says.
func TestLateRepliesChangeNothing(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		states := []thread.State{thread.StateStarting, thread.StateWorking, thread.StateIdle, thread.StateExited}
		now := map[string]thread.Status{} // the server's
		tr, seq := New(""), int64(100)
		var late []func() // what is on its way to the client, apart from events
		for range rapid.IntRange(1, 40).Draw(rt, "steps") {
			id := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(rt, "thread")
			s, there := now[id]
			steps := []string{"change", "change", "remove", "reply", "list", "arrive"}
			switch rapid.SampledFrom(steps).Draw(rt, "step") {
			case "change":
				seq++
				s = status(id, "", rapid.SampledFrom(states).Draw(rt, "state"), 1)
				s.Seq, now[id] = seq, s
				tr.Put(s)
			case "remove":
				if there {
					seq++
					delete(now, id)
					tr.Remove(thread.ID(id), seq)
				}
			case "reply":
				if there {
					s.Seq = seq
					late = append(late, func() { tr.Put(s) })
				}
			case "list":
				var all []thread.Status
				for _, s := range now {
					s.Seq = seq
					all = append(all, s)
				}
				asked := seq - int64(rapid.IntRange(0, 3).Draw(rt, "asked before"))
				late = append(late, func() { tr.Set(all, asked) })
			case "arrive":
				if n := len(late); n > 0 {
					i := rapid.IntRange(0, n-1).Draw(rt, "which")
					late[i]()
					late = append(late[:i], late[i+1:]...)
				}
			}
		}
		for _, arrive := range late {
			arrive()
		}
		for _, s := range tr.All() {
			if want, there := now[s.Name]; !there || want.State.State != s.State.State {
				rt.Fatalf("%s is shown %s, and the server says %s (%v)", s.Name, s.State.State, want.State.State, there)
			}
		}
		if len(tr.All()) != len(now) {
			rt.Fatalf("%d are shown of %d", len(tr.All()), len(now))
		}
	})
}

// TestAnotherRunBeginsAgain: the numbers of a server that was started again count for themselves.
func TestAnotherRunBeginsAgain(t *testing.T) {
	tr := New("")
	s := status("a", "", thread.StateWorking, 1)
	s.Seq = 5000
	tr.Put(s)
	tr.Remove("b", 6000)
	tr.Restart()
	s.Seq, s.State.State = 3, thread.StateIdle
	b := status("b", "", thread.StateIdle, 2)
	b.Seq = 3
	tr.Set([]thread.Status{s, b}, 0)
	if got := tr.Thread("a"); got.State.State != thread.StateIdle || tr.Thread("b") == nil {
		t.Errorf("shown %+v", tr.All())
	}
}

// TestOrderByArrival: threads keep the server's order, and new ones come last, whatever the clock was when they
// were made.
func TestOrderByArrival(t *testing.T) {
	year := 365 * 24 * time.Hour
	at := func(id thread.ID, d time.Duration, seq int64) thread.Status {
		return thread.Status{Thread: thread.Thread{ID: id, Name: string(id), Created: time.Now().Add(d)}, Seq: seq}
	}
	tr := New("")
	list := []thread.Status{at("a", 0, 1), at("b", -year, 2), at("c", year, 3)}
	tr.Set(list, 3)
	tr.Put(at("d", -2*year, 4))
	tr.Put(at("b", -year, 5))
	want := func(ids string) {
		t.Helper()
		got := ""
		for _, s := range tr.All() {
			got += string(s.ID)
		}
		if got != ids {
			t.Errorf("the order is %s, want %s", got, ids)
		}
	}
	want("abcd")
	tr.Set(list, 3) // an older list than what is known
	want("abcd")
	tr.Remove("d", 6)
	tr.Put(at("e", 0, 7))
	tr.Set(append(list, at("e", 0, 7)), 7)
	want("abce")
}

func TestForkOfAnArchivedThreadNamesIt(t *testing.T) {
	tr := New("")
	old := status("the-old-one", "", thread.StateExited, 1)
	old.Archived = epoch
	tr.Set([]thread.Status{old, status("fork", "the-old-one", thread.StateIdle, 2),
		status("next", "fork", thread.StateIdle, 3)}, 0)
	var c layout.Canvas
	c.Reset(40, 5)
	tr.Draw(&c, c.Bounds(), theme.New(colorprofile.ASCII, true), View{Focus: false, Now: epoch})
	got := regexp.MustCompile("\x1b\\[[0-9;]*m").ReplaceAllString(c.String(), "")
	if !strings.Contains(got, "fork of the-old-one") || strings.Contains(got, "next of") {
		t.Errorf("drawn\n%s", got)
	}
}

// TestRows puts a list into the order of the tree by itself, as `threads --tree` does.
func TestRows(t *testing.T) {
	one := func(id, parent thread.ID, state thread.State, pinned bool) *thread.Status {
		return &thread.Status{
			Thread: thread.Thread{ID: id, Parent: parent, Pinned: pinned}, State: thread.StateReport{State: state},
		}
	}
	list := []*thread.Status{
		one("a", "", thread.StateIdle, false), one("b", "", thread.StateIdle, true), one("c", "", thread.StateIdle, false),
		one("c1", "c", thread.StateIdle, false), one("c2", "c", thread.StateApproval, false), one("c11", "c1", thread.StateIdle, false),
		one("left", "elsewhere", thread.StateIdle, false),
	}
	for _, want := range []struct {
		folded func(*thread.Status, thread.ID) bool
		rows   string
	}{
		{nil, "c ├ c2 └ c1   └ c11 b a left"},
		{func(_ *thread.Status, id thread.ID) bool { return id == "c" }, "c b a left"},
		{func(_ *thread.Status, id thread.ID) bool { return id == "c1" }, "c ├ c2 └ c1 b a left"},
		{func(s *thread.Status, _ thread.ID) bool { return s.ID == "c2" }, "c └ c1   └ c11 b a left"},
	} {
		var got []string
		for _, r := range Rows(list, want.folded) {
			got = append(got, r.Guide+string(r.ID))
		}
		if strings.Join(got, " ") != want.rows {
			t.Errorf("rows are %q, not %q", strings.Join(got, " "), want.rows)
		}
	}
}

// TestMoreThanFits: what is beyond the edges is counted on a row of its own, and the selection is in view.
func TestMoreThanFits(t *testing.T) {
	tr := New("")
	var all []thread.Status
	for i := range 30 {
		all = append(all, status(fmt.Sprintf("t%02d", i), "", thread.StateWorking, i))
	}
	tr.Set(all, 0)
	lines := strings.Split(drawn(tr, 46, 24), "\n")
	if last := strings.TrimSpace(lines[len(lines)-1]); last != "↓19 more" || !strings.Contains(lines[0], "WORKING  30") {
		t.Errorf("drawn\n%s", strings.Join(lines, "\n"))
	}
	tr.Move(15)
	text := drawn(tr, 46, 24)
	if !strings.Contains(text, "▌◐ t15") || !strings.Contains(text, "↑5 ↓13") {
		t.Errorf("drawn\n%s", text)
	}
	tr.Move(-15)
	if text = drawn(tr, 46, 24); !strings.Contains(text, "WORKING") {
		t.Errorf("the title of the first is hidden\n%s", text)
	}
}

// TestMarks draws each mark, in one row and in two.
func TestMarks(t *testing.T) {
	s := status("docs", "", thread.StateIdle, 1)
	s.Dir, s.Pinned, s.Merging = "/p", true, "main"
	s.Prompts = []thread.Prompt{{State: thread.PromptInterrupted, Text: "go on"}}
	other := status("api", "", thread.StateIdle, 2)
	other.Dir, other.Queued = "/p", 2
	tr := New("/p")
	tr.Set([]thread.Status{s, other}, 0)
	text := drawn(tr, 46, 24)
	for _, want := range []string{"* &1 p ≠", "○ api &1 ›2", "merge into main has conflicts"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	tr.Dense()
	if text = drawn(tr, 46, 24); !strings.Contains(text, "◆ docs * &1 p ≠") || strings.Contains(text, "conflicts") {
		t.Errorf("dense:\n%s", text)
	}
}

// TestEverySize draws hostile names in lists of every size: nothing reaches beyond, and no row is torn.
func TestEverySize(t *testing.T) {
	tr := family()
	for i, name := range []string{strings.Repeat("long ", 100), "שלום עולם", "👩‍👩‍👧 family", "Z̷̢̛a̵l̶g̸o̴", "日本語の索引"} {
		s := status(fmt.Sprint("n", i), "two", thread.State([]thread.State{thread.StateApproval, thread.StateWorking, thread.StateIdle}[i%3]), 10+i)
		s.Title, s.Last, s.Queued = name, name, i
		s.Gauge = thread.Gauge{Tokens: 150_000 * int64(i), Window: 200_000, Model: name}
		tr.Put(s)
	}
	for w := 1; w <= 130; w++ {
		for _, h := range []int{1, 5, 12, 19, 40} {
			for _, row := range strings.Split(drawn(tr, w, h), "\n") {
				if n := plain.Width(row); n > w {
					t.Fatalf("%d cells in %d×%d: %q", n, w, h, row)
				}
			}
		}
	}
}

// TestSelectedStays: the thread that is selected is not hidden by a change of its own, in a group that is folded or by
// a filter that it no longer fits; it is once the person folds or filters.
func TestSelectedStays(t *testing.T) {
	done := &thread.Status{Thread: thread.Thread{ID: "a", Name: "a"}, State: thread.StateReport{State: thread.StateDone}}
	other := &thread.Status{Thread: thread.Thread{ID: "b", Name: "b"}, State: thread.StateReport{State: thread.StateDone}}
	idle := &thread.Status{Thread: thread.Thread{ID: "c", Name: "c"}, State: thread.StateReport{State: thread.StateIdle}}
	for name, hide := range map[string]func(*Tree){
		"a folded group": func(l *Tree) { l.FoldGroup(thread.GroupQuiet) }, "a filter": func(l *Tree) { l.Filter("done") },
	} {
		l := New("/p")
		l.Set([]thread.Status{*done, *other, *idle}, 0)
		hide(l)
		l.Select("a")
		l.Selected()
		seen := *done
		seen.State.State, seen.Seq = thread.StateIdle, 5
		l.Put(seen)
		if s := l.Selected(); s == nil || s.ID != "a" {
			t.Errorf("%s: another thread is selected: %+v", name, s)
		}
		l.Move(-1)
		l.Put(thread.Status{Thread: thread.Thread{ID: "z", Name: "z"}})
		l.Selected()
		if _, shown := l.index["a"]; shown {
			t.Errorf("%s: it stays after the cursor has moved", name)
		}
	}
}

// run is a thread that an agent started as a run.
func run(id, by, state string, n int) thread.Status {
	s := status(id, "", thread.StateExited, n)
	s.Once.On, s.Seen = true, state == "failed"
	s.Run = &thread.RunStatus{Execution: fmt.Sprintf("exec-%03d", n), State: state, By: thread.ID(by), Started: epoch, Reason: "4 of 4 runs are running"}
	return s
}

// TestRunsAreFolded: runs are hidden below the thread whose agent asked for them, but those that need the person, until it
// is opened; it counts them. Those that a person asked for stand by themselves.
func TestRunsAreFolded(t *testing.T) {
	tr := family()
	for i, state := range []string{"running", "queued", "failed", "lost", "completed"} {
		tr.Put(run("r"+fmt.Sprint(i), "three", state, 10+i))
	}
	tr.Put(run("r9", "r0", "running", 20)) // by a run
	tr.Put(run("mine", "", "running", 21))
	if got, want := names(tr), "NEEDS YOU|two-b|r3|WORKING|two|mine|TO READ|three|QUIET|one|two-a"; got != want {
		t.Errorf("folded: %s, want %s", got, want)
	}
	text := drawn(tr, 60, 30)
	for _, want := range []string{"three +6 ◆1", "r3 of three", "exec-021 demo", "lost: 4 of 4"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not drawn:\n%s", want, text)
		}
	}
	tr.Select("three")
	tr.Unfold()
	if got, want := names(tr), "NEEDS YOU|two-b|r3|WORKING|two|r0|r1|mine|TO READ|three|└ r4|STUCK|r2|QUIET|one|two-a"; got != want {
		t.Errorf("opened: %s, want %s", got, want)
	}
	if text := drawn(tr, 60, 40); !strings.Contains(text, "r0 +1 ◐1 of three") || !strings.Contains(text, "queued: 4 of 4") {
		t.Errorf("opened:\n%s", text)
	}
	tr.Fold()
	if got := names(tr); strings.Contains(got, "r0") || !strings.Contains(got, "r3") {
		t.Errorf("folded again: %s", got)
	}
	if !tr.Select("r9") || !strings.Contains(names(tr), "r9") {
		t.Errorf("one that is looked for: %s", names(tr))
	}
	tr.Filter("r4")
	if got := names(tr); !strings.Contains(got, "r4") {
		t.Errorf("one that a filter finds: %s", got)
	}
}

// TestAsked: what a task of a plan asks stands among what needs the person, counts, is gone to, and is no thread.
func TestAsked(t *testing.T) {
	at := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	one := func(name string, st thread.State, minutes int) thread.Status {
		s := thread.Status{Thread: thread.Thread{ID: thread.ID(name), Name: name, Label: name}}
		s.State = thread.StateReport{State: st, Since: at.Add(-time.Duration(minutes) * time.Minute)}
		return s
	}
	threads := []thread.Status{one("idle", thread.StateIdle, 1), one("asks", thread.StateApproval, 5)}
	q := thread.NodeQuestion{Task: "task-001", Title: "Spring", Agent: "publish", Text: "Publish?", Since: at.Add(-time.Hour)}
	tr := New("/p")
	tr.Set(threads, 1)
	Ask(tr, []thread.NodeQuestion{q})
	tr.Set(threads, 2) // as another server tells it
	if c := tr.Counts(); c.Threads != 2 || c.Waiting != 2 || c.Groups[thread.GroupNeedsYou] != 2 {
		t.Errorf("counts %+v", c)
	}
	if tr.Len() != 3 || len(tr.All()) != 2 {
		t.Errorf("%d rows, %d threads", tr.Len(), len(tr.All()))
	}
	tr.Select("idle")
	if !tr.NextWaiting() || Asked(tr) == nil || Asked(tr).Name() != "task-001/publish" || tr.Selected() != nil {
		t.Fatalf("on %v, %v", Asked(tr), tr.Selected())
	}
	tr.Mark()
	if len(tr.Marked()) != 0 {
		t.Error("a question is marked")
	}
	tr.Restart()
	if tr.NextWaiting(); tr.Selected() == nil || tr.Selected().ID != "asks" || Asked(tr) != nil {
		t.Errorf("the next is %v", tr.Selected())
	}
	if !SelectAsked(tr, q) || Asked(tr) == nil {
		t.Error("it is not gone to")
	}
	Ask(tr, nil)
	if Asked(tr) != nil || tr.Len() != 2 || tr.Thread("?task-001/publish") != nil {
		t.Error("an answered question is still there")
	}
	if SelectAsked(tr, q) {
		t.Error("it is gone to though it is gone")
	}
}
