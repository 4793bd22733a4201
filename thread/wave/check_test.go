package wave

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"orchestrator/thread/plan"
)

func TestCheck(t *testing.T) {
	p := plan.Plan{Name: "p", Variables: map[string]plan.Variable{"tone": {}, "n": {Type: plan.VarInteger, Default: []byte("1")}},
		Agents: []plan.Agent{{Name: "a", Prompt: "{{var.tone}}"}, {Name: "b", Prompt: "{{var.n}}"}, {Name: "c", Reads: []string{"b"}, Prompt: "x", Gate: "?"}},
		Gates:  []plan.Gate{{Name: "g", After: 1}}}
	c := Check(CheckRequest{Plan: p, Draft: true}, plan.World{})
	if c.Wrong() || c.Asks() || len(c.Findings) != 1 || !strings.Contains(c.Findings[0].Do, "--var tone=") || fmt.Sprint(c.Waves, c.Critical, c.Agents) != "[[a b] [c]] [a c] 3" || len(c.Hash) != 64 {
		t.Errorf("%+v", c)
	}
	if c := Check(CheckRequest{Plan: p}, plan.World{}); !c.Wrong() {
		t.Errorf("%+v", c)
	}
	vars := map[string]json.RawMessage{"tone": []byte(`"dry"`)}
	if c := Check(CheckRequest{Plan: p, Vars: vars}, plan.World{}); len(c.Findings) != 0 {
		t.Errorf("%+v", c)
	}
	vars["n"] = []byte(`"x"`)
	if c := Check(CheckRequest{Plan: p, Vars: vars, Draft: true}, plan.World{}); !c.Wrong() || len(c.Findings) != 1 {
		t.Errorf("%+v", c)
	}
	p.Agents = nil
	for i := range 5 {
		p.Agents = append(p.Agents, plan.Agent{Name: fmt.Sprintf("a%d", i), Prompt: "{{var.tone}} {{var.n}}"})
	}
	delete(vars, "n")
	if c := Check(CheckRequest{Plan: p, Vars: vars}, plan.World{}); !c.Asks() || c.Wrong() {
		t.Errorf("%+v", c)
	}
	if c := Check(CheckRequest{Plan: p, Vars: vars, MaxParallel: 5}, plan.World{}); c.Asks() || len(c.Findings) != 0 {
		t.Errorf("%+v", c)
	}
}

// A plan beyond the bounds is answered in time, too.
func TestCheckBeyondBounds(t *testing.T) {
	p := plan.Plan{Name: "p"}
	for i := range 10_000 {
		p.Agents = append(p.Agents, plan.Agent{Name: fmt.Sprintf("a%d", i), Wave: 1 + i/5000, Prompt: "x"})
	}
	began := time.Now()
	if c := Check(CheckRequest{Plan: p}, plan.World{}); !c.Wrong() || len(c.Waves) != 2 || len(c.Critical) != 0 {
		t.Errorf("%+v", c.Findings)
	}
	t.Log(time.Since(began))
}
