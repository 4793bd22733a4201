package policy

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"orchestrator/thread"
)

// settings returns settings with which the rules are tested, whatever the defaults are.
func settings(m Mode) Settings {
	return Settings{
		Mode:         m,
		TriggerShare: 30, TriggerTokens: 60_000,
		KeptTokens: 6_000, KeptResults: 3, TurnRequests: 8, FileTokens: 10_000,
		FileRequests: 30, FileShare: math.Inf(1), FileChanged: 1, // as long as FileRequests, whatever it costs
		MinBatch: 8_000, MinBatchCold: 2_000, MinResult: 120, StubTokens: 50,
		Remaining: 50, HalfLife: 400, RereadShare: 5,
	}
}

// talk builds a conversation piece by piece.
type talk struct{ c Conversation }

// newTalk begins a conversation of 40,000 tokens with prices of a cache of five minutes.
func newTalk() *talk {
	return &talk{Conversation{
		Window: 200_000, Context: 40_000, Growth: 1_300, Prices: Prices{Read: 0.1, Write: 1.25}, TTL: 5 * time.Minute,
	}}
}

// add adds a result with the next request.
func (t *talk) add(r Result) *talk {
	t.c.Request++
	r.Request, r.Before = t.c.Request, t.c.Context
	t.c.Context += r.Tokens
	t.c.Results = append(t.c.Results, r)
	return t
}

// outputs adds results of a shell, named a0, a1, …
func (t *talk) outputs(name string, n int, tokens int64) *talk {
	for i := range n {
		t.add(Result{ID: ID(name + string(rune('0'+i))), Tool: "Bash", Tokens: tokens})
	}
	return t
}

// later lets requests pass without results; the last one begins a turn.
func (t *talk) later(requests int) *talk {
	t.c.Request += requests
	t.c.TurnBegins = t.c.Request
	return t
}

func ids(names ...ID) []ID { return names }

