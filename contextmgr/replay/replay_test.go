package replay

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"orchestrator/contextmgr/policy"
	"orchestrator/thread/lines"
)

// story builds a session: what is said becomes its events.
type story struct {
	t  *testing.T
	b  *Builder
	at time.Duration
}

func newStory(t *testing.T, agent string) *story {
	return &story{t: t, b: NewBuilder("story", agent)}
}

func (s *story) add(e Event) *story {
	s.t.Helper()
	e.At, e.Timed = s.at, true
	if err := s.b.Add(e); err != nil {
		s.t.Fatal(err)
	}
	return s
}

// request says that a response came to a request of so many tokens. Seconds pass before.
func (s *story) request(tokens int64, seconds int) *story {
	s.at += time.Duration(seconds) * time.Second
	return s.add(Event{Kind: KindText, Usage: &Usage{CacheRead: tokens}, Model: "claude-x"})
}

func (s *story) person(bytes int64) *story {
	return s.add(Event{Kind: KindText, Person: true, Bytes: bytes})
}

// call says that a tool was called on a file, with an input and a result of so many bytes.
func (s *story) call(id, tool, file string, input, result int64) *story {
	use := policy.Describe(tool, fmt.Appendf(nil, `{"file_path":%q}`, file))
	return s.add(Event{Kind: KindCall, Tool: tool, ID: id, Bytes: input, Use: use}).
		add(Event{Kind: KindResult, Person: true, Tool: tool, ID: id, Bytes: result})
}

func (s *story) compacted() *story { return s.add(Event{Kind: KindBoundary, Person: true}) }

// sizes returns the tokens of all items of a segment.
func sizes(seg Segment) (out []int64) {
	for _, it := range seg.items {
		out = append(out, it.result.Tokens)
	}
	return out
}

