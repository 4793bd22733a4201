package masking_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"orchestrator/contextmgr/policy"
	"orchestrator/contextmgr/wire"
	"orchestrator/thread"
)

// turns adds turns with long prompts, which are never masked, and sends each; it returns what was sent last.
func (w *world) turns(n int) (last string) {
	w.Helper()
	w.ends = true
	from := len(w.items)
	for i := from; i < from+n; i++ {
		w.items = append(w.items, w.person(fmt.Sprintf("prompt %d about file%d.go: %s", i, i, strings.Repeat("and so on ", 2000))))
		w.step(i, 100)
		w.items = append(w.items, w.person(fmt.Sprintf("go on with %d", i)))
		last = w.send("t1")
	}
	return last
}

// summarised reports whether a summary stands in what is sent.
func summarised(sent string) bool { return strings.Contains(sent, "[Summary: the earlier part") }

// checkPairs checks that a request can be read and that each result has its call.
func (w *world) checkPairs(sent string) {
	w.Helper()
	scan, err := w.codec.Scan(wire.Call{Path: w.format.path, Body: []byte(sent)}, nil)
	if err != nil {
		w.Fatalf("%v in %.300q", err, sent)
	}
	for _, c := range scan.Contents {
		if c.Form != wire.FormInput && c.Tool == "" {
			w.Errorf("the result of %q has no call", c.Call)
		}
	}
}

func TestSummary(t *testing.T) {
	for _, f := range some(t) {
		t.Run(f.codec.Wire(), func(t *testing.T) {
			w := open(t, f, policy.ModeSafe)
			w.turns(20)
			w.ends = false
			sent := w.send("t1") // the answer before may have brought another summary
			raw := w.body(w.model, strings.Join(w.items, ","))
			if !summarised(sent) || len(sent)*3 > len(raw)*2 {
				t.Fatalf("%d of %d bytes are sent, told %q", len(sent), len(raw), w.notices)
			}
			w.checkPairs(sent)
			if strings.Count(sent, "[Summary: ") != 1 || !strings.Contains(sent, "prompt 0 about") {
				t.Error("there is not one summary, or the first prompt is gone")
			}
			report, err := w.Report("t1")
			if err != nil || len(report.Summaries) < 1 {
				t.Fatalf("%d summaries are reported: %v", len(report.Summaries), err)
			}
			sum := report.Summaries[len(report.Summaries)-1]
			w.store.Settle()
			whole, err := os.ReadFile(sum.File)
			if err != nil || !strings.Contains(string(whole), "prompt 1 about") && !strings.Contains(string(whole), "go on with 0") {
				t.Errorf("what is replaced: %.100q (%v)", whole, err)
			}

			if again := w.send("t1"); again != sent {
				t.Error("the same request is sent in another way")
			}
			items := w.items
			w.items = append(slices.Clone(items), w.person("more"))
			if got := w.list(w.send("t1")); !strings.HasPrefix(got, w.list(sent)) {
				t.Error("the next request does not begin with the one before")
			}
			w.items = items
			w.restart()
			if got := w.send("t1"); got != sent {
				t.Error("after a restart the same request is sent in another way")
			}
			w.parents["fork"] = "t1"
			if got := w.send("fork"); got != sent {
				t.Error("a fork sends another request")
			}

			w.items = items[:len(items)-1]
			if got := w.list(w.send("t1")); !strings.HasPrefix(w.list(sent), got) {
				t.Error("after a rewind behind the summary another beginning is sent")
			}
			w.items = items[:6] // inside of what is replaced
			if got := w.send("t1"); summarised(got) {
				t.Error("after a rewind into what is replaced a summary is sent")
			}
			w.items = []string{w.person("summary of the agent itself"), items[1], items[2], w.person("go on")}
			if got := w.send("t1"); summarised(got) {
				t.Error("after a compaction the summary is sent")
			}
			w.items = items
			if got := w.send("t1"); got != sent {
				t.Error("when the conversation is back the summary is not")
			}
		})
	}
}

func TestSummaryIsTheirs(t *testing.T) {
	w := open(t, formats()[0], policy.ModeSafe)
	w.turns(16)
	w.ends = false
	report, _ := w.Report("t1")
	if len(report.Summaries) == 0 {
		t.Fatal("there is no summary")
	}
	last := report.Summaries[len(report.Summaries)-1].ID
	edit := thread.ContextChange{EditSummary: &thread.SummaryEdit{ID: last, Text: "my own words"}}
	if err := w.Change("t1", edit); err != nil {
		t.Fatal(err)
	}
	if got := w.send("t1"); !strings.Contains(got, "my own words") || !strings.Contains(got, "written by a person") {
		t.Error("the edited text is not sent")
	}
	edit.EditSummary.Text = " "
	if err := w.Change("t1", edit); err == nil {
		t.Error("an empty text is taken")
	}
	if err := w.Change("t1", thread.ContextChange{DropSummary: "none"}); err == nil {
		t.Error("a summary that does not exist is dropped")
	}
	for _, s := range report.Summaries {
		if err := w.Change("t1", thread.ContextChange{DropSummary: s.ID}); err != nil {
			t.Fatal(err)
		}
	}
	w.ends = true
	for range 2 {
		if got := w.send("t1"); summarised(got) {
			t.Error("a dropped summary is sent")
		}
	}
}

