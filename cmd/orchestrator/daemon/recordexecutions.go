package daemon

import (
	"context"
	"path/filepath"

	"orchestrator/checkpoint/git"
	"orchestrator/thread/api"
	"orchestrator/thread/record"
)

// registerExecutions adds the operations on executions of all kinds, and those that are written down by hand.
func (s *Server) registerExecutions(r *routes) {
	recorded(r, api.InitExecution, func(ctx context.Context, a record.Author, q record.InitExecution) (record.ExecutionAnswer, error) {
		if a.Agent {
			q.Dir = s.ownFolder(ctx, a, q.Dir)
		}
		return s.Record.Executions.Init(ctx, a, q)
	})
	recorded(r, api.CompleteExecution, s.Record.Executions.Complete)
	recorded(r, api.QueryExecutions, s.Record.Executions.Query)
}

// ownFolder returns a folder as far as it lies in that of an agent's thread, and otherwise that one: what the server reads
// there is not to be chosen by an agent. A thread that is gone has none.
func (s *Server) ownFolder(ctx context.Context, a record.Author, dir string) string {
	st, err := s.Manager.Threads.Status(ctx, string(a.Thread))
	if err != nil {
		return ""
	}
	own, err := filepath.EvalSymlinks(st.Dir)
	if err != nil {
		return ""
	}
	if at, err := filepath.EvalSymlinks(dir); err == nil && filepath.IsAbs(at) && git.Within(at, own) {
		return at
	}
	return own
}
