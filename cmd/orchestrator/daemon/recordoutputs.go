package daemon

// registerOutputs adds the operations on what came of executions.
func (s *Server) registerOutputs(r *routes) {}
