package policy

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"
)

// chance makes conversations and settings of all kinds, also of kinds that no agent has.
type chance struct{ *rand.Rand }

func (r chance) one(of ...int64) int64 { return of[r.IntN(len(of))] }

func (r chance) result(c Conversation, n int) Result {
	kinds := []Kind{KindOutput, KindOutput, KindOutput, KindOutput, KindInput, KindInput, KindTodo, KindSubagent, KindRetrieval, KindImage}
	res := Result{
		ID: ID(fmt.Sprint("id", n)), Tool: fmt.Sprint("tool_", r.IntN(4)), Kind: kinds[r.IntN(len(kinds))], Tokens: r.one(0, 50, 119, 120, 900, 4_000, 20_000),
		Before: c.Context, Request: c.Request, Error: r.IntN(12) == 0,
	}
	file := fmt.Sprint("f", r.IntN(5))
	switch r.IntN(4) {
	case 0:
		res.Reads = file
	case 1:
		res.Writes = file
	}
	switch r.IntN(30) {
	case 0:
		res.ID = ""
	case 1, 2:
		res.ID = ID(fmt.Sprint("id", r.IntN(n+1)))
	}
	return res
}

func (r chance) settings() Settings {
	s := Defaults([]Mode{ModeSafe, ModeLean, ModeObserve, ModeOff}[r.IntN(4)])
	s.KeptTokens, s.KeptResults, s.TurnRequests = r.one(0, 1_000, 8_000), r.IntN(5), r.IntN(12)
	s.MinBatch, s.StubTokens, s.MinResult = r.one(1, 5_000, 20_000), r.one(0, 50, 300), r.one(0, 120, 1_000)
	return s
}

// TestConversationsOfChance plays conversations of chance to their end and holds what the package guarantees, by rules
// that are written here a second time.
func TestConversationsOfChance(t *testing.T) {
	for seed := range uint64(400) {
		r := chance{rand.New(rand.NewPCG(seed, 1))}
		s := r.settings()
		c := Conversation{
			Window: r.one(0, 100_000, 200_000, 1_000_000), Context: r.one(500, 30_000), TTL: time.Duration(r.one(0, 300, 3_600)) * time.Second,
			Prices: []Prices{{0.1, 1.25}, {0.1, 2}, {0.1, 1}, {1, 1}, {0, 0}}[r.IntN(5)],
		}
		masks := 0
		for c.Request = range 60 {
			if r.IntN(6) == 0 {
				c.TurnBegins = c.Request
			}
			c.Context += r.one(10, 500, 3_000)
			for range r.IntN(4) {
				res := r.result(c, len(c.Results))
				for _, old := range c.Results {
					res.Masked = res.Masked || old.ID == res.ID && old.Masked && res.ID != "" // its caller masks by id
				}
				c.Context += res.Tokens
				c.Results = append(c.Results, res)
			}
			c.Growth = float64(c.Context) / float64(c.Request+1)
			c.Idle, c.Cold = time.Duration(r.one(1, 1, 1, 400, 4_000))*time.Second, r.IntN(20) == 0
			c.Rereads, c.MaskedResults = r.IntN(3), r.IntN(60)

			before := c
			before.Results = slices.Clone(c.Results)
			d := Decide(c, s)
			if !reflect.DeepEqual(c, before) {
				t.Fatalf("seed %d: the conversation was changed", seed)
			}
			if again := Decide(before, s); !reflect.DeepEqual(again, d) {
				t.Fatalf("seed %d: %+v, and then %+v", seed, d, again)
			}
			check(t, seed, c, s, d)
			if rules := r.rules(); c.Request%8 == 7 {
				checkRules(t, seed, c, s, rules)
			}
			for i := range c.Results {
				if slices.Contains(d.Mask, c.Results[i].ID) {
					c.Results[i].Masked = true
				}
			}
			c.Context = d.Context
			masks += len(d.Mask)
		}
		if masks == 0 && (s.Mode == ModeSafe || s.Mode == ModeLean) && s.MinBatch == 1 && c.Window == 100_000 {
			t.Errorf("seed %d: nothing was ever masked", seed)
		}
	}
}

// rules are rules of all kinds, of which some are for no tool.
func (r chance) rules() []Rule {
	var out []Rule
	for range r.IntN(4) {
		out = append(out, Rule{
			Tool: []string{"TOOL_0", "tool_*", "tool_[12]", "other"}[r.IntN(4)],
			Keep: r.IntN(3) == 0, MinTokens: r.one(0, 500, 5_000), KeepLast: r.IntN(4),
		})
	}
	return out
}

