package plantest

import (
	"fmt"
	"strings"
	"testing"

	"orchestrator/thread"
	"orchestrator/thread/plan"
	"orchestrator/thread/work"
)

func testNodes(_ *testing.T, f *fixture) {
	a := f.run()
	n := f.begin(a.Name, "apex", nil)
	f.equal(n.State, plan.NodeWorking)
	f.equal(n.Started.IsZero(), false)
	got, err := f.store.ChangeNodes(f.ctx, a.Name, map[string]int64{"apex": 2, "go-on": 1, "vision": 1}, func(n *plan.Node) error {
		n.State, n.Reason, n.Wave, n.Reads, n.Agent = plan.NodeFailed, "no: "+n.Agent, 9, nil, "x"
		return nil
	})
	f.ok(err)
	names := []string{}
	for _, n := range got {
		names = append(names, n.Agent)
		f.equal(f.node(a.Name, n.Agent), n)
		f.equal(n.Wave, map[bool]int{true: 2, false: 1}[n.Gate])
		f.equal(n.Ended.IsZero(), false)
	}
	f.equal(names, []string{"apex", "go-on", "vision"})
	f.reopen()
	_, err = f.store.ChangeNodes(f.ctx, a.Name, map[string]int64{"echo": 1, "pixel": 1}, func(n *plan.Node) error {
		if n.State = plan.NodeSkipped; n.Agent == "pixel" {
			return errMine
		}
		return nil
	})
	f.is(err, errMine)
	f.equal(f.node(a.Name, "echo").State, plan.NodeWaiting)
	for _, bad := range []func(*plan.Node){func(n *plan.Node) { n.State = "x" }, func(n *plan.Node) { n.Round-- }, func(n *plan.Node) { n.Fence-- }} {
		_, err = f.store.ChangeNodes(f.ctx, a.Name, map[string]int64{"apex": 2}, func(n *plan.Node) error { bad(n); return nil })
		f.is(err, thread.ErrInvalid)
	}
	_, err = f.store.ChangeNodes(f.ctx, a.Name, map[string]int64{"x": 1}, delivered)
	f.is(err, thread.ErrNotFound)
	again := f.begin(a.Name, "apex", nil)
	f.equal(again.Round, 2)
	f.equal(again.Ended.IsZero(), true)
	f.equal(f.events(a.Name), []string{"state in_progress", "apex: state working", "apex: state failed: no: apex", "go-on: state failed: no: go-on",
		"vision: state failed: no: vision", "apex: state working (round 2): no: apex"})
}

func testDeliver(_ *testing.T, f *fixture) {
	a := f.run()
	n := f.begin(a.Name, "vision", nil)
	in := plan.HandOver{Task: a.Name, Agent: "vision", Summary: "s", Data: `{"b": 1}`, Execution: "0123456789abcdef", Exec: "exec-001", Round: 1,
		Files: []plan.File{{Path: "a/b.txt", Token: "tok-1", Hash: "h", Bytes: 3}}}
	h, nodes, err := f.store.Deliver(f.ctx, in, n.Fence, delivered)
	f.ok(err)
	f.equal([]any{h.Version, h.Current, h.Type, h.Bytes, len(h.ID)}, []any{1, true, plan.OutputJSON, int64(8), 36})
	f.equal(len(nodes), 1)
	f.equal([]any{nodes[0].State, nodes[0].Version}, []any{plan.NodeDelivered, 1})
	f.equal(f.node(a.Name, "vision"), nodes[0])
	f.reopen()
	got, err := f.store.HandOver(f.ctx, a.Name, "vision", 0)
	f.ok(err)
	f.equal(got, h)
	// The same content is no new version, though it is staged again.
	n = f.begin(a.Name, "vision", nil)
	in.ID, in.Files[0].Token, in.Round = "", "tok-2", 2
	same, nodes, err := f.store.Deliver(f.ctx, in, n.Fence, delivered)
	f.is(err, plan.ErrSame)
	f.equal(same, h)
	f.equal([]any{nodes[0].State, nodes[0].Version}, []any{plan.NodeDelivered, 1})
	f.equal(f.node(a.Name, "vision"), nodes[0])
	// Another content is one, by a person too.
	in.Data = `{"b":1}`
	second, nodes, err := f.store.Deliver(f.ctx, in, plan.Anyway, nil)
	f.ok(err)
	f.equal([]any{second.Version, nodes[0].Version}, []any{2, 2})
	first, err := f.store.HandOver(f.ctx, a.Name, "vision", 1)
	f.ok(err)
	h.Current = false
	f.equal(first, h)
	_, err = f.store.HandOver(f.ctx, a.Name, "vision", 3)
	f.is(err, thread.ErrNotFound)
	_, err = f.store.HandOver(f.ctx, a.Name, "apex", 0)
	f.is(err, thread.ErrNotFound)
	list := func(q plan.HandOverQuery) (out []string) {
		all, err := f.store.HandOvers(f.ctx, q)
		f.ok(err)
		for _, h := range all {
			out = append(out, fmt.Sprint(h.Agent, h.Version, h.Data))
		}
		return out
	}
	f.begin(a.Name, "apex", nil)
	f.deliver(a.Name, "apex", "[]")
	f.equal(list(plan.HandOverQuery{Task: a.Name}), []string{"apex1[]", `vision2{"b":1}`, `vision1{"b": 1}`})
	f.equal(list(plan.HandOverQuery{Task: a.ID, Agent: "vision", Current: true}), []string{`vision2{"b":1}`})
	f.equal(list(plan.HandOverQuery{Before: second.ID, Whole: 3}), []string{`vision1{"b`})
	f.equal(list(plan.HandOverQuery{Limit: 1}), []string{"apex1[]"})
	_, err = f.store.HandOvers(f.ctx, plan.HandOverQuery{Task: "task-999"})
	f.is(err, thread.ErrNotFound)
	for _, bad := range []plan.HandOver{{Task: a.Name, Agent: "go-on"}, {Task: a.Name, Agent: "apex", Type: "x"},
		{Task: a.Name, Agent: "apex", Data: strings.Repeat("x", plan.MaxData+1)}} {
		_, _, err = f.store.Deliver(f.ctx, bad, plan.Anyway, delivered)
		f.is(err, thread.ErrInvalid)
	}
	_, _, err = f.store.Deliver(f.ctx, plan.HandOver{Task: a.Name, Agent: "nova"}, 1, func(*plan.Node) error { return errMine })
	f.is(err, errMine)
	_, err = f.store.HandOver(f.ctx, a.Name, "nova", 0)
	f.is(err, thread.ErrNotFound)
}

