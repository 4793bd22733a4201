package daemon

// registerRecord adds the operations on the record of work.
func (s *Server) registerRecord(r *routes) {
	s.registerSessions(r)
	s.registerExecutions(r)
	s.registerBundles(r)
	s.registerOutputs(r)
	s.registerAnswers(r)
	s.registerOverview(r)
	s.registerWaves(r)
	s.registerTasks(r)
}
