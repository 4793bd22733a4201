package daemon

import "orchestrator/thread/api"

// registerBundles adds the operations on the contexts that agents are given.
func (s *Server) registerBundles(r *routes) {
	b := s.Record.Bundles
	recorded(r, api.PrepareBundle, b.Prepare)
	recorded(r, api.ShowBundle, b.Show)
	recorded(r, api.Bundles, b.List)
	recorded(r, api.DedupBundles, b.Dedup)
	recorded(r, api.BundleBudget, b.Budget)
	recorded(r, api.AllocateBundle, b.Allocate)
}
