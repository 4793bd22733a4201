package daemon

// registerBundles adds the operations on the contexts that agents are given.
func (s *Server) registerBundles(r *routes) {}
