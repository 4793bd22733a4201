package grant_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"orchestrator/thread"
	"orchestrator/thread/grant"
	"orchestrator/thread/work"
)

func TestTable(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range grant.Table() {
		if r.Op == "" || r.Verb == "" || seen[r.Op] {
			t.Errorf("row %+v has no name, or one that another has", r)
		}
		seen[r.Op] = true
		for _, g := range []thread.Grant{r.Own, r.Others} {
			if g != "" && g != "person" && !slices.Contains(grant.Names(), g) {
				t.Errorf("%s needs %q, which cannot be granted", r.Op, g)
			}
		}
	}
}

// TestMay goes through the table row by row.
func TestMay(t *testing.T) {
	person := grant.Caller{}
	bare := grant.Caller{Agent: true, Thread: "a", Name: "a-1"}
	stranger := grant.Caller{Agent: true}
	all := grant.Caller{Agent: true, Thread: "a", Name: "a-1", Grants: grant.Names()}
	for _, r := range grant.Table() {
		for _, own := range []bool{true, false} {
			need := r.Others
			if own {
				need = r.Own
			}
			if err := person.May(r.Op, own); err != nil {
				t.Errorf("the person may not %s: %v", r.Op, err)
			}
			for _, c := range []struct {
				who  string
				c    grant.Caller
				want bool
			}{
				{"an agent", bare, need == ""}, {"a stranger", stranger, need == ""}, {"one with all grants", all, need != "person"},
				{"one with the grant", grant.Caller{Agent: true, Thread: "a", Name: "a-1", Grants: []thread.Grant{need}}, need != "person"},
			} {
				err := c.c.May(r.Op, own)
				if (err == nil) != c.want || err != nil && !errors.Is(err, thread.ErrNotGranted) {
					t.Errorf("%s, own %v: %s: %v", r.Op, own, c.who, err)
				}
				if err == nil || need == "person" || c.c.Thread == "" {
					continue
				}
				for _, word := range []string{string(need), "a-1", "orchestrator grants a-1 --add " + string(need)} {
					if !strings.Contains(err.Error(), word) {
						t.Errorf("the refusal of %s does not say %q: %v", r.Op, word, err)
					}
				}
			}
		}
	}
	for _, c := range []grant.Caller{person, all} {
		if err := c.May("format-the-disk", true); err == nil {
			t.Error("an operation without a row is allowed")
		}
	}
}

func TestVisible(t *testing.T) {
	list := func() []thread.Status {
		return []thread.Status{{Thread: thread.Thread{ID: "a"}}, {Thread: thread.Thread{ID: "b"}}}
	}
	for _, c := range []struct {
		c    grant.Caller
		want int
	}{
		{grant.Caller{}, 2},
		{grant.Caller{Agent: true, Thread: "b"}, 1},
		{grant.Caller{Agent: true}, 0},
		{grant.Caller{Agent: true, Thread: "b", Grants: []thread.Grant{grant.Read}}, 2},
	} {
		if got := c.c.Visible(list()); len(got) != c.want || c.want == 1 && got[0].ID != "b" {
			t.Errorf("%+v sees %v", c.c, got)
		}
	}
}

func TestParseAndChange(t *testing.T) {
	got, err := grant.Parse([]string{"Read", " send "})
	if err != nil || !slices.Equal(got, []thread.Grant{grant.Read, grant.Send}) {
		t.Errorf("Parse = %v, %v", got, err)
	}
	for _, bad := range []string{"", "person", "trust", "read,send", "\x1b[2J", "run:", "run:0", "run:10", "run:02", "run:-1", "read:2"} {
		if _, err := grant.Parse([]string{bad}); !errors.Is(err, thread.ErrInvalid) || !strings.Contains(err.Error(), "manage") {
			t.Errorf("Parse(%q) = %v", bad, err)
		}
	}
	for _, c := range []struct{ have, add, remove, want string }{
		{"", "send,read", "", "read, send"},
		{"read,send", "read", "send", "read"},
		{"read", "", "read", "none"},
		{"read,nonsense,read", "", "", "read"},
		{"", "switch", "switch", "none"},
		{"run", "run:3", "", "run:3"},
		{"run:3", "run", "", "run"},
		{"run:2,run:4,run:10,run:x,run:", "", "", "run:4"},
		{"run:2,read", "", "run", "read"},
		{"run", "", "run:9", "none"},
	} {
		split := func(s string) (out []thread.Grant) {
			for w := range strings.SplitSeq(s, ",") {
				out = append(out, thread.Grant(w))
			}
			return out
		}
		if got := grant.Format(grant.Change(split(c.have), split(c.add), split(c.remove))); got != c.want {
			t.Errorf("%+v gives %s", c, got)
		}
	}
}

