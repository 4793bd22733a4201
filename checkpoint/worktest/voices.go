package worktest

import (
	"encoding/json"
	"strings"
	"testing"

	"orchestrator/thread"
	"orchestrator/thread/work"
)

// testVoices: what is claimed, and what others have written down by hand, does not take the place of what was seen.
func testVoices(_ *testing.T, f *fixture) {
	f.session("s1")
	r := f.rec()
	x := fresh("t1")
	x.Session = "s1"
	run, err := f.store.Add(f.ctx, x)
	f.ok(err)
	run = f.become(f.claim(run), work.Running)
	agents := f.by(func(x *work.Execution) { x.Session, x.Thread, x.By, x.Name = "s1", "t2", "t2", "agents" })
	persons := f.by(func(x *work.Execution) { x.Session, x.Name = "s1", "persons" })
	said := func(by thread.ID, added int, claimed bool) work.Output {
		o := file("a.go", added)
		o.By, o.Metadata.Claimed = by, claimed
		return o
	}
	add := func(of work.Execution, o work.Output) {
		_, err := r.AddOutputs(f.ctx, of.ID, []work.Output{o})
		f.ok(err)
	}
	add(run, said("", 1, false))
	add(agents, said("t2", 2, true))
	add(agents, said("t2", 3, false)) // it chose the folder in which git looked
	add(persons, said("", 4, true))
	add(agents, said("t2", 5, true))
	current := work.OutputQuery{Path: "a.go", Current: true}
	f.equal(f.outputs(current), "5:agents:a.go:2* 4:persons:a.go:1* 3:agents:a.go:1* 1:"+run.Name+":a.go:1*")
	add(run, said("t1", 6, false)) // its own agent has git look in our folder
	f.equal(f.outputs(current), "6:"+run.Name+":a.go:2* 5:agents:a.go:2* 4:persons:a.go:1* 3:agents:a.go:1*")
	add(run, said("", 6, false)) // the same
	f.equal(f.outputs(current), "6:"+run.Name+":a.go:2* 5:agents:a.go:2* 4:persons:a.go:1* 3:agents:a.go:1*")
	f.complete(run)
	_, err = f.store.Purge(f.ctx, []thread.ID{"t1"})
	f.ok(err)
	f.equal(f.outputs(current), "5:agents:a.go:2* 4:persons:a.go:1* 3:agents:a.go:1*")
	for _, name := range []string{"alone", "also"} { // outside of all, each is for itself
		x := f.by(func(x *work.Execution) { x.Name, x.Thread = name, "" })
		_, err := r.AddOutputs(f.ctx, x.ID, []work.Output{file("b.go", 1)})
		f.ok(err)
	}
	f.equal(f.outputs(work.OutputQuery{Path: "b.go"}), "8:also:b.go:1* 7:alone:b.go:1*")
}

// testWhole: of texts that do not fit into what is asked for, the newest are whole and the others say that they are cut.
func testWhole(_ *testing.T, f *fixture) {
	x := f.by(func(x *work.Execution) { x.Name = "a" })
	for _, c := range []string{"1", "2", "3"} {
		_, err := f.rec().AddOutputs(f.ctx, x.ID, []work.Output{insight(strings.Repeat(c, 10_000)), file("f"+c, 1)})
		f.ok(err)
	}
	sizes := func(whole int) (out []int) {
		all, err := f.rec().Outputs(f.ctx, work.OutputQuery{Whole: whole})
		f.ok(err)
		for _, o := range all {
			out = append(out, min(len(o.Content)/100, 100))
			f.equal(json.Valid(o.Content), true)
		}
		return out
	}
	f.equal(sizes(0), []int{0, 100, 0, 100, 0, 100})
	f.equal(sizes(15_000), []int{0, 100, 0, 2, 0, 2})
	f.equal(sizes(1), []int{0, 2, 0, 2, 0, 2})
}