func testStale(_ *testing.T, f *fixture) {
	a := f.run()
	given := map[string]int{}
	for _, name := range []string{"vision", "apex"} {
		f.begin(a.Name, name, nil)
		given[name] = f.deliver(a.Name, name, "{}").Version
	}
	f.begin(a.Name, "echo", given) // without nova, which is missing
	f.begin(a.Name, "pixel", given)
	f.begin(a.Name, "reel", given)
	f.deliver(a.Name, "echo", "1")
	_, err := f.store.ChangeNodes(f.ctx, a.Name, map[string]int64{"reel": 2}, func(n *plan.Node) error { n.State = plan.NodeFailed; return nil })
	f.ok(err)
	stale := func(nodes []plan.Node) (out []string) {
		for _, n := range nodes {
			f.equal(f.node(a.Name, n.Agent), n)
			if n.Stale {
				out = append(out, n.Agent)
			}
		}
		return out
	}
	put := func(agent, data string) []plan.Node {
		_, nodes, err := f.store.Deliver(f.ctx, plan.HandOver{Task: a.Name, Agent: agent, Data: data}, plan.Anyway, delivered)
		if data != "{}" {
			f.ok(err)
		} else {
			f.is(err, plan.ErrSame)
		}
		return nodes
	}
	f.equal(stale(put("vision", "{}")), []string(nil))
	f.equal(stale(put("vision", "2")), []string{"echo", "pixel"})
	f.reopen()
	f.equal(stale(put("vision", "3")), []string(nil)) // they are already
	f.begin(a.Name, "echo", map[string]int{"vision": 3, "apex": 1})
	f.equal(f.node(a.Name, "echo").Stale, false)
	f.equal(stale(put("nova", "4")), []string{"echo"}) // which has begun without it
	f.equal(f.node(a.Name, "social").Stale, false)
	_, err = f.store.ChangeNodes(f.ctx, a.Name, map[string]int64{"pixel": 1}, delivered)
	f.is(err, work.ErrFence)
}

// testBytes hands over data that no database may change.
func testBytes(_ *testing.T, f *fixture) {
	a := f.run()
	for i, data := range []string{"", `{ "z":1.10,"a":<&>, "n":12345678901234567890 }`, "a\x00b\xff\u2028", "\"\\u0000\"", strings.Repeat("\u00e9", 1<<20),
		`{"deep":` + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + "}"} {
		h, _, err := f.store.Deliver(f.ctx, plan.HandOver{Task: a.Name, Agent: "vision", Type: plan.OutputText, Data: data}, plan.Anyway, delivered)
		f.ok(err)
		f.equal(h.Version, i+1)
		f.reopen()
		got, err := f.store.HandOver(f.ctx, a.Name, "vision", 0)
		f.ok(err)
		if got.Data != data {
			f.Errorf("version %d came back as %.100q", i+1, got.Data)
		}
		f.equal(got, h)
	}
	all, err := f.store.HandOvers(f.ctx, plan.HandOverQuery{Task: a.Name, Whole: 1001})
	f.ok(err)
	f.equal(len(all[1].Data), 1000) // whole characters
	f.equal(all[1].Bytes, int64(2<<20))
}

func testTokens(_ *testing.T, f *fixture) {
	a := f.run()
	f.begin(a.Name, "vision", nil)
	h := plan.HandOver{Task: a.Name, Agent: "vision", Data: "1", Files: []plan.File{{Path: "x", Token: "file"}, {Path: "y", Token: "file"}}}
	h, _, err := f.store.Deliver(f.ctx, h, plan.Anyway, delivered)
	f.ok(err)
	f.ok(f.store.SetToken(f.ctx, a.Name, "vision", 0, "data"))
	f.reopen()
	h.Token = "data"
	for _, token := range []thread.Token{"file", "data"} {
		all, err := f.store.Opens(f.ctx, token)
		f.ok(err)
		f.equal(all, []plan.HandOver{h})
	}
	h2, _, err := f.store.Deliver(f.ctx, plan.HandOver{Task: a.Name, Agent: "apex", Token: "data"}, plan.Anyway, delivered)
	f.ok(err)
	all, err := f.store.Opens(f.ctx, "data")
	f.ok(err)
	f.equal(all, []plan.HandOver{h2, h})
	f.ok(f.store.SetToken(f.ctx, a.Name, "apex", 1, "new"))
	for token, n := range map[thread.Token]int{"data": 1, "new": 1, "": 0, "none": 0} {
		all, err := f.store.Opens(f.ctx, token)
		f.ok(err)
		f.equal(len(all), n)
	}
	got, err := f.store.HandOver(f.ctx, a.Name, "vision", 1)
	f.ok(err)
	f.equal(got, h)
	f.is(f.store.SetToken(f.ctx, a.Name, "nova", 0, "x"), thread.ErrNotFound)
}