// TestBatches holds when something is masked, and for what reason.
func TestBatches(t *testing.T) {
	old := func() *talk { return newTalk().outputs("a", 3, 10_000).outputs("b", 3, 3_000).later(1) } // 79,000 tokens
	few := func() *talk { return newTalk().outputs("a", 1, 7_000).outputs("b", 3, 6_000).later(1) }  // 65,000
	all := ids("a0", "a1", "a2")
	for _, c := range []struct {
		name   string
		talk   *talk
		change func(*Conversation, *Settings)
		reason Reason
		mask   []ID
	}{
		{"a batch that pays", old(), nil, ReasonPays, all},
		{"a context below the share of the window", old(), func(c *Conversation, _ *Settings) { c.Window, c.Context = 180_000, 53_999 }, ReasonSmall, nil},
		{"a context at the share of the window", old(), func(c *Conversation, _ *Settings) { c.Window, c.Context = 180_000, 54_000 }, ReasonPays, all},
		{"a context below the number of tokens", old(), func(c *Conversation, _ *Settings) { c.Window, c.Context = 1_000_000, 59_999 }, ReasonSmall, nil},
		{"a context at the number of tokens", old(), func(c *Conversation, _ *Settings) { c.Window, c.Context = 1_000_000, 60_000 }, ReasonPays, all},
		{"an unknown window", old(), func(c *Conversation, _ *Settings) { c.Window, c.Context = 0, 59_999 }, ReasonSmall, nil},
		{"an unknown window and enough tokens", old(), func(c *Conversation, _ *Settings) { c.Window = 0 }, ReasonPays, all},
		{"a batch that is too small", few(), nil, ReasonFew, nil},
		{"a smaller batch is enough", few(), func(_ *Conversation, s *Settings) { s.MinBatch, s.KeptTokens = 6_000, 0 }, ReasonPays, ids("a0")},
		{"a small batch with a cold cache", few(), func(c *Conversation, _ *Settings) { c.Idle = 5*time.Minute + 1 }, ReasonCold, ids("a0")},
		{"a pause as long as the cache lives", few(), func(c *Conversation, _ *Settings) { c.Idle = 5 * time.Minute }, ReasonFew, nil},
		{"a long pause and a cache that lives nobody knows how long", few(), func(c *Conversation, _ *Settings) { c.Idle, c.TTL = time.Hour, 0 }, ReasonFew, nil},
		{"a cache that is lost for another reason", few(), func(c *Conversation, _ *Settings) { c.Cold = true }, ReasonCold, ids("a0")},
		{"a cold cache in a small context", few(), func(c *Conversation, _ *Settings) { c.Cold, c.Context = true, 50_000 }, ReasonCold, ids("a0")},
		{"a cold cache and almost nothing to mask", few(), func(c *Conversation, s *Settings) { c.Cold, s.MinBatchCold = true, 6_951 }, ReasonFew, nil},
		{"a cold cache and just enough to mask", few(), func(c *Conversation, s *Settings) { c.Cold, s.MinBatchCold = true, 6_950 }, ReasonCold, ids("a0")},
		{"a batch that does not pay in the requests to come", old(), func(_ *Conversation, s *Settings) { s.Remaining = fewestRemaining; s.HalfLife = 0 },
			ReasonPays, all}, // S is 9,150 and D 29,850: 3.5 requests
		{"a batch that is too dear", old(), func(c *Conversation, _ *Settings) { c.Context = 400_000; c.Window = 1_000_000 }, ReasonCosts, nil},
		{"a write that costs nothing", old(), func(c *Conversation, _ *Settings) {
			c.Context, c.Window, c.Prices = 400_000, 1_000_000, Prices{Read: 1, Write: 1}
		}, ReasonPays, all},
		{"reads that cost nothing", old(), func(c *Conversation, _ *Settings) { c.Prices.Read = 0 }, ReasonCosts, nil},
		{"no results", newTalk(), func(c *Conversation, _ *Settings) { c.Context = 100_000 }, ReasonNothing, nil},
		{"mode observe", old(), func(_ *Conversation, s *Settings) { s.Mode = ModeObserve }, ReasonPays, nil},
		{"mode off", old(), func(_ *Conversation, s *Settings) { s.Mode = ModeOff }, ReasonOff, nil},
		{"no mode", old(), func(_ *Conversation, s *Settings) { s.Mode = "" }, ReasonOff, nil},
	} {
		s := settings(ModeSafe)
		if c.change != nil {
			c.change(&c.talk.c, &s)
		}
		d := Decide(c.talk.c, s)
		if d.Reason != c.reason || !slices.Equal(d.Mask, c.mask) {
			t.Errorf("%s: %q, masks %v; want %q, %v (%+v)", c.name, d.Reason, d.Mask, c.reason, c.mask, d.Batch)
		}
		if want := c.talk.c.Context - int64(min(1, len(d.Mask)))*d.Batch.Frees; d.Context != want {
			t.Errorf("%s: a context of %d, want %d", c.name, d.Context, want)
		}
	}
}

