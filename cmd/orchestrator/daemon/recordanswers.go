package daemon

// registerAnswers adds the operations that answer questions about all that is recorded.
func (s *Server) registerAnswers(r *routes) {}
