package server

import (
	"cmp"
	"context"
	"path/filepath"

	"orchestrator/cmd/orchestrator/planfile"
	"orchestrator/thread"
	"orchestrator/thread/plan"
	"orchestrator/thread/wave"
	"orchestrator/thread/work"
)

// openWaves puts plans at work over the runs. Without a record of executions there are none, and who asks is told so.
func (a *Server) openWaves(context.Context) error {
	world := planfile.World(a.agents, a.Config, a.Project.Repository)
	copies := planfile.Copies{Project: a.Project.Root, Folder: filepath.Join(a.Project.StateDir(), "programs")}
	c := wave.Config{
		Store: plansOf(a.executions), Record: a.kept, Runs: a.manager.Parts, Agent: a.Config.Agent, Count: a.counter.Count, Log: a.Log,
		Changed: func(task string) { a.manager.Executions.Touched(work.Touched{Plan: task}) },
		Over:    a.over, Asked: a.asked, Notice: a.taskNotice,
		Program: copies.Argv,
		Root:    a.Project.Root, Schemas: world.Schemas, World: func() plan.World { return world }, Staged: a.staging, Thread: a.store.Thread,
		Given: func(part thread.Part, name string, data []byte) (string, error) { return a.given(part).Put(name, data) },
	}
	c.Host, c.User = a.recordedAt()
	c.Server = c.Host + ":" + a.Project.Root // as PostgreSQL's store is opened by, which keeps it for one server
	c.Alone = a.Config.Store == ""           // SQLite: the project's lock keeps all others out
	if a.executions != nil {
		c.Record = a.executions
	}
	a.waves = wave.New(c)
	a.service(a.waves.Work)
	a.every(givenPause, "remove what tasks that are gone were given", func(ctx context.Context) error {
		return dropGiven(ctx, a.Project.StateDir(), c.Store)
	})
	a.standing = newStanding(c, a.waves)
	a.service(a.standing.armed.Run)
	return nil
}

// asked tells people what a task asks.
func (a *Server) asked(q thread.NodeQuestion) {
	a.manager.Traffic.Tell("", thread.Notice{Level: thread.LevelWarn, Kind: thread.HappenedAsks, About: q.Name(), Text: q.Text})
}

// over tells people how a task has ended, and has armed plans look for more.
func (a *Server) over(t plan.Task) {
	n := thread.Notice{Level: thread.LevelInfo, About: t.Name}
	switch t.Status {
	case plan.Complete:
		n.Kind, n.Text = thread.HappenedDone, thread.Elapsed(t.Ended.Sub(t.Started))
		a.manager.Traffic.Tell("", n)
	case plan.Failed:
		n.Kind, n.Text = thread.HappenedStuck, cmp.Or(t.Reason, "it has failed")
		a.manager.Traffic.Tell("", n)
	default:
	}
	if s := a.standing.armed; s != nil {
		s.Wake()
	}
}

// taskNotice tells people of tasks.
func (a *Server) taskNotice(level thread.Level, text string) {
	a.manager.Traffic.Notice("", level, text)
}
