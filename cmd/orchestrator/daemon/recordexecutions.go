package daemon

// registerExecutions adds the operations on executions of all kinds, and those that are written down by hand.
func (s *Server) registerExecutions(r *routes) {}
