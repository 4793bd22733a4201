package wave_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"orchestrator/thread"
	"orchestrator/thread/plan"
	"orchestrator/thread/wave"
)

// split has an agent split a text, and hand over.
func (w *waits) split(text, handedOver string) plan.Task {
	w.Helper()
	t, err := w.splits.Split(w.Context(), wave.Author{}, wave.SplitRequest{Text: text, Agent: "demo", Plans: []wave.Offered{{Name: "fix", Description: "mends things"}}})
	w.ok(err)
	_, err = w.store.ChangeNodes(w.Context(), t.Name, map[string]int64{"split": plan.Anyway}, func(n *plan.Node) error {
		n.Round, n.State, n.Thread, n.Execution = 1, plan.NodeWorking, "splitter", "exec"
		return nil
	})
	w.ok(err)
	h := plan.HandOver{Task: t.Name, Agent: "split", Type: plan.OutputJSON, Data: handedOver, Execution: "exec", By: "splitter", Round: 1}
	_, _, err = w.store.Deliver(w.Context(), h, plan.Anyway, func(n *plan.Node) error { n.State = plan.NodeDelivered; return nil })
	w.ok(err)
	w.ends(t.Name, plan.Complete)
	return t
}

func (w *waits) proposed(of string) []plan.Task {
	w.Helper()
	list, err := w.tasks.List(w.Context(), wave.Author{}, wave.ListRequest{Of: of})
	w.ok(err)
	return list
}

func TestASplitTextBecomesProposals(t *testing.T) {
	t.Parallel()
	w := newWaits(t)
	p := onePlan()
	p.Variables = nil
	w.arm(p, 9) // what is armed takes no proposal
	s := w.split("do this, and that", `{"tasks":[{"title":"this","body":"all of\nit","plan":"fix"},{"title":"that","agent":"codex"}]}`)
	asked := w.begun[0].Plan
	if a := asked.Agents[0]; len(asked.Agents) != 1 || len(a.Writes) > 0 || a.Agent != "demo" || len(a.Schema) == 0 || !strings.Contains(a.Prompt, "fix: mends things") {
		t.Errorf("it is split by %+v", asked)
	}
	if len(w.proposed(s.Name)) != 0 {
		t.Error("there are proposals before they are stored")
	}
	for range 3 { // after crashes, and by two servers
		w.ok(w.splits.Propose(t.Context()))
		w.ok(wave.NewSplits(w.c, w).Propose(t.Context()))
	}
	if said, err := w.store.Task(t.Context(), s.Name); err != nil || said.Reason != "2 tasks are proposed" {
		t.Errorf("%s says %q, %v", s.Name, said.Reason, err)
	}
	list := w.proposed(s.Name)
	if len(list) != 2 {
		t.Fatalf("proposed: %+v", list)
	}
	that, this := list[0], list[1]
	if this.Title != "this" || this.Body != "all of\nit" || this.PlanName != "fix" || this.Status != plan.Proposed || this.By != "splitter" || this.Within != "exec" ||
		that.Title != "that" || string(that.Vars[plan.SingleAgent]) != `"codex"` {
		t.Errorf("proposed: %+v", list)
	}
	w.goes(w.standing)
	w.added(wave.AddRequest{Title: "the person's", Plan: "fix"})
	if got := w.takes(1); len(got) != 1 || got[0] == this.Name || w.status(this.Name) != plan.Proposed {
		t.Errorf("taken: %v", got)
	}
	w.ok2(w.tasks.Edit(t.Context(), wave.Author{}, wave.EditRequest{Task: this.Name, Accept: true}))
	if got := w.takes(2); got[1] != this.Name {
		t.Errorf("taken after the yes: %v", got)
	}
	if single := plan.Single(plan.Agent{}, true); single.Agents[0].Writes == nil {
		t.Error("one agent writes nothing")
	} else if _, wrong := plan.Values(single, that.Vars); len(wrong) > 0 {
		t.Errorf("a plan of one agent does not take what is proposed: %v", wrong)
	}
}

