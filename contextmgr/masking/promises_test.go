package masking_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"orchestrator/contextmgr/masking"
	"orchestrator/contextmgr/policy"
	"orchestrator/contextmgr/wire"
	"orchestrator/thread"
)

// TestModeChanges: with observe and off everything is sent again as it came, and the same masks are back with safe.
func TestModeChanges(t *testing.T) {
	w := open(t, formats()[0], policy.ModeSafe)
	last := w.grow(60)
	raw := w.body(w.model, strings.Join(w.items, ","))
	for _, mode := range []policy.Mode{policy.ModeObserve, policy.ModeOff} {
		w.mode = mode
		if got := w.send("t1"); got != raw {
			t.Errorf("%s: the request is not sent as it came", mode)
		}
	}
	if err := w.Change("t1", thread.ContextChange{Mask: []string{"all"}}); !errors.Is(err, thread.ErrRefused) {
		t.Errorf("masked by hand in mode off: %v", err)
	}
	w.mode = policy.ModeSafe
	got := w.send("t1")
	for _, was := range stub.FindAllString(last, -1) {
		if !strings.Contains(got, was) {
			t.Errorf("back in mode safe %s is not sent", was)
		}
	}
	off := open(t, formats()[0], policy.ModeOff)
	off.items = []string{off.person("hello")}
	off.send("t1")
	if r, err := off.Report("t1"); err != nil || r.Reason != masking.NotFilled {
		t.Errorf("a request was read with mode off: %+v (%v)", r, err)
	}
}

// TestSideRequests: they get the masks that there are, and decide nothing.
func TestSideRequests(t *testing.T) {
	w := open(t, formats()[0], policy.ModeLean)
	w.items = []string{w.person("fix the bug")}
	for i := range 60 {
		w.step(i, 1500)
	}
	w.path = "/v1/messages/count_tokens"
	if got := w.send("t1"); got != w.body(w.model, strings.Join(w.items, ",")) {
		t.Error("a token count decided what is masked")
	}
}

func TestNotMasked(t *testing.T) {
	for _, f := range some(t) {
		w := open(t, f, policy.ModeLean)
		orphan := f.result("nobody", "", text(777, 2000))
		w.items = []string{w.person("fix the bug"), orphan}
		last := w.grow(60)
		if !strings.Contains(last, orphan) {
			t.Errorf("%s: a result that nobody asked for is masked", f.codec.Wire())
		}
		// What was masked is read again, by its file: it stays.
		file := stub.FindStringSubmatch(last)[4]
		again := f.result("again", f.tool, text(888, 3000))
		w.items = append(w.items, f.call("again", f.tool, `{"command":"cat `+file+`"}`), again)
		for i := range 60 {
			w.step(1000+i, 1500)
			last = w.send("t1")
		}
		if !strings.Contains(last, again) {
			t.Errorf("%s: what was read again is masked again", f.codec.Wire())
		}
		if strings.Contains(last, `"`+text(1050, 1500)) {
			t.Errorf("%s: nothing is masked any more", f.codec.Wire())
		}
	}
}

// TestEditedHistory: a result with other bytes than those that were masked is sent as it is.
func TestEditedHistory(t *testing.T) {
	for _, f := range some(t) {
		w := open(t, f, policy.ModeLean)
		last := w.grow(60)
		if len(stub.FindAllString(last, -1)) == 0 {
			t.Fatal("nothing is masked")
		}
		edited := f.result("call_2", f.tool, text(999, 10))
		w.items[6] = edited
		if got := w.send("t1"); !strings.Contains(got, edited) {
			t.Errorf("%s: an edited result is masked as the one before", f.codec.Wire())
		}
	}
}

