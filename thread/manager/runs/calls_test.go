package runs

import (
	"testing"

	"orchestrator/thread"
)

func tool(call, sub, reads string) thread.RunEvent {
	return thread.RunEvent{Kind: thread.RunTool, Call: call, Sub: sub, Reads: reads}
}

func returned(call, sub string) thread.RunEvent {
	return thread.RunEvent{Kind: thread.RunResult, Call: call, Sub: sub}
}

func TestCalls(t *testing.T) {
	for _, c := range []struct {
		name         string
		before, most int
		events       []thread.RunEvent
		over         int // after this many events, -1 for never
		made         int
	}{
		{"the last has returned", 0, 2, []thread.RunEvent{tool("a", "", ""), returned("a", ""), tool("b", "", ""), returned("b", "")}, 4, 2},
		{"one more has begun", 0, 1, []thread.RunEvent{tool("a", "", ""), tool("b", "", "")}, 2, 2},
		{"a batch within the bound", 0, 2, []thread.RunEvent{tool("a", "", ""), tool("b", "", ""), returned("b", ""), returned("a", "")}, 4, 2},
		{"a batch over it", 1, 2, []thread.RunEvent{tool("a", "", ""), tool("b", "", "")}, 2, 2},
		{"a sub-agent's are counted", 0, 2, []thread.RunEvent{tool("a", "", ""), tool("x", "a", ""), returned("x", "a"), tool("y", "a", "")}, 4, 3},
		{"its ids are its own", 0, 2, []thread.RunEvent{tool("a", "", ""), tool("a", "s", ""), returned("a", "s")}, -1, 2},
		{"without ids", 0, 2, []thread.RunEvent{tool("", "", ""), returned("", ""), tool("", "", ""), returned("", "")}, 4, 2},
		{"attempts before", 19, 20, []thread.RunEvent{tool("a", "", ""), returned("a", "")}, 2, 1},
		{"nothing was called since", 20, 20, []thread.RunEvent{{Kind: thread.RunText, Text: "x"}}, -1, 0},
		{"no bound", 0, -1, []thread.RunEvent{tool("a", "", ""), returned("a", "")}, -1, 1},
	} {
		var calls Calls
		over := -1
		for i, e := range c.events {
			if calls.Add(e); over < 0 && (calls.Over(c.before, c.most) || calls.Used(c.before, c.most)) {
				over = i + 1
			}
		}
		if over != c.over || calls.Made != c.made {
			t.Errorf("%s: over after %d, made %d; want %d, %d", c.name, over, calls.Made, c.over, c.made)
		}
	}
}

func TestRereads(t *testing.T) {
	c := Calls{Dir: "/work"}
	for i, file := range []string{"a.txt", "./a.txt", "/work/a.txt", "b.txt", "/other/a.txt", "sub/../b.txt", "", ""} {
		c.Add(tool(string(rune('a'+i)), "", file))
	}
	if c.Made != 8 || c.Rereads != 3 {
		t.Errorf("%d calls, %d read again", c.Made, c.Rereads)
	}
}