// TestSizes: the sizes of what a request has first are as the provider counted.
func TestSizes(t *testing.T) {
	for _, c := range []struct {
		name   string
		growth int64
		output int64
		want   []int64 // text of the model, input, result
	}{
		{"in proportion to the bytes", 1_000, 0, []int64{0, 200, 800}},
		{"much larger than estimated", 1_000_000, 0, []int64{0, 3_000, 12_000}},
		{"the output that the provider counted", 2_000, 900, []int64{0, 900, 1_100}},
		{"an output as small as may be", 10_000, 500, []int64{0, 500, 9_500}},
		{"an output too small to be true", 1_000, 499, []int64{0, 200, 800}},
		{"an output as large as may be", 3_000, 2_000, []int64{0, 2_000, 1_000}},
		{"an output too large to be true", 3_000, 2_001, []int64{0, 600, 2_400}},
		{"an output larger than the growth", 1_000, 1_001, []int64{0, 200, 800}},
		{"a context that became smaller", -500, 0, []int64{0, 0, 0}},
	} {
		s := newStory(t, "claude")
		s.add(Event{Kind: KindText, Usage: &Usage{Input: 10_000, Output: c.output}})
		s.call("a", "Bash", "", 2_850, 11_400).request(10_000+c.growth, 1) // 1,000 and 4,000 tokens by estimate
		if got := sizes(s.b.Session().Segments[0]); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
	s := newStory(t, "claude").request(10_000, 0).add(Event{Kind: KindResult, Person: true, Images: 1}).request(10_500, 0)
	if got := sizes(s.b.Session().Segments[0]); !slices.Equal(got, []int64{0, 500}) {
		t.Errorf("an image: %v", got)
	}
}

// TestSegments: a session is cut where something was thrown away, and nowhere else.
func TestSegments(t *testing.T) {
	type segment struct {
		begins   bool
		requests int
		items    int
	}
	for _, c := range []struct {
		name  string
		story *story
		want  []segment
	}{
		{"nothing", newStory(t, ""), nil},
		{"no counts", newStory(t, "").person(9).add(Event{Kind: KindText, Usage: &Usage{Output: 9}}), nil},
		{"growth", newStory(t, "").person(9).request(100, 1).request(200, 1), []segment{{true, 2, 1}}},
		{"a little less", newStory(t, "").request(1_000, 1).request(900, 1), []segment{{true, 2, 1}}},
		{"a rewind", newStory(t, "").request(1_000, 1).request(899, 1), []segment{{true, 1, 0}, {false, 1, 0}}},
		{"a compaction", newStory(t, "").request(1_000, 1).call("a", "Bash", "", 9, 9).compacted().person(9).request(1_000, 1).request(2_000, 1),
			[]segment{{true, 1, 0}, {true, 2, 1}}},
	} {
		var got []segment
		for _, seg := range c.story.b.Session().Segments {
			got = append(got, segment{seg.Begins, len(seg.Requests), len(seg.items)})
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// TestAgents: an agent that is not named is that of the models.
func TestAgents(t *testing.T) {
	for model, want := range map[string]string{"claude-opus-4-6": "claude", "gpt-5.5": "codex", "gemini-3-pro": "gemini", "": "other"} {
		b := NewBuilder("x", "")
		if err := b.Add(Event{Kind: KindText, Usage: &Usage{Input: 9}, Model: model}); err != nil || b.Session().Agent != want {
			t.Errorf("%s: %q, %v", model, b.Session().Agent, err)
		}
	}
	if got := newStory(t, "pi").request(9, 1).b.Session().Agent; got != "pi" {
		t.Errorf("a named one is called %q", got)
	}
}

// TestLargeSession: a session that is too large ends.
func TestLargeSession(t *testing.T) {
	b := NewBuilder("x", "")
	for range mostEvents {
		if err := b.Add(Event{Kind: KindText}); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.Add(Event{Kind: KindText, Usage: &Usage{Input: 9}}); !errors.Is(err, ErrLarge) || len(b.Session().Segments) != 0 {
		t.Errorf("one more: %v", err)
	}
}

// simulate replays the only segment of a session.
func simulate(t *testing.T, s Session, p Policy, c Cache) Tally {
	t.Helper()
	got, err := Simulate(t.Context(), s.Segments[0], p, c, Front{}, 200_000)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func named(t *testing.T, name string) Policy {
	t.Helper()
	for _, p := range Policies() {
		if p.Name == name {
			return p
		}
	}
	t.Fatalf("no policy is called %q", name)
	return Policy{}
}

// near holds two costs to be the same.
func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 1e-6 {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

// TestCosts holds what requests cost that are sent as they were.
func TestCosts(t *testing.T) {
	short, long := Caches()[0], Caches()[1]
	s := newStory(t, "claude").request(10_000, 0).request(12_000, 300).request(15_000, 301).request(16_000, 3_601).b.Session()
	for _, p := range []string{"raw", "observe"} {
		got := simulate(t, s, named(t, p), short)
		near(t, p+", 5 minutes", got.RawCost, 1.25*10_000+0.1*10_000+1.25*2_000+1.25*15_000+1.25*16_000)
		near(t, p+", what it made of it", got.Cost, got.RawCost)
		got = simulate(t, s, named(t, p), long)
		near(t, p+", an hour", got.RawCost, 2*10_000+0.1*10_000+2*2_000+0.1*12_000+2*3_000+2*16_000)
		near(t, p+", what it made of it", got.Cost, got.RawCost)
		if got.RawContext != 53_000 || got.Context != 53_000 || got.RawHistory != 13_000 || got.History != 13_000 || got.Requests != 4 {
			t.Errorf("%s: %+v", p, got)
		}
	}
	other := newStory(t, "claude").request(10_000, 0).add(Event{Kind: KindText, Usage: &Usage{Input: 12_000}, Model: "claude-y"}).b.Session()
	near(t, "another model", simulate(t, other, named(t, "raw"), long).RawCost, 2*22_000)
	back := newStory(t, "claude").request(10_000, 9_000).request(10_000, -9_000).b.Session()
	near(t, "a clock that went back", simulate(t, back, named(t, "raw"), short).RawCost, 1.25*10_000+0.1*10_000)
}

// working is a session of Claude Code that reads, changes and runs much.
func working(t *testing.T) *story {
	s := newStory(t, "claude").person(100).request(40_000, 0)
	size := int64(40_000)
	for i := range 90 {
		file := fmt.Sprintf("/f%d", i/4)
		if i%4 == 0 {
			s.call(fmt.Sprint("r", i), "Read", file, 60, 7_000)
		} else {
			s.call(fmt.Sprint("b", i), "Bash", "", 300, 3_000)
		}
		s.call(fmt.Sprint("e", i), "Edit", file, 700, 300)
		size += 1_400
		s.request(size, 20)
		if i%10 == 9 {
			s.person(200)
		}
	}
	return s
}

// TestMasking: the modes send less for less, and change fewer files whose read is masked the safer they are.
func TestMasking(t *testing.T) {
	s := working(t).b.Session()
	for _, cache := range Caches() {
		raw := simulate(t, s, named(t, "raw"), cache)
		safe := simulate(t, s, named(t, "safe"), cache)
		lean := simulate(t, s, named(t, "lean"), cache)
		sliding := simulate(t, s, named(t, "sliding"), cache)
		if !(lean.Context <= safe.Context && safe.Context < raw.Context && safe.Cost < raw.Cost && lean.Cost < raw.Cost) {
			t.Errorf("%s: raw %+v\nsafe %+v\nlean %+v", cache.Name, raw, safe, lean)
		}
		if sliding.Cost <= raw.Cost || sliding.Context >= raw.Context || sliding.Masks < 20 {
			t.Errorf("%s: sliding %+v", cache.Name, sliding)
		}
		if safe.Masks < 1 || safe.Masks > 12 || safe.Edits != 90 || safe.EditsRead != 67 || safe.EditsHit > lean.EditsHit || raw.EditsHit != 0 {
			t.Errorf("%s: safe %+v, lean %+v", cache.Name, safe, lean)
		}
		if raw.RawSmall != 58 || raw.Small != 58 || raw.Windowed != 91 || safe.Small != 91 || raw.Summaries != 0 {
			t.Errorf("%s: %d and %d of %d below 60 %%, safe %d", cache.Name, raw.RawSmall, raw.Small, raw.Windowed, safe.Small)
		}
	}
	observed := simulate(t, s, named(t, "observe"), Caches()[0])
	if observed.Summaries != 33 || observed.Warnings != 0 {
		t.Errorf("observed: %+v", observed)
	}
}

// TestOneMask holds a single mask against a calculation by hand.
func TestOneMask(t *testing.T) {
	s := newStory(t, "codex").request(10_000, 0) // inputs of Codex are never masked
	for i, size := range []int64{30_000, 31_000, 32_000, 33_000} {
		s.call(fmt.Sprint(i), "exec", "", 0, 3_500).request(size, 1)
	}
	p := Policy{Name: "one", Settings: policy.Settings{StubTokens: 50}, Last: 3}
	got := simulate(t, s.b.Session(), p, Caches()[0])
	// The last request masks the first result: 3,000 of 20,000 tokens, since no piece is more than three times its
	// estimate. 17,000 belong to what is not in the session, in front.
	sent := int64(33_000 - 3_000 + 50)
	near(t, "cost", got.Cost, 1.25*10_000+0.1*10_000+1.25*20_000+0.1*30_000+1.25*1_000+0.1*31_000+1.25*1_000+
		0.1*27_000+1.25*float64(sent-27_000))
	if got.Masks != 1 || got.Context != 10_000+30_000+31_000+32_000+sent {
		t.Errorf("%+v", got)
	}
	if seg := s.b.Session().Segments[0]; slices.ContainsFunc(seg.items, func(it item) bool { return it.work && it.result.Kind == policy.KindInput }) {
		t.Error("inputs of Codex may be masked")
	}
}

// TestHits: a change counts as a hit if the last read of the file was masked before.
func TestHits(t *testing.T) {
	s := newStory(t, "claude").request(10_000, 0).
		call("1", "Read", "/f", 0, 3_000).call("2", "Read", "/g", 0, 3_000).request(12_000, 1).
		call("3", "Edit", "/f", 0, 10).call("4", "Edit", "/new", 0, 10).request(12_100, 1).
		call("5", "Edit", "/f", 0, 10).call("6", "Read", "/f", 0, 3_000).request(13_100, 1).
		call("7", "Edit", "/f", 0, 10).call("8", "Edit", "/g", 0, 10)
	p := Policy{Name: "one", Settings: policy.Settings{StubTokens: 50}, Last: 3}
	got := simulate(t, s.b.Session(), p, Caches()[0])
	if got.Edits != 5 || got.EditsRead != 4 || got.EditsHit != 2 { // 5 of /f and 8 of /g
		t.Errorf("%+v", got)
	}
}

// TestRereadsAreCounted: reading the same part of a file again soon after it was masked tells the policy to keep more.
func TestRereadsAreCounted(t *testing.T) {
	r := &run{maskedAt: map[read]int{{"/f", ""}: 3, {"/g", ""}: 3, {"/h", "1+2"}: 3}}
	r.segment.items = []item{
		{work: true, result: policy.Result{Reads: "/f"}}, {work: true, result: policy.Result{Reads: "/f"}},
		{work: true, result: policy.Result{Reads: "/h"}, part: "9+9"}, {work: true},
	}
	r.take(18, Request{items: 4})
	if r.rereads != 1 {
		t.Errorf("%d re-reads", r.rereads)
	}
	r.segment.items = append(r.segment.items, item{work: true, result: policy.Result{Reads: "/g"}})
	if r.take(19, Request{items: 5}); r.rereads != 1 {
		t.Errorf("long after it was masked: %d re-reads", r.rereads)
	}
}

// TestComparison holds which groups a session is in, and what is said of it.
func TestComparison(t *testing.T) {
	window := int64(200_000)
	c := NewComparison(Compared{Policies: Policies(), Caches: Caches()}, Models{Window: func(model string, used int64) int64 {
		if model != "claude-x" || used == 0 {
			t.Errorf("asked for the window of %q, %d", model, used)
		}
		return window
	}})
	add := func(s *story) {
		t.Helper()
		if err := c.Add(t.Context(), s.b.Session()); err != nil {
			t.Fatal(err)
		}
	}
	add(working(t))
	add(newStory(t, "claude").request(59_999, 1))
	add(newStory(t, "claude").request(60_000, 1))
	add(newStory(t, "claude").request(100_001, 1).request(50_000, 1)) // a rewind: no clean start
	add(newStory(t, "aider").request(100_000, 1))
	window = 1_000_000
	add(newStory(t, "claude").request(200_000, 1))
	window = 0
	add(newStory(t, "pi").request(90_000, 1))
	type row struct {
		agent    string
		sessions Sessions
		count    int
		segments int
		requests int
	}
	var got []row
	for _, g := range c.Groups() {
		got = append(got, row{g.Agent, g.Sessions, g.Count, g.Segments, g.Requests})
	}
	want := []row{
		{"aider", AllSessions, 1, 1, 1},
		{"claude", AllSessions, 5, 6, 96}, {"claude", CleanSessions, 3, 3, 93}, {"claude", LargeSessions, 2, 3, 93}, {"claude", LongSessions, 1, 1, 1},
		{"pi", AllSessions, 1, 1, 1}, {"pi", CleanSessions, 1, 1, 1},
	}
	if !slices.Equal(got, want) {
		t.Errorf("groups\n%v, want\n%v", got, want)
	}
	alone := NewComparison(Compared{Policies: Policies(), Caches: Caches()}, Models{
		Window: func(string, int64) int64 { return 200_000 },
		Price:  func(model string) (float64, bool) { return 0.25, model == "claude-x" },
	})
	for _, seg := range []Session{working(t).b.Session(), {Agent: "claude", Segments: []Segment{{Model: "unpriced"}}}} {
		if err := alone.Add(t.Context(), seg); err != nil {
			t.Fatal(err)
		}
	}
	g := alone.Groups()[0]
	tally := simulate(t, working(t).b.Session(), named(t, "safe"), Caches()[1])
	near(t, "mean context", g.Context, float64(tally.RawContext)/91)
	near(t, "mean history", g.History, float64(tally.RawHistory)/91)
	near(t, "below 60 %", g.Small, 100*58./91)
	o := g.Results[5]
	if o.Policy != "safe" || o.Cache != "1h" || o.Edits != 90 || o.EditsRead != 67 || o.EditsHit != tally.EditsHit {
		t.Errorf("%+v", o)
	}
	near(t, "context", o.Context, float64(tally.Context)/91)
	near(t, "its cut", o.ContextCut, 100-100*float64(tally.Context)/float64(tally.RawContext))
	near(t, "history", o.History, float64(tally.History)/91)
	near(t, "its cut", o.HistoryCut, 100-100*float64(tally.History)/float64(tally.RawHistory))
	near(t, "cost", o.Cost, 100*tally.Cost/tally.RawCost-100)
	near(t, "below 60 %", o.Small, 100)
	near(t, "masks", o.Masks, float64(tally.Masks)/2)
	near(t, "cost in USD", o.USD, tally.Cost/4)
	if near(t, "and what was sent", o.RawUSD, tally.RawCost/4); o.Priced != 91 {
		t.Errorf("%d requests with a price", o.Priced)
	}
	near(t, "hits", o.HitShare, 100*float64(tally.EditsHit)/67)
}

// TestCancel: a replay ends with its context.
func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	c := NewComparison(Compared{Policies: Policies(), Caches: Caches()}, Models{Window: func(string, int64) int64 { return 0 }})
	if err := c.Add(ctx, working(t).b.Session()); !errors.Is(err, context.Canceled) {
		t.Errorf("ended with %v", err)
	}
}

// TestRecorded reads a session as it is recorded and replays it.
func TestRecorded(t *testing.T) {
	lines := `{"role":"user","type":"text","content":"fix it","t":0}
{"role":"assistant","type":"text","content":"I look.","t":1,"req":0,"usage":{"in":5,"read":0,"write":9995,"out":40},"model":"claude-opus-4-6"}
{"role":"assistant","type":"tool_use","tool":"Read","id":"x1","content":"{\"file_path\":\"/f\"}","t":1,"req":0}
not JSON
{"role":"user","type":"tool_result","tool":"Read","id":"x1","content":"` + strings.Repeat("line\\n", 2_000) + `","t":2}
{"role":"assistant","type":"text","content":"Done.","t":3,"req":1,"usage":{"in":5,"read":10000,"write":3995,"out":9},"model":"claude-opus-4-6"}
`
	b := NewBuilder("x", "claude")
	broken := 0
	for e, err := range Read(strings.NewReader(lines)) {
		if err != nil {
			broken++
		} else if err := b.Add(e); err != nil {
			t.Fatal(err)
		}
	}
	s := b.Session()
	if broken != 1 || len(s.Segments) != 1 || len(s.Segments[0].Requests) != 2 || s.Largest() != 14_000 {
		t.Fatalf("%d broken lines, %+v", broken, s)
	}
	it := s.Segments[0].items[2]
	if it.result.Reads != "/f" || it.result.Lines != 2_000 || it.result.Tokens < 3_900 || it.result.Tokens > 4_000 {
		t.Errorf("the read is %+v", it.result)
	}
}

// FuzzReplay reads and replays whatever a file holds: nothing panics, and no figure is impossible.
func FuzzReplay(f *testing.F) {
	f.Add([]byte(`{"type":"text","usage":{"in":9000},"model":"gpt-5.5"}` + "\n" + `{"type":"tool_result","id":"a","content":"xxxxxxxxxxxxxx"}` +
		"\n" + `{"type":"text","usage":{"in":99000}}` + "\n" + `{"type":"text","usage":{"in":90000}}`))
	f.Add([]byte(`{"type":"boundary"}` + "\nx\n" + `{"type":"tool_use","tool":"Edit","id":"a","content":"{\"file_path\":\"/f\"}","usage":{"read":1}}`))
	f.Fuzz(func(t *testing.T, content []byte) {
		b := NewBuilder("x", "")
		for e, err := range Read(bytes.NewReader(content)) {
			if err == nil {
				err = b.Add(e)
			}
			if broken := (*lines.Broken)(nil); err != nil && !errors.As(err, &broken) {
				t.Fatal(err)
			}
		}
		for _, seg := range b.Session().Segments {
			for _, p := range Policies() {
				got, err := Simulate(t.Context(), seg, p, Caches()[0], Front{}, 200_000)
				if err != nil {
					t.Fatal(err)
				}
				if got.Context > got.RawContext || got.Context < 0 || got.History > got.RawHistory || got.Small < got.RawSmall || got.Cost < 0 ||
					got.EditsHit > got.EditsRead || got.EditsRead > got.Edits || got.Requests != len(seg.Requests) {
					t.Fatalf("%s: %+v", p.Name, got)
				}
			}
		}
	})
}