// TestFigures holds the figures of a batch against those that were worked out by hand.
func TestFigures(t *testing.T) {
	s := settings(ModeLean)
	s.HalfLife = 0
	k := newTalk().outputs("a", 2, 10_050).outputs("b", 3, 4_000).later(1) // D = 20,000, S = 12,000 and two stubs
	d := Decide(k.c, s)
	b := d.Batch
	if b.Frees != 20_000 || b.Rewrites != 12_100 || b.Expected != 50 {
		t.Fatalf("%+v", b)
	}
	near := func(what string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 1e-6 {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	near("cost", b.Cost, 1.15*12_100)
	near("saves", b.Saves, 2_000)
	near("break-even", b.BreakEven, 1.15*12_100/2_000)
	near("net", b.Net(), 2_000*50-1.15*12_100)
	if d.Context != k.c.Context-20_000 {
		t.Errorf("a context of %d", d.Context)
	}

	k.c.Cold = true
	b = Decide(k.c, s).Batch
	if b.Rewrites != 0 || b.Cost != 0 || b.BreakEven != 0 || b.Frees != 20_000 {
		t.Errorf("with a cold cache: %+v", b)
	}
}

// TestSmallResultFarInFront: a small result in front of much that stays is not masked with the batch behind it, until the
// cache is lost.
func TestSmallResultFarInFront(t *testing.T) {
	k := newTalk().outputs("a", 1, 500)
	k.c.Context += 200_000 // a long text
	k.outputs("b", 3, 10_000).outputs("c", 3, 3_000).later(1)
	k.c.Window = 1_000_000
	s := settings(ModeSafe)
	if d := Decide(k.c, s); !slices.Equal(d.Mask, ids("b0", "b1", "b2")) || d.Reason != ReasonPays {
		t.Errorf("masks %v, %q", d.Mask, d.Reason)
	}
	k.c.Results[0].ID = "b2" // the same content: one cannot be masked without the other
	if d := Decide(k.c, s); len(d.Mask) != 0 || d.Reason != ReasonCosts {
		t.Errorf("one content twice: masks %v, %q", d.Mask, d.Reason)
	}
	k.c.Results[0].ID, k.c.Cold = "a0", true
	if d := Decide(k.c, s); !slices.Equal(d.Mask, ids("a0", "b0", "b1", "b2")) {
		t.Errorf("with a cold cache: masks %v", d.Mask)
	}
}

// TestBatchSize: half of what costs least, at least the minimum.
func TestBatchSize(t *testing.T) {
	s := settings(ModeSafe)
	s.MinBatch, s.KeptTokens = 1_000, 8_000
	for _, c := range []struct {
		growth float64
		prices Prices
		want   int64
	}{
		{1_300, Prices{0.1, 1.25}, 7_733}, {1_300, Prices{0.1, 2}, 9_939}, {5_200, Prices{0.1, 1.25}, 15_466},
		{1, Prices{0.1, 1.25}, 1_000}, {0, Prices{0.1, 1.25}, 1_000}, {-5, Prices{0.1, 1.25}, 1_000},
		{1_300, Prices{1, 1}, 1_000}, {1_300, Prices{1, 0.5}, 1_000}, {1_300, Prices{0, 1}, 1_000}, {1_300, Prices{}, 1_000},
		{math.NaN(), Prices{0.1, 1.25}, 1_000}, {math.Inf(1), Prices{0.1, 1.25}, 1_000},
	} {
		if got := s.batchSize(Conversation{Growth: c.growth, Prices: c.prices}); got != c.want {
			t.Errorf("growth %v, %v: %d, want %d", c.growth, c.prices, got, c.want)
		}
	}
}

// TestRemaining: the longer a conversation has been, the less of it is expected.
func TestRemaining(t *testing.T) {
	s := Settings{Remaining: 40, HalfLife: 100}
	for request, want := range map[int]float64{-3: 40, 0: 40, 100: 20, 300: 10, 5_000: fewestRemaining} {
		if got := s.remaining(Conversation{Request: request}); got != want {
			t.Errorf("after %d requests: %v, want %v", request, got, want)
		}
	}
}

// TestProtection holds, for each rule, what it protects and where it ends. The cache is cold, so that nothing else keeps
// a result from being masked.
func TestProtection(t *testing.T) {
	const big = 5_000
	for _, c := range []struct {
		name string
		talk *talk
		set  func(*Settings)
		mask []ID
	}{
		{"the newest three, however large", newTalk().outputs("a", 5, 25_000).later(9), nil, ids("a0", "a1")},
		{"the newest tokens", newTalk().outputs("a", 9, 1_100).later(9), nil, ids("a0", "a1", "a2", "a3")},
		{"exactly the newest tokens", newTalk().outputs("a", 9, 1_200).later(9), nil, ids("a0", "a1", "a2", "a3")},
		{"more tokens", newTalk().outputs("a", 9, 1_100).later(9), func(s *Settings) { s.KeptTokens = 7_000 }, ids("a0", "a1", "a2")},
		{"what was masked does not count as newest tokens",
			newTalk().outputs("a", 3, 1_000).add(Result{ID: "m", Tokens: big, Masked: true}).outputs("b", 6, 1_000).later(9), nil, ids("a0", "a1", "a2")},
		{"the newest requests of the turn", newTalk().later(1).outputs("a", 9, big), nil, ids("a0")},
		{"a short turn", newTalk().outputs("a", 5, big).later(1).outputs("b", 4, big), nil, ids("a0", "a1", "a2", "a3", "a4")},
		{"fewer requests of the turn", newTalk().later(1).outputs("a", 9, big), func(s *Settings) { s.TurnRequests = 4 },
			ids("a0", "a1", "a2", "a3", "a4")},
		{"errors", newTalk().add(Result{ID: "e", Tokens: big, Error: true}).outputs("a", 4, big).later(9), nil, ids("a0")},
		{"small results", newTalk().add(Result{ID: "s", Tokens: 119}).add(Result{ID: "l", Tokens: 120}).outputs("a", 4, big).later(9), nil, ids("l", "a0")},
		{"results no larger than the stub", newTalk().add(Result{ID: "s", Tokens: 200}).outputs("a", 4, big).later(9), func(s *Settings) { s.StubTokens = 200 }, ids("a0")},
		{"what is masked", newTalk().add(Result{ID: "m", Tokens: big, Masked: true}).outputs("a", 4, big).later(9), nil, ids("a0")},
		{"results without an id", newTalk().add(Result{Tokens: big}).outputs("a", 4, big).later(9), nil, ids("a0")},
		{"a content that is also new", newTalk().add(Result{ID: "a3", Tokens: big}).outputs("a", 4, big).later(9), nil, ids("a0")},
		{"a content that stands twice", newTalk().outputs("a", 1, big).outputs("a", 4, big).later(9), nil, ids("a0")},
		{"inputs of the running turn", newTalk().add(Result{ID: "i", Kind: KindInput, Tokens: big}).later(1).
			add(Result{ID: "j", Kind: KindInput, Tokens: big}).outputs("a", 12, 2_000), nil, ids("i", "a0", "a1", "a2", "a3")},
		{"inputs among the newest results", newTalk().outputs("a", 2, big).add(Result{ID: "i", Kind: KindInput, Tokens: big}).outputs("b", 2, big).later(9),
			nil, ids("a0")},
	} {
		c.talk.c.Cold = true
		s := settings(ModeSafe)
		if c.set != nil {
			c.set(&s)
		}
		if d := Decide(c.talk.c, s); !slices.Equal(d.Mask, c.mask) {
			t.Errorf("%s: masks %v, want %v (%s)", c.name, d.Mask, c.mask, d.Reason)
		}
	}
	for _, kind := range []Kind{KindTodo, KindPlan, KindSkill, KindSubagent, KindPerson, KindServer, KindImage, KindRetrieval, "new"} {
		k := newTalk().add(Result{ID: "k", Kind: kind, Tokens: big}).outputs("a", 4, big).later(9)
		k.c.Cold = true
		if d := Decide(k.c, settings(ModeLean)); !slices.Equal(d.Mask, ids("a0")) {
			t.Errorf("kind %q: masks %v", kind, d.Mask)
		}
	}
}

// TestFiles: in mode safe the last read of a file that is being worked on stays, with the changes after it.
func TestFiles(t *testing.T) {
	read := func(id ID, file string, tokens int64) Result {
		return Result{ID: id, Tool: "Read", Tokens: tokens, Reads: file}
	}
	write := func(id ID, file string) Result {
		return Result{ID: id, Tool: "Edit", Kind: KindInput, Tokens: 1_000, Writes: file}
	}
	for _, c := range []struct {
		name string
		talk *talk
		mode Mode
		mask []ID
	}{
		{"its last read", newTalk().add(read("r0", "f", 4_000)).add(read("r1", "f", 4_000)).outputs("a", 4, 5_000).later(1), ModeSafe, ids("r0", "a0")},
		{"in mode lean not even that", newTalk().add(read("r0", "f", 4_000)).add(read("r1", "f", 4_000)).outputs("a", 4, 5_000).later(1), ModeLean, ids("r0", "r1", "a0")},
		{"until it is no longer worked on", newTalk().add(read("r0", "f", 4_000)).outputs("a", 4, 5_000).later(26), ModeSafe, ids("r0", "a0")},
		{"just before that", newTalk().add(read("r0", "f", 4_000)).outputs("a", 4, 5_000).later(25), ModeSafe, ids("a0")},
		{"a write makes it worked on again", newTalk().add(read("r0", "f", 4_000)).later(20).add(write("w", "f")).outputs("a", 4, 5_000).later(20), ModeSafe, ids("a0")},
		{"a change before the last read does not stay", newTalk().add(write("w", "f")).add(read("r0", "f", 4_000)).outputs("a", 4, 5_000).later(1), ModeSafe, ids("w", "a0")},
		{"a change of a file that was never read stays", newTalk().add(write("w", "f")).outputs("a", 4, 5_000).later(1), ModeSafe, ids("a0")},
		{"a read that failed is no read", newTalk().add(read("r0", "f", 4_000)).add(Result{ID: "e", Tokens: 3_000, Reads: "f", Error: true}).outputs("a", 4, 5_000).later(1), ModeSafe, ids("a0")},
		{"those that were touched last, as far as they fit",
			newTalk().add(read("r0", "f", 4_000)).add(read("r1", "g", 4_000)).add(read("r2", "h", 6_000)).outputs("a", 4, 5_000).later(1), ModeSafe, ids("r0", "a0")},
		{"a large one that does not fit makes room for others",
			newTalk().add(read("r0", "f", 4_000)).add(read("r1", "g", 4_000)).add(read("r2", "h", 10_001)).outputs("a", 4, 5_000).later(1), ModeSafe, ids("r2", "a0")},
		{"a masked read takes no room",
			newTalk().add(read("r0", "f", 6_000)).add(Result{ID: "m", Tokens: 9_000, Reads: "g", Masked: true}).outputs("a", 4, 5_000).later(1), ModeSafe, ids("a0")},
	} {
		c.talk.c.Cold = true
		if d := Decide(c.talk.c, settings(c.mode)); !slices.Equal(d.Mask, c.mask) {
			t.Errorf("%s: masks %v, want %v", c.name, d.Mask, c.mask)
		}
	}
}

// TestWorth: a read is kept until that has cost a share of what reading again would cost.
func TestWorth(t *testing.T) {
	s := Settings{Mode: ModeSafe, FileRequests: 40, FileShare: 0.5, FileChanged: 2, RereadTokens: 10_000}
	fiveMinutes := Prices{Read: 0.1, Write: 1.25}
	for _, c := range []struct {
		tokens, context int64
		prices          Prices
		changed         bool
		want            float64
	}{
		{5_000, 80_000, fiveMinutes, false, 0.5 * (12.5 + 18)},
		{5_000, 80_000, fiveMinutes, true, 12.5 + 18},
		{15_000, 80_000, fiveMinutes, false, 0.5 * (12.5 + 6)},
		{15_000, 140_000, fiveMinutes, false, 0.5 * (12.5 + 10)},       // reading again reads a larger context
		{15_000, 80_000, Prices{Read: 0.1, Write: 2}, false, 0.5 * 26}, // and writing costs more
		{500, 80_000, fiveMinutes, false, 40},                          // never longer
		{5_000, 80_000, Prices{}, false, 40},
		{0, 80_000, fiveMinutes, true, 40},
	} {
		got := s.worth(Conversation{Context: c.context, Prices: c.prices}, c.tokens, c.changed)
		if math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%+v: %v requests", c, got)
		}
	}
	// A large file goes before a small one that was read with it, and a changed one stays.
	talk := func(after int) Conversation {
		k := newTalk().add(Result{ID: "large", Tokens: 20_000, Reads: "l"}).add(Result{ID: "changed", Tokens: 20_000, Reads: "c"}).
			add(Result{ID: "small", Tokens: 1_000, Reads: "s"}).add(Result{ID: "w", Kind: KindInput, Tokens: 100, Writes: "c"}).
			outputs("a", 3, 5_000).later(after)
		k.c.Cold = true
		return k.c
	}
	s = settings(ModeSafe)
	s.FileTokens, s.FileShare, s.FileChanged, s.RereadTokens, s.FileRequests = 100_000, 0.5, 2, 10_000, 40
	for after, want := range map[int][]ID{1: nil, 10: ids("large"), 20: ids("large", "changed"), 40: ids("large", "changed", "small")} {
		if d := Decide(talk(after), s); !slices.Equal(d.Mask, want) {
			t.Errorf("%d requests later: masks %v, want %v", after, d.Mask, want)
		}
	}
}

// TestRereads: if more than one in twenty masked results is read again, more is protected.
func TestRereads(t *testing.T) {
	s := settings(ModeSafe)
	for _, c := range []struct{ rereads, masked, want int }{
		{0, 0, 1}, {3, 0, 1}, {0, 100, 1}, {5, 100, 1}, {6, 100, 2}, {10, 100, 2}, {11, 100, 3}, {16, 100, 4}, {100, 100, mostStretch}, {-1, 10, 1},
	} {
		if got := s.stretch(Conversation{Rereads: c.rereads, MaskedResults: c.masked}); got != c.want {
			t.Errorf("%d of %d read again: %d, want %d", c.rereads, c.masked, got, c.want)
		}
	}
	s.RereadShare = 0
	if got := s.stretch(Conversation{Rereads: 9, MaskedResults: 9}); got != 1 {
		t.Errorf("switched off: %d", got)
	}
	k := newTalk().add(Result{ID: "r", Tokens: 12_000, Reads: "f"}).outputs("a", 3, 5_000).outputs("b", 3, 2_000).later(24)
	k.c.Cold = true
	if d := Decide(k.c, settings(ModeSafe)); !slices.Equal(d.Mask, ids("r", "a0", "a1", "a2")) {
		t.Errorf("masks %v", d.Mask)
	}
	k.c.Rereads, k.c.MaskedResults = 2, 20 // twice as many tokens, requests and tokens of files
	if d := Decide(k.c, settings(ModeSafe)); !slices.Equal(d.Mask, ids("a0", "a1")) {
		t.Errorf("after re-reads: masks %v", d.Mask)
	}
}

// TestBands: what is asked for by the share of the window, and that an almost full one drops protections.
func TestBands(t *testing.T) {
	full := func(context int64) *talk {
		k := newTalk().add(Result{ID: "r", Tokens: 3_000, Reads: "f"}).add(Result{ID: "e", Tokens: 3_000, Error: true}).
			add(Result{ID: "i", Tokens: 3_000, Kind: KindInput}).later(1).outputs("a", 3, 3_000).add(Result{ID: "j", Tokens: 3_000, Kind: KindInput})
		k.c.Context = context
		return k
	}
	s := settings(ModeSafe)
	for _, c := range []struct {
		context int64
		mask    []ID
		reason  Reason
		ask     Ask
	}{
		{119_999, nil, ReasonNothing, AskNothing}, {120_000, nil, ReasonNothing, AskSummarise}, {179_999, nil, ReasonNothing, AskSummarise},
		{180_000, ids("r", "i", "a0", "a1"), ReasonEmergency, AskSummarise}, {195_000, ids("r", "i", "a0", "a1"), ReasonEmergency, AskWarn},
		{205_000, ids("r", "i", "a0", "a1"), ReasonEmergency, AskFork},
	} {
		k := full(c.context)
		if c.reason == ReasonNothing { // only the errors and what is new
			k.c.Results = k.c.Results[3:]
		}
		if d := Decide(k.c, s); !slices.Equal(d.Mask, c.mask) || d.Ask != c.ask || d.Reason != c.reason {
			t.Errorf("%d tokens: masks %v, asks %q, %q; want %v, %q, %q", c.context, d.Mask, d.Ask, d.Reason, c.mask, c.ask, c.reason)
		}
	}
	if d := Decide(full(190_000).c, settings(ModeOff)); d.Ask != AskFork || d.Mask != nil {
		t.Errorf("mode off asks %q, masks %v", d.Ask, d.Mask)
	}
	k := full(190_000)
	k.c.Window = 0
	if d := Decide(k.c, s); d.Ask != AskNothing || d.Reason == ReasonEmergency {
		t.Errorf("an unknown window: asks %q, %q", d.Ask, d.Reason)
	}
	k = newTalk().outputs("a", 2, 1_500)
	k.c.Context = 190_000
	if d := Decide(k.c, s); len(d.Mask) != 0 {
		t.Errorf("an emergency masks %v, which frees too little", d.Mask)
	}
}

// TestForecast checks the sentence that describes a batch to people.
func TestForecast(t *testing.T) {
	b := Batch{Frees: 41_000, Rewrites: 33_000, Cost: 37_950, Saves: 4_100, BreakEven: 37_950. / 4_100}
	for _, c := range []struct {
		change func(*Batch)
		usd    float64
		want   string
	}{
		{func(*Batch) {}, 5e-6, "masking now frees 41k, costs one cache write of $0.19, pays back in 10 requests"},
		{func(*Batch) {}, 0, "masking now frees 41k, costs one cache write of 33k tokens, pays back in 10 requests"},
		{func(b *Batch) { b.BreakEven = 0.2 }, 5e-6, "masking now frees 41k, costs one cache write of $0.19, pays back in 1 request"},
		{func(b *Batch) { b.Cost, b.BreakEven = 0, 0 }, 5e-6, "masking now frees 41k and costs nothing"},
		{func(b *Batch) { b.BreakEven = math.Inf(1) }, 5e-6, "masking now frees 41k and never pays back"},
		{func(b *Batch) { *b = Batch{} }, 5e-6, "nothing to mask"},
	} {
		forecast := b
		c.change(&forecast)
		if got := forecast.Forecast(c.usd); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// TestDescribe: what calls of the agents' tools mean.
func TestDescribe(t *testing.T) {
	for _, c := range []struct {
		tool, input string
		want        Use
	}{
		{"Read", `{"file_path":"/a"}`, Use{Reads: "/a"}},
		{"Read", `{"file_path":"/a","offset":10,"limit":"x"}`, Use{Reads: "/a", Part: `10+"x"+`}},
		{"read", `{"filePath":"/a"}`, Use{Reads: "/a"}}, {"read_file", `{"absolute_path":"/a"}`, Use{Reads: "/a"}},
		{"Edit", `{"file_path":"/a"}`, Use{Writes: "/a"}}, {"NotebookEdit", `{"notebook_path":"/a"}`, Use{Writes: "/a"}},
		{"apply_patch", "*** Begin Patch\n*** Update File: b.go\n", Use{Writes: "b.go"}},
		{"apply_patch", `{"input":"*** Begin Patch\n*** Add File: b.go\n"}`, Use{Writes: "b.go"}},
		{"patch", `{"patchText":"*** Delete File: b.go\n"}`, Use{Writes: "b.go"}},
		{"Edit", `{"file_path":"` + strings.Repeat("x", mostName+1) + `"}`, Use{}}, {"Edit", "not JSON", Use{}},
		{"Bash", `{"command":"ls"}`, Use{}}, {"mcp__x__read", `{"path":"/a"}`, Use{}}, {"", "", Use{}},
		{"TodoWrite", `{}`, Use{Kind: KindTodo}}, {"update_plan", `{}`, Use{Kind: KindPlan}}, {"Skill", `{}`, Use{Kind: KindSkill}},
		{"Task", `{"path":"/a"}`, Use{Kind: KindSubagent}}, {"wait_agent", `{}`, Use{Kind: KindSubagent}},
		{"AskUserQuestion", `{}`, Use{Kind: KindPerson}}, {"view_image", `{}`, Use{Kind: KindImage}},
	} {
		if got := Describe(c.tool, []byte(c.input)); got != c.want {
			t.Errorf("%s %.40s: %+v, want %+v", c.tool, c.input, got, c.want)
		}
	}
}

// TestBandsAreTheThreads: the emergency begins where the gauge says so.
func TestBandsAreTheThreads(t *testing.T) {
	for percent := int64(0); percent <= 120; percent++ {
		if got, want := bandOf(percent*1_000, 100_000), thread.BandOf(float64(percent)); got != want {
			t.Errorf("%d %%: %s, want %s", percent, got, want)
		}
	}
}

// TestDefaults: the defaults of all modes differ in the mode alone, and each rule of them is in force.
func TestDefaults(t *testing.T) {
	d := Defaults(ModeSafe)
	for _, m := range []Mode{ModeLean, ModeObserve, ModeOff} {
		want := d
		want.Mode = m
		if got := Defaults(m); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v", m, got)
		}
	}
	v := reflect.ValueOf(d)
	for i := range v.NumField() {
		if name := v.Type().Field(i).Name; v.Field(i).IsZero() != (name == "Rules") {
			t.Errorf("%s is not set, or is", name)
		}
	}
	if d.TriggerShare != 30 || d.TriggerTokens != 60_000 || d.KeptResults < 3 || d.MinResult < 120 {
		t.Errorf("%+v", d)
	}
}
