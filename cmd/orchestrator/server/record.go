package server

import (
	"cmp"
	"context"
	"os"
	"os/user"

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
	c := record.Config{Store: store, Host: a.Config.Host, User: thread.Lookup(a.Env, "USER"), Root: a.Project.Root}
	if c.Host == "" {
		c.Host, _ = os.Hostname() // a name that is not known is no reason not to record
	}
	if u, err := user.Current(); err == nil {
		c.User = cmp.Or(u.Username, c.User)
	}
	c.Target = a.target
	if a.files != nil {
		c.Files = deliverable.New(snapshot.NewCounter(a.files.Store), a.files.Finder, a.Project.Root)
	}
	if a.setup != nil {
		c.Checks = checks{a.setup}
	}
	a.record = record.New(c)
	if store != nil {
		a.settler.settle, a.settler.all = a.record.Outputs.Settle, a.record.Outputs.SettleAll
		a.service(a.settler.run)
	}
	return nil
}