func TestWhatIsProposedIsBoundedAndClean(t *testing.T) {
	t.Parallel()
	w := newWaits(t)
	key := "sk-ant-api03-" + strings.Repeat("Ab3dE", 20)
	var all []string
	for i := range 40 {
		all = append(all, fmt.Sprintf(`{"title":"task %d"}`, i))
	}
	for name, c := range map[string]struct {
		data  string
		check func([]plan.Task) bool
	}{
		"many":      {`{"tasks":[` + strings.Join(all, ",") + `]}`, func(l []plan.Task) bool { return len(l) == 20 }},
		"none":      {`{"tasks":[]}`, func(l []plan.Task) bool { return len(l) == 0 }},
		"no list":   {`"nothing"`, func(l []plan.Task) bool { return len(l) == 0 }},
		"no titles": {`{"tasks":[{"title":" "},{"body":"only a body"}]}`, func(l []plan.Task) bool { return len(l) == 1 && l[0].Title == "only a body" }},
		"terminal":  {`{"tasks":[{"title":"a\u001b[31m\nb","body":"c\u0007"}]}`, func(l []plan.Task) bool { return !strings.ContainsAny(l[0].Title+l[0].Body, "\x1b\a\n") }},
		"secret":    {`{"tasks":[{"title":"use ` + key + `","body":"` + key + `"}]}`, func(l []plan.Task) bool { return !strings.Contains(l[0].Title+l[0].Body, "Ab3dE") }},
		"long": {`{"tasks":[{"title":"` + strings.Repeat("\u00e9", 500) + `","body":"` + strings.Repeat("x", 100<<10) + `"}]}`,
			func(l []plan.Task) bool { return utf8.RuneCountInString(l[0].Title) == 200 && len(l[0].Body) <= 8<<10 }},
		"names": {`{"tasks":[{"title":"x","plan":"../../x","agent":"rm -rf"}]}`, func(l []plan.Task) bool { return l[0].PlanName == "" && len(l[0].Vars) == 0 }},
	} {
		s := w.split(name, c.data)
		w.ok(w.splits.Propose(t.Context()))
		list := w.proposed(s.Name)
		for i, one := range list {
			full, err := w.store.Task(t.Context(), one.Name)
			w.ok(err)
			list[i] = full
		}
		if (len(list) == 0 && !c.check(nil)) || len(list) > 0 && !c.check(list) {
			t.Errorf("%s: %+v", name, list)
		}
		for _, one := range list {
			w.ok2(w.tasks.Edit(t.Context(), wave.Author{}, wave.EditRequest{Task: one.Name, Cancel: true})) // the next ones have the same splitter
		}
		if name != "none" && name != "no list" {
			w = newWaits(t)
		}
	}
}

func TestWhatCannotBeSplit(t *testing.T) {
	t.Parallel()
	w := newWaits(t)
	for want, text := range map[string]string{"no text": " \n\t", "the limit is": strings.Repeat("x ", 60_000)} {
		if _, err := w.splits.Split(t.Context(), wave.Author{}, wave.SplitRequest{Text: text}); !errors.Is(err, thread.ErrInvalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	if _, err := w.splits.Split(t.Context(), wave.Author{Agent: true, Thread: "a"}, wave.SplitRequest{Text: "x"}); !errors.Is(err, thread.ErrNotGranted) {
		t.Errorf("an agent: %v", err)
	}
	one := w.added(wave.AddRequest{Title: "x"})
	if _, err := w.tasks.List(t.Context(), wave.Author{}, wave.ListRequest{Of: one.Name}); !errors.Is(err, thread.ErrInvalid) {
		t.Errorf("what it proposes: %v", err)
	}
	if len(w.begun) > 0 {
		t.Errorf("begun: %+v", w.begun)
	}
}
