package daemon

// registerSessions adds the operations on work sessions and their tasks.
func (s *Server) registerSessions(r *routes) {}
