package replay

import (
	"slices"
	"testing"

	"orchestrator/contextmgr/policy"
)

// TestItems: what of a session may be masked, and what the policy is told of it.
func TestItems(t *testing.T) {
	type work struct {
		kind          policy.Kind
		reads, writes string
		turn          int // of the request that has it first
	}
	for _, c := range []struct {
		agent, model string
		want         []work
	}{
		{"claude", "claude-x", []work{{policy.KindInput, "", "", 0}, {"", "/r", "", 0}, {policy.KindInput, "", "/w", 2}, {"", "", "/w", 2},
			{policy.KindTodo, "", "", 2}, {policy.KindImage, "", "", 2}}},
		{"", "gpt-5.5", []work{{"", "/r", "", 0}, {"", "", "/w", 2}, {policy.KindTodo, "", "", 2}, {policy.KindImage, "", "", 2}}},
		{"codex", "claude-x", []work{{"", "/r", "", 0}, {"", "", "/w", 2}, {policy.KindTodo, "", "", 2}, {policy.KindImage, "", "", 2}}},
	} {
		s := newStory(t, c.agent)
		request := func(tokens int64) {
			s.add(Event{Kind: KindText, Usage: &Usage{Input: tokens}, Model: c.model})
		}
		request(10_000)
		s.call("a", "Read", "/r", 10, 1_000)
		request(11_000)
		s.call("b", "Edit", "/w", 500, 10).call("c", "TodoWrite", "", 10, 10).
			add(Event{Kind: KindResult, Person: true, Tool: "Shot", ID: "unknown", Images: 1}).person(10)
		request(12_000)
		seg := s.b.Session().Segments[0]
		var got []work
		for _, it := range seg.items {
			if r := it.result; it.work {
				got = append(got, work{r.Kind, r.Reads, r.Writes, seg.Requests[r.Request].turn})
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s %s: %v, want %v", c.agent, c.model, got, c.want)
		}
	}
}

// TestToldToThePolicy: results stand where the pieces before them end, and re-reads are counted against masked results.
func TestToldToThePolicy(t *testing.T) {
	s := newStory(t, "claude").request(10_000, 0).
		call("a", "Read", "/r", 0, 2_850).call("b", "Bash", "", 0, 5_700).request(13_000, 1).
		call("c", "Bash", "", 0, 2_850).request(14_000, 1).b.Session()
	seg := s.Segments[0]
	r := &run{policy: Policy{Last: 1, Settings: policy.Settings{StubTokens: 50}}, segment: seg, maskedAt: make(map[read]int)}
	befores := func() (out []int64) {
		for _, res := range r.results {
			if res.Kind == policy.KindOutput {
				out = append(out, res.Before)
			}
		}
		return out
	}
	if first := r.decide(1, seg.Requests[1], r.take(1, seg.Requests[1])); first != 10_000 || !slices.Equal(befores(), []int64{10_000, 11_000}) {
		t.Errorf("masks from %d, results stand at %v", first, befores())
	}
	if r.masked != 1 || len(r.maskedAt) != 1 || r.maskedAt[read{"/r", ""}] != 1 {
		t.Errorf("%d masked, %v", r.masked, r.maskedAt)
	}
	if first := r.decide(2, seg.Requests[2], r.take(2, seg.Requests[2])); first != 10_050 || !slices.Equal(befores(), []int64{10_000, 10_050, 12_050}) {
		t.Errorf("masks from %d, results stand at %v", first, befores())
	}
	if r.masked != 2 || len(r.maskedAt) != 1 {
		t.Errorf("%d masked, %v", r.masked, r.maskedAt)
	}
	c := r.conversation(2, seg.Requests[2], 12_100)
	if c.Growth != 2_000 || c.MaskedResults != 2 || c.Context != 12_100 || c.Request != 2 || c.Cold {
		t.Errorf("told %+v", c)
	}
}

// TestSixtyPercent: a context of exactly 60 % of the window is not below it.
func TestSixtyPercent(t *testing.T) {
	for tokens, want := range map[int64]int{119_999: 1, 120_000: 0} {
		got := simulate(t, newStory(t, "claude").request(tokens, 0).b.Session(), named(t, "raw"), Caches()[0])
		if got.RawSmall != want || got.Small != want || got.Windowed != 1 {
			t.Errorf("%d tokens: %+v", tokens, got)
		}
	}
	got, err := Simulate(t.Context(), newStory(t, "claude").request(9, 0).b.Session().Segments[0], named(t, "raw"), Caches()[0], Front{}, 0)
	if err != nil || got.Windowed != 0 || got.Small != 0 {
		t.Errorf("an unknown window: %+v, %v", got, err)
	}
}
