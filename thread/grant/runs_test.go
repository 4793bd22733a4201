package grant_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/grant"
	"orchestrator/thread/work"
)

// TestMayWish: the grant to start runs alone gives what is configured, and no more; other grants give what they say.
func TestMayWish(t *testing.T) {
	b := grant.Bounds{Agents: []string{"claude", "demo"}, Deadline: 10 * time.Minute, Lost: work.PolicyResume, Dispose: work.DisposeBranch,
		OnFail: work.FailWait, Fallbacks: map[string]string{"claude": "model:haiku"}}
	readOnly, plain := b, grant.Bounds{}
	readOnly.ReadOnly = true
	tiers := grant.Bounds{
		Agents: b.Agents, Tier: "standard", Model: "own",
		Tiers: work.Models{"claude": {"fast": "small", "standard": "middle", "strong": "large"}},
	}
	fast, off := tiers, tiers
	fast.Tier, off.Caps = "fast", thread.Caps{Calls: -1, Words: -1}
	on := func(o thread.Once) grant.Wish { o.On = true; return grant.Wish{Once: o, Agent: "claude"} }
	in := func(o thread.Once) grant.Wish { w := on(o); w.InPlace = true; return w }
	model := func(name string) grant.Wish { w := on(thread.Once{}); w.Model = name; return w }
	calls := func(n int) grant.Wish { return on(thread.Once{Caps: thread.Caps{Calls: n}}) }
	for _, c := range []struct {
		what  string
		wish  grant.Wish
		b     grant.Bounds
		needs string // besides the grant to start runs; "" if nothing
	}{
		{"nothing of its own", on(thread.Once{}), b, ""},
		{"less than usual", on(thread.Once{Priority: -1, Deadline: time.Minute, Lost: "ask", Dispose: "keep", ReadOnly: true}), b, ""},
		{"what is configured", on(thread.Once{Deadline: 10 * time.Minute, Lost: "resume", Dispose: "branch"}), b, ""},
		{"another that is configured", grant.Wish{Once: thread.Once{On: true}, Agent: "demo"}, b, ""},
		{"its own work session", on(thread.Once{Session: "search"}), grant.Bounds{Agents: b.Agents, Sessions: []string{"search"}}, ""},
		{"another's work session", on(thread.Once{Session: "other"}), grant.Bounds{Agents: b.Agents, Sessions: []string{"search"}}, "start"},
		{"the parent's agent", grant.Wish{Once: thread.Once{On: true}}, b, ""},
		{"another agent", grant.Wish{Once: thread.Once{On: true}, Agent: "opencode"}, b, "start"},
		{"to write in place", in(thread.Once{}), b, "start"},
		{"to read in place", in(thread.Once{ReadOnly: true}), b, ""},
		{"to go first", on(thread.Once{Priority: 1}), b, "start"},
		{"more time", on(thread.Once{Deadline: 10*time.Minute + 1}), b, "start"},
		{"time without a bound", on(thread.Once{Deadline: time.Hour}), grant.Bounds{Agents: b.Agents}, ""},
		{"a retry", on(thread.Once{Lost: "retry"}), b, "start"},
		{"to go on", on(thread.Once{Lost: "resume"}), grant.Bounds{Agents: b.Agents, Lost: work.PolicyAsk}, "start"},
		{"to ask when it fails", on(thread.Once{OnFail: "ask"}), b, ""},
		{"to wait as configured", on(thread.Once{OnFail: "wait", Fallback: "none"}), b, ""},
		{"another attempt", on(thread.Once{OnFail: "retry"}), b, "start"},
		{"its fallback by itself", on(thread.Once{OnFail: "fallback"}), b, "start"},
		{"the fallback that is configured", on(thread.Once{Fallback: "model:haiku"}), b, ""},
		{"another fallback", on(thread.Once{Fallback: "model:opus"}), b, "start"},
		{"another agent as its fallback", on(thread.Once{Fallback: "demo"}), b, "start"},
		{"a fallback of its own agent", grant.Wish{Once: thread.Once{On: true, Fallback: "model:haiku"}}, b, "start"},
		{"to fail", on(thread.Once{Lost: "fail"}), b, ""},
		{"to write, and reads itself", on(thread.Once{}), readOnly, "start"},
		{"to read, and reads itself", on(thread.Once{ReadOnly: true}), readOnly, ""},
		{"a merge", on(thread.Once{Dispose: "merge"}), b, "merge"},
		{"a merge as configured", on(thread.Once{Dispose: "merge"}), grant.Bounds{Agents: b.Agents, Dispose: work.DisposeMerge}, ""},
		{"no branch", on(thread.Once{Dispose: "drop"}), b, "manage"},
		{"to keep it, where it is dropped", on(thread.Once{Dispose: "keep"}), grant.Bounds{Agents: b.Agents, Dispose: work.DisposeDrop}, ""},
		{"a lower tier", on(thread.Once{Tier: "fast"}), tiers, ""},
		{"its own tier", on(thread.Once{Tier: "standard"}), tiers, ""},
		{"a higher tier", on(thread.Once{Tier: "strong"}), tiers, "start"},
		{"standard, which is higher", on(thread.Once{}), fast, "start"},
		{"fast, as itself", on(thread.Once{Tier: "fast"}), fast, ""},
		{"its own model", model("own"), tiers, ""},
		{"the model of its tier", model("middle"), tiers, ""},
		{"the model of a higher tier", model("large"), tiers, "start"},
		{"some model", model("huge"), tiers, "start"},
		{"many calls", calls(200), tiers, ""},
		{"calls without a bound", calls(-1), tiers, "start"},
		{"words without a bound", on(thread.Once{Caps: thread.Caps{Words: -1}}), tiers, "start"},
		{"no bound, as configured", calls(-1), off, ""},
		{"no run", grant.Wish{Once: thread.Once{Priority: 9, Dispose: "merge"}, Agent: "x", InPlace: true}, plain, ""},
	} {
		caller := func(g ...thread.Grant) grant.Caller {
			return grant.Caller{Agent: true, Thread: "a", Name: "a-1", Grants: append(g, grant.Run)}
		}
		err := caller().MayWish(c.wish, c.b)
		if (err == nil) != (c.needs == "") || err != nil && (!errors.Is(err, thread.ErrNotGranted) || !strings.Contains(err.Error(), "grants a-1 --add "+c.needs)) {
			t.Errorf("%s: %v, needs %q", c.what, err, c.needs)
		}
		if err := caller(thread.Grant(c.needs)).MayWish(c.wish, c.b); err != nil {
			t.Errorf("%s, with the grant %q: %v", c.what, c.needs, err)
		}
		if err := (grant.Caller{}).MayWish(c.wish, c.b); err != nil {
			t.Errorf("%s, by the person: %v", c.what, err)
		}
		for _, other := range []thread.Grant{grant.Start, grant.Merge, grant.Manage} {
			err := caller(other).MayWish(c.wish, c.b)
			if want := c.needs == "" || string(other) == c.needs; (err == nil) != want {
				t.Errorf("%s, with the grant %q: %v", c.what, other, err)
			}
		}
	}
}
