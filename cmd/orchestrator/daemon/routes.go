package daemon

import (
	"context"
	"net/http"

	"orchestrator/cmd/orchestrator/api"
	"orchestrator/thread"
)

// routes lists every call; the names are the client's methods in lower case.
func (s *Server) routes() http.Handler {
	m := s.Manager
	calls := map[string]http.HandlerFunc{
		"info": call(s.Info),
		"stop": call(s.Stop),

		"list": call(func(ctx context.Context, _ struct{}) ([]thread.Status, error) { return m.List(ctx) }),
		"new":  call(m.New),
		"fork": call(m.Fork),
		"resume": call(func(ctx context.Context, r api.Ref) (thread.Status, error) {
			return m.Resume(ctx, r.Thread, r.Cols, r.Rows)
		}),
		"resumeall": call(func(ctx context.Context, r api.Ref) ([]thread.Status, error) { return m.ResumeAll(ctx, r.Cols, r.Rows) }),
		"stopagent": done(func(ctx context.Context, r api.Ref) error { return m.StopAgent(ctx, r.Thread) }),
		"send":      done(func(ctx context.Context, r api.Ref) error { return m.Send(ctx, r.Thread, r.Text) }),
		"switch":    call(func(ctx context.Context, r api.Ref) (thread.Status, error) { return m.Switch(ctx, r.Thread) }),
		"seen":      done(func(ctx context.Context, r api.Ref) error { return m.Seen(ctx, r.Thread) }),
		"rename":    call(func(ctx context.Context, r api.Ref) (thread.Status, error) { return m.Rename(ctx, r.Thread, r.Name) }),
		"pin":       done(func(ctx context.Context, r api.Ref) error { return m.Pin(ctx, r.Thread, r.On) }),
		"archive":   done(func(ctx context.Context, r api.Ref) error { return m.Archive(ctx, r.Thread) }),
		"unarchive": done(func(ctx context.Context, r api.Ref) error { return m.Unarchive(ctx, r.Thread) }),
		"delete":    done(func(ctx context.Context, r api.Ref) error { return m.Delete(ctx, r.Thread) }),
		"undelete":  done(func(ctx context.Context, r api.Ref) error { return m.Undelete(ctx, r.Thread) }),
		"abandon":   done(func(ctx context.Context, r api.Ref) error { return m.Abandon(ctx, r.Thread, r.Text) }),
		"why":       call(func(ctx context.Context, r api.Ref) (thread.StateReport, error) { return m.Why(ctx, r.Thread) }),

		"timeline": call(func(ctx context.Context, r api.Timeline) ([]thread.Checkpoint, error) {
			return m.Timeline(ctx, r.Thread, r.Page)
		}),
		"turn":   call(func(ctx context.Context, r api.Ref) ([]thread.Entry, error) { return m.Turn(ctx, r.Thread, r.At) }),
		"rewind": call(m.Rewind),
		"diff":   call(m.Diff),
		"merge":  call(m.Merge),
		"mergecontinue": call(func(ctx context.Context, r api.Ref) (thread.MergeReport, error) {
			return m.MergeContinue(ctx, r.Thread)
		}),
		"mergeabort":  done(func(ctx context.Context, r api.Ref) error { return m.MergeAbort(ctx, r.Thread) }),
		"finish":      call(func(ctx context.Context, r api.Ref) (thread.MergeReport, error) { return m.Finish(ctx, r.Thread) }),
		"push":        call(m.Push),
		"find":        call(func(ctx context.Context, r api.Find) ([]thread.Hit, error) { return m.Find(ctx, r.Query, r.Limit) }),
		"setoffers":   done(func(ctx context.Context, r api.Ref) error { return m.SetOffers(ctx, thread.OfferMode(r.Text)) }),
		"answeroffer": call(func(ctx context.Context, r api.Ref) (thread.Status, error) { return m.AnswerOffer(ctx, r.At, r.Text) }),

		"export":  call(s.Porter.Export),
		"import":  call(s.Porter.Import),
		"collect": call(s.Collect),

		"agents": call(func(ctx context.Context, _ struct{}) ([]thread.AgentInfo, error) { return s.Agents(ctx), nil }),
		"mcp":    call(func(ctx context.Context, _ struct{}) ([]thread.MCPServer, error) { return s.MCP(ctx) }),
	}
	mux := http.NewServeMux()
	for name, h := range calls {
		mux.Handle("POST "+api.Prefix+name, h)
	}
	mux.HandleFunc("GET "+api.Prefix+"events", s.events)
	mux.HandleFunc("GET "+api.Prefix+"terminal", s.terminal)
	return mux
}
