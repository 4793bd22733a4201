package server

import (
	"orchestrator/thread"
	"orchestrator/thread/wave"
	"orchestrator/thread/work"
)

// parts are what hears of the agents of plans. All but settle is set once, before an execution begins.
type parts struct {
	settle func(work.Execution)
	waves  *wave.Waves
	spawns *wave.Spawns // nil without a record of work
	stalls *wave.Stalls // likewise
}

// stands takes that an execution of a plan's task has another state.
func (p *parts) stands(x work.Execution) {
	if p.waves != nil {
		p.waves.Heard(x)
	}
	if p.stalls != nil {
		p.stalls.Stands(x)
	}
}

// heard takes what the agent of an execution of a plan's task reports.
func (p *parts) heard(id work.ID, e thread.RunEvent) {
	if p.stalls != nil {
		p.stalls.Heard(id, e)
	}
}

// ended takes an execution that has ended.
func (p *parts) ended(x work.Execution) {
	p.settle(x)
	if p.spawns != nil {
		p.spawns.Ended(x)
	}
}