// TestCounted: the context is what the provider counted and what was added since, and errors count nothing.
func TestCounted(t *testing.T) {
	w := open(t, formats()[0], policy.ModeObserve)
	w.items = []string{w.person("fix the bug")}
	w.step(0, 100)
	w.usage = 50_000
	w.send("t1")
	size := func() int64 {
		t.Helper()
		r, err := w.Report("t1")
		if err != nil {
			t.Fatal(err)
		}
		return r.Tokens
	}
	if got := size(); got != 50_000 {
		t.Errorf("the provider counted 50000 tokens, %d are shown", got)
	}
	w.step(1, 1000)
	w.usage, w.status = 7, 500
	w.send("t1")
	if got := size(); got < 51_000 || got > 51_500 {
		t.Errorf("after an error and 1000 more tokens %d are shown", got)
	}
}

// TestColdCache: old results are masked below the trigger only if the cache is certainly lost.
func TestColdCache(t *testing.T) {
	for _, tc := range []struct {
		name  string
		usage func(w *world)
		pause time.Duration
		model string
		want  bool
	}{
		{"no pause", func(w *world) { w.write = 10 }, 0, "", false},
		{"a pause, with a cache of minutes", func(w *world) { w.write = 10 }, 6 * time.Minute, "", true},
		{"a pause, with a cache of an hour", func(w *world) { w.write, w.writeHour = 10, 10 }, 6 * time.Minute, "", false},
		{"a long pause, with a cache of an hour", func(w *world) { w.write, w.writeHour = 10, 10 }, 2 * time.Hour, "", true},
		{"a pause, and nothing known", func(*world) {}, 6 * time.Minute, "", false},
		{"a long pause, and nothing known", func(*world) {}, 2 * time.Hour, "", true},
		{"another model", func(w *world) { w.write = 10 }, 0, "claude-opus-4-6", true},
	} {
		w := open(t, formats()[0], policy.ModeLean)
		w.window = 200_000
		tc.usage(w)
		w.items = []string{w.person("fix the bug")}
		for i := range 20 {
			w.step(i, 1000)
			w.send("t1")
		}
		w.now = w.now.Add(tc.pause)
		if tc.model != "" {
			w.model = tc.model
		}
		w.items = append(w.items, w.person("and now this"))
		if got := len(stub.FindAllString(w.send("t1"), -1)) > 0; got != tc.want {
			t.Errorf("%s: masked %v", tc.name, got)
		}
	}
}

// TestFullAgain: people are warned again once the context had become smaller; with observe nothing is refused.
func TestFullAgain(t *testing.T) {
	w := open(t, formats()[0], policy.ModeSafe)
	w.wayOut = "Fork it."
	w.items = []string{w.person("fix the bug " + text(0, 20_000))}
	sizes := func(share int64) {
		t.Helper()
		r, err := w.Report("t1")
		if err != nil {
			t.Fatal(err)
		}
		w.window = r.Tokens * 100 / share
		w.send("t1")
	}
	w.window = 0
	w.send("t1")
	for _, share := range []int64{92, 93, 50, 92} {
		sizes(share)
	}
	if len(w.notices) != 2 {
		t.Errorf("people were told %q", w.notices)
	}
	w.mode = policy.ModeObserve
	if sizes(120); w.refused != "" {
		t.Errorf("a request is refused with observe: %s", w.refused)
	}
	w.mode, w.window = policy.ModeSafe, 0
	w.send("t1") // the provider takes no more than the window has
	if sizes(120); w.refused == "" {
		t.Error("a request that does not fit is sent")
	}
}

// TestSaved: what masks save is less what they cost.
func TestSaved(t *testing.T) {
	w := open(t, formats()[0], policy.ModeLean)
	w.grow(60)
	w.status = 529
	if w.send("t1"); w.saved[len(w.saved)-1] != 0 {
		t.Errorf("a request that failed saved $%f", w.saved[len(w.saved)-1])
	}
	w.status = 200
	if n := w.negative(); n != w.events {
		t.Errorf("%d requests cost more than they saved, of %d that wrote the cache anew", n, w.events)
	}
	if slices.Max(w.saved) <= 0 {
		t.Error("no request saved anything")
	}
}

