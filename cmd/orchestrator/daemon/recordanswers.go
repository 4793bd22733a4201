package daemon

import "orchestrator/thread/api"

// registerAnswers adds the operations that answer questions about all that is recorded.
func (s *Server) registerAnswers(r *routes) {
	a := s.Record.Answers
	recorded(r, api.History, a.History)
	recorded(r, api.HistoryContext, a.Context)
	recorded(r, api.HistoryWho, a.Who)
	recorded(r, api.HistoryBundles, a.Produced)
	recorded(r, api.HistoryTrace, a.Trace)
	recorded(r, api.Stats, a.Stats)
}
