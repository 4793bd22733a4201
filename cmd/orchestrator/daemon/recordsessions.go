package daemon

import "orchestrator/thread/api"

// registerSessions adds the operations on work sessions and their tasks.
func (s *Server) registerSessions(r *routes) {
	recorded(r, api.InitSession, s.Record.Sessions.Init)
	recorded(r, api.PhaseSession, s.Record.Sessions.SetPhase)
	recorded(r, api.CompleteSession, s.Record.Sessions.Complete)
	recorded(r, api.Sessions, s.Record.Sessions.List)
	recorded(r, api.Session, s.Record.Sessions.Show)
	recorded(r, api.PutTask, s.Record.Sessions.Task)
}
