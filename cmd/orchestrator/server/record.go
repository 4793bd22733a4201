package server

import (
	"context"

	"orchestrator/checkpoint/deliverable"
	"orchestrator/checkpoint/snapshot"
	"orchestrator/thread"
	"orchestrator/thread/record"
	"orchestrator/thread/work"
)

// openRecord puts the record of work over the store of executions.
func (a *Server) openRecord(context.Context) error {
	var store work.Record = a.kept
	if a.executions != nil {
		store = a.watched(a.executions)
	}
	c := record.Config{Store: store, Root: a.Project.Root}
	c.Host, c.User = a.recordedAt()
	c.Target = a.target
	c.Belongs = func(ctx context.Context, of thread.ID) (string, error) {
		t, err := a.store.Thread(ctx, of)
		return t.Once.Session, err
	}
	if a.files != nil {
		c.Files = deliverable.New(snapshot.NewCounter(a.files.Store), a.files.Finder, a.Project.Root)
	}
	if a.setup != nil {
		c.Checks = checks{a.setup}
		a.service(a.setup.StopChecks)
	}
	a.record = record.New(c)
	if store != nil {
		a.settler.settle, a.settler.all = a.record.Outputs.Settle, a.record.Outputs.SettleAll
		a.service(a.settler.run)
	}
	return nil
}