// TestWhatEachGrantGives says once more, by hand, what the table gives away: a row that changes by mistake is seen here.
func TestWhatEachGrantGives(t *testing.T) {
	const free = "agents archived exec-list info list may mcp-serve retrieve stage stage-info stage-list" +
		" session-complete session-init session-list session-phase session-show session-task exec-complete exec-init exec-query" +
		" bundle-allocate bundle-budget bundle-dedup bundle-list bundle-prepare bundle-show" +
		" history history-bundles history-context history-trace history-who stats" +
		" output-collect output-query session-report" +
		" work-glance work-page" +
		" deliverable-get deliverable-list deliverable-put wave-cancel wave-glance wave-list wave-status task-edit task-list"
	gives := map[thread.Grant]string{
		grant.Read:   "base budget context cost diff event-log events exec-events exec-follow exec-show find grants mcp mcp-detail mcp-why prompt prompts queue speech status timeline turn wave-armed why",
		grant.Send:   "ask prompt-again prompt-cancel prompt-edit",
		grant.Start:  "answeroffer exec-fallback exec-resume exec-retry exec-send fork new output-check resume resumeall run-fork setup task-start wave-retry",
		grant.Run:    "run task-add wave-run",
		grant.Merge:  "finish merge mergeabort mergecontinue push rewind",
		grant.Manage: "abandon archive collect delete exec-cancel pin rename stage-touch stopagent unarchive undelete unstage",
		grant.Switch: "switch",
	}
	may := func(own bool, grants ...thread.Grant) string {
		c := grant.Caller{Agent: true, Thread: "a", Name: "a-1", Grants: grants}
		var ops []string
		for _, r := range grant.Table() {
			if c.May(r.Op, own) == nil {
				ops = append(ops, r.Op)
			}
		}
		slices.Sort(ops)
		return strings.Join(ops, " ")
	}
	join := func(lists ...string) string {
		words := strings.Fields(strings.Join(lists, " "))
		slices.Sort(words)
		return strings.Join(slices.Compact(words), " ")
	}
	if got := may(false); got != join(free) {
		t.Errorf("of others an agent without grants may %s", got)
	}
	if got, want := may(true), join(free, "base context diff event-log exec-cancel exec-events exec-follow exec-show grants mcp mcp-detail mcp-why prompt prompts speech stage-touch status timeline turn unstage why"); got != want {
		t.Errorf("of itself an agent without grants may %s, want %s", got, want)
	}
	for _, g := range grant.Names() {
		if got, want := may(false, g), join(free, gives[g]); got != want {
			t.Errorf("with %s an agent may %s, want %s", g, got, want)
		}
	}
}

// TestRunRetriesNothing: who may start runs may not have its own tried again: what a policy leaves to a person would be tried
// without end.
func TestRunRetriesNothing(t *testing.T) {
	c := grant.Caller{Agent: true, Thread: "a", Name: "a-1", Grants: []thread.Grant{grant.Run}}
	for _, op := range []string{"exec-retry", "exec-fallback"} {
		if err := c.May(op, true); err == nil {
			t.Errorf("with run an agent may %s", op)
		}
	}
}

// TestDepth: each run may start runs one level less deep than who started it.
func TestDepth(t *testing.T) {
	for _, c := range []struct {
		have  []thread.Grant
		depth int
		below string
	}{
		{nil, 0, "none"},
		{[]thread.Grant{grant.Read, grant.Start}, 0, "none"},
		{[]thread.Grant{grant.Run}, 1, "none"},
		{[]thread.Grant{grant.Read, "run:2"}, 2, "run"},
		{[]thread.Grant{"run:1", "run:9", "run:10"}, 9, "run:8"},
		{[]thread.Grant{"run:0", "run:-2", "runs:3"}, 0, "none"},
	} {
		if got := grant.Depth(c.have); got != c.depth {
			t.Errorf("depth of %v: %d, want %d", c.have, got, c.depth)
		}
		if got := grant.Format(grant.Below(c.have)); got != c.below {
			t.Errorf("a run of %v has %s, want %s", c.have, got, c.below)
		}
		caller := grant.Caller{Agent: true, Thread: "a", Name: "a-1", Grants: c.have}
		if err := caller.May("run", false); (err == nil) != (c.depth > 0) {
			t.Errorf("%v may run: %v", c.have, err)
		}
	}
	if grant.Deep(0) != grant.Run || grant.Deep(40) != "run:9" {
		t.Errorf("depths %s, %s", grant.Deep(0), grant.Deep(40))
	}
}

// TestExecutions: an agent sees its own executions, and those of its thread.
func TestExecutions(t *testing.T) {
	list := func() []work.Execution {
		return []work.Execution{{Name: "mine", By: "a", Thread: "b"}, {Name: "me", Thread: "a"}, {Name: "other", Thread: "c"}}
	}
	for _, c := range []struct {
		c    grant.Caller
		want string
	}{
		{grant.Caller{}, "mine me other"},
		{grant.Caller{Agent: true}, ""},
		{grant.Caller{Agent: true, Thread: "a"}, "mine me"},
		{grant.Caller{Agent: true, Thread: "b"}, "mine"},
		{grant.Caller{Agent: true, Thread: "d", Grants: []thread.Grant{grant.Read}}, "mine me other"},
	} {
		var names []string
		for _, x := range c.c.Executions(list()) {
			names = append(names, x.Name)
		}
		if got := strings.Join(names, " "); got != c.want {
			t.Errorf("%+v sees %q, want %q", c.c, got, c.want)
		}
	}
}
