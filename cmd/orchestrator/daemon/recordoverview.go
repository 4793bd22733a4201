package daemon

import (
	"orchestrator/thread/api"
)

// registerOverview adds the operations with which screens show the record of work.
func (s *Server) registerOverview(r *routes) {
	recorded(r, api.WorkGlance, s.Record.Overview.Glance)
	recorded(r, api.WorkPage, s.Record.Overview.Page)
}
