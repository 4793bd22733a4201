package daemon

import (
	"context"
	"net/http"

	"orchestrator/cmd/orchestrator/api"
	"orchestrator/thread"
)

// routes lists every call; the names are the client's methods in lower case, and have their rows in package grant.
func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	for name, h := range s.calls() {
		mux.Handle("POST "+api.Prefix+name, s.guarded(name, h))
	}
	for name, h := range s.streams() {
		mux.Handle("GET "+api.Prefix+name, s.guarded(name, h))
	}
	return mux
}

// streams are the operations that go on.
func (s *Server) streams() map[string]http.HandlerFunc {
	return map[string]http.HandlerFunc{"events": s.events, "terminal": s.terminal}
}

// calls are the operations that answer once.
func (s *Server) calls() map[string]http.HandlerFunc {
	m := s.Manager
	return map[string]http.HandlerFunc{
		"info":      call(s.Info),
		"may":       done(s.may),
		"grants":    call(s.grants),
		"setgrants": call(s.setGrants),
		"stop":      call(s.Stop),

		"list": call(func(ctx context.Context, _ struct{}) ([]thread.Status, error) {
			list, err := m.List(ctx)
			return callerOf(ctx).Visible(list), err
		}),
		"status": call(func(ctx context.Context, r api.Ref) (thread.Status, error) { return m.Status(ctx, r.Thread) }),

		"new":  call(m.New),
		"fork": call(m.Fork),
		"resume": call(func(ctx context.Context, r api.Ref) (thread.Status, error) {
			return m.Resume(ctx, r.Thread, r.Cols, r.Rows)
		}),
		"resumeall": call(func(ctx context.Context, r api.Ref) ([]thread.Status, error) { return m.ResumeAll(ctx, r.Cols, r.Rows) }),
		"setup":     call(func(ctx context.Context, r api.Ref) (thread.Status, error) { return m.SetUp(ctx, r.Thread) }),
		"stopagent": done(func(ctx context.Context, r api.Ref) error { return m.StopAgent(ctx, r.Thread) }),
		"ask": call(func(ctx context.Context, r api.Ask) (thread.Prompt, error) {
			return m.Ask(ctx, r.Thread, thread.AskRequest{Text: r.Text})
		}),
		"prompt": call(func(ctx context.Context, r api.Prompt) (thread.Prompt, error) { return m.Prompt(ctx, r.Thread, r.ID) }),
		"prompts": call(func(ctx context.Context, r api.Prompts) ([]thread.Prompt, error) {
			return m.NewestPrompts(ctx, r.Thread, r.Open, r.Limit)
		}),
		"prompt-edit":   call(func(ctx context.Context, r api.Prompt) (thread.Prompt, error) { return m.EditPrompt(ctx, r.ID, r.Text) }),
		"prompt-cancel": call(func(ctx context.Context, r api.Prompt) (thread.Prompt, error) { return m.CancelPrompt(ctx, r.ID) }),
		"prompt-again":  call(func(ctx context.Context, r api.Prompt) (thread.Prompt, error) { return m.AskAgain(ctx, r.ID) }),

		"switch":    call(func(ctx context.Context, r api.Ref) (thread.Status, error) { return m.Switch(ctx, r.Thread) }),
		"seen":      done(func(ctx context.Context, r api.Ref) error { return m.Seen(ctx, r.Thread) }),
		"rename":    call(func(ctx context.Context, r api.Ref) (thread.Status, error) { return m.Rename(ctx, r.Thread, r.Name) }),
		"pin":       done(func(ctx context.Context, r api.Ref) error { return m.Pin(ctx, r.Thread, r.On) }),
		"archive":   done(func(ctx context.Context, r api.Ref) error { return m.Archive(ctx, r.Thread) }),
		"unarchive": done(func(ctx context.Context, r api.Ref) error { return m.Unarchive(ctx, r.Thread) }),
		"delete":    done(func(ctx context.Context, r api.Ref) error { return m.Delete(ctx, r.Thread) }),
		"undelete":  done(func(ctx context.Context, r api.Ref) error { return m.Undelete(ctx, r.Thread) }),
		"abandon":   done(func(ctx context.Context, r api.Ref) error { return m.Abandon(ctx, r.Thread, r.Text) }),
		"speech":    s.speech, // goes on; a call because it names a thread
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

		"export":        call(s.Porter.Export),
		"import":        call(s.Porter.Import),
		"backup":        call(s.Porter.Backup),
		"restorebackup": call(s.Porter.RestoreBackup),
		"collect":       call(s.Collect),

		"agents": call(func(ctx context.Context, _ struct{}) ([]thread.AgentInfo, error) { return s.Agents(ctx), nil }),
		"mcp":    call(func(ctx context.Context, _ struct{}) ([]thread.MCPServer, error) { return s.MCP(ctx) }),
	}
}
