package checkpoint_test

import (
	"slices"
	"testing"
	"time"

	"orchestrator/checkpoint"
	"orchestrator/thread"
)

func TestFinishedRuns(t *testing.T) {
	run := func(id thread.ID, days int, change func(*checkpoint.Candidate)) checkpoint.Candidate {
		c := checkpoint.Candidate{Thread: thread.Thread{ID: id, Name: string(id), Created: ago(days + 1), Updated: ago(days), Once: thread.Once{On: true}}}
		if change != nil {
			change(&c)
		}
		return c
	}
	of := func(parent thread.ID) func(*checkpoint.Candidate) {
		return func(c *checkpoint.Candidate) { c.Thread.Parent = parent }
	}
	all := func(list ...checkpoint.Candidate) []checkpoint.Candidate { return list }
	for name, tc := range map[string]struct {
		days int
		all  []checkpoint.Candidate
		want []thread.ID
	}{
		"never":          {0, all(run("a", 900, nil)), nil},
		"age":            {30, all(run("young", 29, nil), run("b", 30, nil), run("c", 40, nil)), []thread.ID{"c", "b"}},
		"in a terminal":  {30, all(run("a", 900, func(c *checkpoint.Candidate) { c.Thread.Once.On = false })), nil},
		"pinned":         {30, all(run("a", 900, func(c *checkpoint.Candidate) { c.Thread.Pinned = true })), nil},
		"interrupted":    {30, all(run("a", 900, func(c *checkpoint.Candidate) { c.Thread.Interrupted = true })), nil},
		"running":        {30, all(run("a", 900, func(c *checkpoint.Candidate) { c.Running = true })), nil},
		"archived":       {30, all(run("a", 900, func(c *checkpoint.Candidate) { c.Thread.Archived = ago(1) })), nil},
		"deleted":        {30, all(run("a", 900, func(c *checkpoint.Candidate) { c.Thread.Deleted = ago(1) })), nil},
		"forked":         {30, all(run("a", 900, nil), run("b", 2, of("a"))), nil},
		"a line":         {30, all(run("a", 900, nil), run("b", 800, of("a")), run("c", 2, of("b"))), nil},
		"a line, unlike": {30, all(run("c", 2, of("b")), run("b", 800, of("a")), run("a", 900, nil)), nil},
		"a family":       {30, all(run("a", 900, nil), run("b", 800, of("a"))), []thread.ID{"a", "b"}},
		"an old fork": {30, all(run("a", 900, nil), run("b", 800, func(c *checkpoint.Candidate) {
			c.Thread.Parent, c.Thread.Archived = "a", ago(1)
		})), []thread.ID{"a"}},
	} {
		var got []thread.ID
		for _, th := range checkpoint.FinishedRuns(time.Duration(tc.days)*day, now.Sub, tc.all) {
			got = append(got, th.ID)
		}
		if !slices.Equal(got, tc.want) {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}
