package work_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"orchestrator/thread"
	"orchestrator/thread/turns"
	"orchestrator/thread/work"
)

func TestCapped(t *testing.T) {
	off := thread.Caps{Calls: work.Uncapped, Words: work.Uncapped}
	for _, c := range []struct {
		name         string
		once         thread.Once
		set          thread.Caps
		calls, words int
	}{
		{"usual", thread.Once{}, thread.Caps{}, 20, 500},
		{"fast", thread.Once{Tier: thread.TierFast}, thread.Caps{}, 20, 100},
		{"strong", thread.Once{Tier: thread.TierStrong}, thread.Caps{}, 20, -1},
		{"frontier", thread.Once{Tier: thread.TierFrontier}, thread.Caps{}, 20, -1},
		{"read-only", thread.Once{ReadOnly: true}, thread.Caps{}, 10, 500},
		{"explore", thread.Once{Caps: thread.Caps{Explore: true}}, thread.Caps{}, 10, 200},
		{"explore, frontier", thread.Once{Tier: thread.TierFrontier, Caps: thread.Caps{Explore: true}}, thread.Caps{}, 10, 200},
		{"explore, off", thread.Once{Caps: thread.Caps{Explore: true}}, off, -1, 200},
		{"stated", thread.Once{ReadOnly: true, Caps: thread.Caps{Calls: 35, Words: 50}}, off, 35, 50},
		{"none", thread.Once{Caps: off}, thread.Caps{Calls: 5, Words: 5}, -1, -1},
		{"configured", thread.Once{Tier: thread.TierFast, ReadOnly: true}, thread.Caps{Calls: 40, Words: 900}, 40, 900},
		{"off", thread.Once{}, off, -1, -1},
	} {
		got := work.Capped(c.once, c.set)
		if got.Calls != c.calls || got.Words != c.words || got.Explore != c.once.Caps.Explore || got.NoTools {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
}

func TestTold(t *testing.T) {
	const (
		read  = "Read each needed file once, then edit."
		again = "one diagnostic read after a failure; after two failed attempts stop, re-read from scratch and try another approach"
		gap   = "When the calls run out, report progress and the named gap."
	)
	for _, c := range []struct {
		name     string
		x        work.Execution
		has, not []string
	}{
		{"usual", work.Execution{Caps: thread.Caps{Calls: 20, Words: 500}}, []string{"at most 500 words", "20 tool calls", read, again, gap}, nil},
		{"explore", work.Execution{Caps: thread.Caps{Calls: 10, Words: 200, Explore: true}}, []string{"report in under 200 words", "10 tool calls"}, []string{"edit"}},
		{"read-only", work.Execution{ReadOnly: true, Caps: thread.Caps{Calls: 10, Words: 500}}, []string{"Read each needed file once."}, []string{"edit"}},
		{"no calls", work.Execution{Caps: thread.Caps{Calls: -1, Words: 100}}, []string{"at most 100 words", read, again}, []string{"tool call", gap}},
		{"no words", work.Execution{Caps: thread.Caps{Calls: 1, Words: -1}}, []string{"as long as it needs", "1 tool call,"}, []string{"words"}},
		{"some are used", work.Execution{Calls: 18, Caps: thread.Caps{Calls: 20, Words: -1}}, []string{"2 tool calls"}, nil},
	} {
		told := work.Told(c.x)
		for _, s := range c.has {
			if !strings.Contains(told, s) {
				t.Errorf("%s: %q is not in %q", c.name, s, told)
			}
		}
		for _, s := range c.not {
			if strings.Contains(told, s) {
				t.Errorf("%s: %q is in %q", c.name, s, told)
			}
		}
	}
	for _, x := range []work.Execution{{Caps: thread.Caps{Calls: -1, Words: -1}}, {Reporting: true, Caps: thread.Caps{Calls: 20, Words: 500}}} {
		if told := work.Told(x); told != "" {
			t.Errorf("%+v is told %q", x, told)
		}
	}
}

// TestToldApart: whoever reads what the agent was sent finds the person's words in it.
func TestToldApart(t *testing.T) {
	told := work.Told(work.Execution{Caps: thread.Caps{Calls: 20, Words: 500}})
	for _, prompt := range []string{"fix it", "fix it\n\nand then:\n- test it", "what does <run-limits> mean?", strings.Repeat("words of a long prompt ", 100)} {
		prompt = strings.TrimSpace(prompt)
		whole := prompt + "\n\n" + told
		if got := turns.Person(whole); got != prompt {
			t.Errorf("%q is read as %q", whole, got)
		}
		if got := turns.Claim(whole, []string{"another", prompt}); !slices.Equal(got, []int{1}) {
			t.Errorf("%q is in none of the prompts: %v", whole, got)
		}
		if words, told := work.Apart(whole); words != prompt || !strings.HasPrefix(told, "Report in at most 500 words; code does not count. You have 20 tool calls") {
			t.Errorf("%q is %q and %q", whole, words, told)
		}
		if words, told := work.Apart(prompt); words != prompt || told != "" {
			t.Errorf("%q is %q and %q", prompt, words, told)
		}
	}
}

func TestCheckCaps(t *testing.T) {
	for _, c := range []thread.Caps{{Calls: -2}, {Words: -2}, {Calls: 2_000_000}, {Explore: true, Words: 300}} {
		if err := work.CheckCaps(c); !errors.Is(err, thread.ErrInvalid) {
			t.Errorf("%+v: %v", c, err)
		}
	}
	for _, c := range []thread.Caps{{}, {Calls: -1, Words: -1}, {Explore: true, Calls: 40}} {
		if err := work.CheckCaps(c); err != nil {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

func TestExhausted(t *testing.T) {
	for _, c := range []struct {
		calls, most int
		want        bool
	}{{19, 20, false}, {20, 20, true}, {23, 20, true}, {23, -1, false}, {0, 0, false}} {
		if got := (work.Execution{Calls: c.calls, Caps: thread.Caps{Calls: c.most}}).Exhausted(); got != c.want {
			t.Errorf("%d of %d: %v", c.calls, c.most, got)
		}
	}
}