// checkRules: rules that are for no tool change nothing, and others only take away from what may be masked, namely what
// they protect.
func checkRules(t *testing.T, seed uint64, c Conversation, s Settings, rules []Rule) {
	t.Helper()
	none := s
	none.Rules = []Rule{{Tool: "other", Keep: true}, {Tool: "tool_", MinTokens: 1 << 40, KeepLast: 1 << 30}, {Tool: "tool_?"}}
	if a, b := Decide(c, s), Decide(c, none); !reflect.DeepEqual(a, b) {
		t.Fatalf("seed %d: %+v, with rules for no tool %+v", seed, a, b)
	}
	with := s
	with.Rules = rules
	for late, of := range map[bool]func(Settings) []int{
		false: func(s Settings) []int { return s.eligible(c) }, true: func(s Settings) []int { return s.eligibleLate(c) },
	} {
		before, after := of(s), of(with)
		for _, i := range after {
			if !slices.Contains(before, i) || protectedByRule(c, rules, i, late) {
				t.Fatalf("seed %d: with %+v %+v may be masked", seed, rules, c.Results[i])
			}
		}
		for _, i := range before {
			var same bool // it stands elsewhere too, where a rule protects it
			for j, res := range c.Results {
				same = same || res.ID == c.Results[i].ID && protectedByRule(c, rules, j, late)
			}
			if !slices.Contains(after, i) && !same {
				t.Fatalf("seed %d: with %+v %+v may not be masked any more", seed, rules, c.Results[i])
			}
		}
	}
}

// protectedByRule is written a second time, for one result.
func protectedByRule(c Conversation, rules []Rule, i int, late bool) bool {
	r := c.Results[i]
	for _, rule := range rules {
		if !rule.Matches(r.Tool) {
			continue
		}
		newer := 0
		for _, other := range c.Results[i+1:] {
			if other.Kind != KindInput && rule.Matches(other.Tool) {
				newer++
			}
		}
		if rule.Keep || r.Tokens < rule.MinTokens || !late && r.Kind != KindInput && newer < rule.KeepLast {
			return true
		}
	}
	return false
}

// check holds one decision.
func check(t *testing.T, seed uint64, c Conversation, s Settings, d Decision) {
	t.Helper()
	bad := func(format string, args ...any) {
		t.Helper()
		t.Fatalf("seed %d, request %d, %s: %s", seed, c.Request, d.Reason, fmt.Sprintf(format, args...))
	}
	if len(d.Mask) > 0 && (s.Mode == ModeObserve || s.Mode == ModeOff) {
		bad("mode %s masks %v", s.Mode, d.Mask)
	}
	if sorted := slices.Sorted(slices.Values(d.Mask)); len(slices.Compact(sorted)) != len(d.Mask) {
		bad("an id twice: %v", d.Mask)
	}
	freed, newest := int64(0), -1
	for i, r := range c.Results {
		if r.Kind != KindInput {
			newest = i
		}
	}
	for i, r := range c.Results {
		if !slices.Contains(d.Mask, r.ID) {
			continue
		}
		freed += r.Tokens - s.StubTokens
		switch late := d.Reason == ReasonEmergency; {
		case r.Masked:
			bad("%s is masked already", r.ID)
		case r.ID == "" || r.Error || r.Kind != KindOutput && r.Kind != KindInput || r.Tokens < s.MinResult:
			bad("%+v is never masked", r)
		case i == newest:
			bad("%s is the newest", r.ID)
		case r.Kind == KindInput && r.Request >= c.TurnBegins:
			bad("%s is an input of the running turn", r.ID)
		case !late && r.Request >= c.TurnBegins && r.Request > c.Request-s.TurnRequests:
			bad("%s is new in the running turn", r.ID)
		case !late && r.Kind == KindOutput && after(c, i) < s.KeptResults:
			bad("%s is one of the newest results", r.ID)
		}
	}
	if len(d.Mask) > 0 && (freed != d.Batch.Frees || freed <= 0 || d.Context != c.Context-freed) {
		bad("frees %d, and says %d; a context of %d after %d", freed, d.Batch.Frees, d.Context, c.Context)
	}
	if !c.cold() && d.Reason != ReasonEmergency && d.Reason != ReasonOff {
		eligible := s.eligible(c)
		for k := range eligible {
			if b := s.whole(c, eligible[k:]); b.Net() > d.Batch.Net() && !c.shared(eligible, k) && !twice(c, eligible) {
				bad("%+v would save more than %+v", b, d.Batch)
			}
		}
	}
	if d.Reason == ReasonPays && (d.Batch.Net() < 0 || d.Batch.Frees < s.MinBatch) {
		bad("does not pay: %+v", d.Batch)
	}
	if d.Batch.Rewrites < 0 || d.Batch.Rewrites > c.Context || d.Batch.Cost < 0 || d.Batch.Saves < 0 {
		bad("impossible figures: %+v", d.Batch)
	}
}

// twice reports whether a content stands more than once among results.
func twice(c Conversation, indexes []int) bool {
	seen := map[ID]bool{}
	for _, i := range indexes {
		if seen[c.Results[i].ID] {
			return true
		}
		seen[c.Results[i].ID] = true
	}
	return false
}

// after counts the results behind one.
func after(c Conversation, i int) (n int) {
	for _, r := range c.Results[i+1:] {
		if r.Kind != KindInput {
			n++
		}
	}
	return n
}

// BenchmarkDecide decides a conversation with 10,000 results.
func BenchmarkDecide(b *testing.B) {
	r := chance{rand.New(rand.NewPCG(1, 1))}
	c := Conversation{Window: 1_000_000, Request: 5_000, TurnBegins: 4_000, Growth: 1_300, Prices: Prices{0.1, 1.25}}
	for n := range 10_000 {
		c.Request = n / 2
		res := r.result(c, n)
		c.Context += res.Tokens / 20
		c.Results = append(c.Results, res)
	}
	for b.Loop() {
		Decide(c, Defaults(ModeSafe))
	}
}