// TestNotShorter: an input of many short strings would not get shorter: it is not masked, nor does it count as masked.
func TestNotShorter(t *testing.T) {
	w := open(t, formats()[0], policy.ModeLean)
	w.items = []string{w.person("fix the bug")}
	var fields []string
	for i := range 200 {
		fields = append(fields, fmt.Sprintf(`"option_%d":"a short value"`, i))
	}
	long := "{" + strings.Join(fields, ",") + "}"
	for i := range 40 {
		id := fmt.Sprintf("call_%d", i)
		w.items = append(w.items, w.call(id, w.tool, long), w.result(id, w.tool, "ok"))
		w.send("t1")
	}
	r, err := w.Report("t1")
	if err != nil || r.Masked != 0 || strings.Contains(w.send("t1"), "[Masked: ") {
		t.Errorf("%d tokens count as masked (%v)", r.Masked, err)
	}
}

// TestWithoutIDs: of two same results without ids only the one that was masked is.
func TestWithoutIDs(t *testing.T) {
	f := formats()[3]
	f.call = func(_, tool, input string) string {
		return fmt.Sprintf(`{"role":"model","parts":[{"functionCall":{"name":"%s","args":%s}}]}`, tool, input)
	}
	f.result = func(_, tool, text string) string {
		return fmt.Sprintf(`{"role":"user","parts":[{"functionResponse":{"name":"%s","response":{"output":%s}}}]}`, tool,
			wire.Quote(text))
	}
	w := open(t, f, policy.ModeLean)
	if last := w.grow(60); !strings.Contains(last, "[Masked: ") {
		t.Fatal("nothing is masked")
	}
	same := f.result("", f.tool, text(2, 1500))
	w.items = append(w.items, f.call("", f.tool, `{"command":"cat file2"}`), same)
	if n := strings.Count(w.send("t1"), same); n != 1 {
		t.Errorf("the newer of two same results is sent %d times", n)
	}
}

// TestTwoSessions: two conversations in one thread, with other models and tools, do not make each other's cache look
// lost, and what was counted for one is not believed of the other.
func TestTwoSessions(t *testing.T) {
	w := open(t, formats()[0], policy.ModeLean)
	w.window = 200_000
	one, two := []string{w.person("fix the bug")}, []string{w.person("write the docs " + text(5, 20_000))}
	for i := range 20 {
		w.items, w.session, w.model = one, "one", "claude-sonnet-4-6"
		w.step(i, 1000)
		one = w.items
		if got := w.send("t1"); strings.Contains(got, "[Masked: ") {
			t.Fatalf("request %d: the cache counts as lost", i)
		}
		if r, err := w.Report("t1"); err != nil || r.Tokens > int64(2000*(i+1)) {
			t.Fatalf("request %d has %d tokens (%v)", i, r.Tokens, err)
		}
		w.items, w.session, w.model = two, "two", "claude-opus-4-6"
		w.send("t1")
	}
}

// TestLogin: whoever chooses the settings is told how the agent pays.
func TestLogin(t *testing.T) {
	w := open(t, formats()[0], policy.ModeLean)
	w.items = []string{w.person("fix the bug")}
	for i := range 60 {
		w.step(i, 1500)
	}
	w.oauth = true
	if got := w.send("t1"); got != w.body(w.model, strings.Join(w.items, ",")) {
		t.Error("a request of a subscription login is masked")
	}
	r, err := w.Report("t1")
	if err != nil || r.Mode != thread.MaskObserve || r.Why != "the agent uses a subscription login" {
		t.Errorf("people are told %s, %s (%v)", r.Mode, r.Why, err)
	}
	w.oauth = false
	if got := w.send("t1"); !strings.Contains(got, "[Masked: ") {
		t.Error("a request with a key is not masked")
	}
}