// TestNoSummary: of an unknown window, and in modes observe and off, nothing is summarised.
func TestNoSummary(t *testing.T) {
	for _, f := range some(t) {
		for _, mode := range []policy.Mode{policy.ModeSafe, policy.ModeObserve, policy.ModeOff} {
			w := open(t, f, mode)
			if mode == policy.ModeSafe {
				w.window = 0
			}
			if summarised(w.turns(16)) {
				t.Errorf("%s, %s: a summary is sent", f.codec.Wire(), mode)
			}
			if report, err := w.Report("t1"); err != nil || len(report.Summaries) > 0 {
				t.Errorf("%s, %s: %d summaries are stored (%v)", f.codec.Wire(), mode, len(report.Summaries), err)
			}
		}
	}
}

// TestSummaryAndMarks: a mark for the cache that moved does not matter, but another text does.
func TestSummaryAndMarks(t *testing.T) {
	w := open(t, formats()[0], policy.ModeSafe)
	w.turns(16)
	w.ends = false
	const text, marked = `{"type":"text","text"`, `{"type":"text","cache_control":{"type":"ephemeral","ttl":"1h"},"text"`
	const result, markedResult = `{"type":"tool_result",`, `{"cache_control":{"type":"ephemeral"},"type":"tool_result",`
	items := slices.Clone(w.items)
	for i := range items {
		w.items[i] = strings.ReplaceAll(strings.ReplaceAll(items[i], text, marked), result, markedResult)
	}
	if !summarised(w.send("t1")) {
		t.Error("with marks the summary is not sent")
	}
	for i := range items {
		w.items[i] = strings.ReplaceAll(items[i], `"tool_use_id"`, `"other":1,"tool_use_id"`)
		w.items[i] = strings.ReplaceAll(w.items[i], `"signature"`, `"other":1,"signature"`)
	}
	if summarised(w.send("t1")) {
		t.Error("in place of other items the summary is sent")
	}
}

// TestSummaryCannotBeStored: the requests go on as they are, and people are told once.
func TestSummaryCannotBeStored(t *testing.T) {
	w := open(t, formats()[0], policy.ModeSafe)
	w.send("t1")
	if err := w.store.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(w.dir); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(w.dir, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if summarised(w.turns(14)) {
		t.Error("a summary that is not stored is sent")
	}
	told := 0
	for _, n := range w.notices {
		if strings.Contains(n, "not replaced by a summary") {
			told++
		}
	}
	if told != 1 {
		t.Errorf("people were told %d times: %q", told, w.notices)
	}
	w.store = nil
}

// TestSummaryNeedsItsEnds: a summary stands only where both ends of what it replaces are, and before a turn.
func TestSummaryNeedsItsEnds(t *testing.T) {
	w := open(t, formats()[0], policy.ModeSafe)
	w.turns(16)
	w.ends = false
	w.send("t1")
	report, _ := w.Report("t1")
	if len(report.Summaries) == 0 {
		t.Fatal("there is no summary")
	}
	for _, sum := range report.Summaries[:len(report.Summaries)-1] { // only the last one is looked at
		if err := w.Change("t1", thread.ContextChange{DropSummary: sum.ID}); err != nil {
			t.Fatal(err)
		}
	}
	items, last := w.items, report.Summaries[len(report.Summaries)-1].Items
	if !summarised(w.send("t1")) {
		t.Fatal("the summary is not sent")
	}
	for _, at := range []int{1, last} {
		w.items = slices.Clone(items)
		w.items[at] = strings.Replace(items[at], `"role"`, `"other":1,"role"`, 1)
		if summarised(w.send("t1")) {
			t.Errorf("the summary is sent although item %d is another", at)
		}
	}
	w.items = append(slices.Clone(items[:last+1]), w.call("call_x", w.tool, "{}"), w.result("call_x", w.tool, "x"))
	if summarised(w.send("t1")) {
		t.Error("the summary is sent before an answer")
	}
}

// TestSummaryAtTurnsEnd: inside a turn nothing is summarised.
func TestSummaryAtTurnsEnd(t *testing.T) {
	w := open(t, formats()[0], policy.ModeSafe)
	w.turns(11)
	if report, _ := w.Report("t1"); len(report.Summaries) > 0 {
		t.Fatal("there is a summary before the context is large")
	}
	w.ends = false
	for i := range 6 {
		w.items = append(w.items, w.person(strings.Repeat("and so on ", 1500)))
		w.step(100+i, 100)
		w.send("t1")
	}
	report, err := w.Report("t1")
	if err != nil || len(report.Summaries) > 0 || report.Tokens < w.window*60/100 {
		t.Errorf("%d summaries at %d tokens (%v)", len(report.Summaries), report.Tokens, err)
	}
}
