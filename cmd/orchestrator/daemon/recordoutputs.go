package daemon

import "orchestrator/thread/api"

// registerOutputs adds the operations on what came of executions.
func (s *Server) registerOutputs(r *routes) {
	o := s.Record.Outputs
	recorded(r, api.CollectOutputs, o.Collect)
	recorded(r, api.QueryOutputs, o.Query)
	recorded(r, api.CheckOutputs, o.Check)
	recorded(r, api.SessionReport, o.Report)
}
