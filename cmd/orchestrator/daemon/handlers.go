package daemon

import (
	"context"
	"io"

	"orchestrator/cmd/orchestrator/api"
	"orchestrator/thread"
)

// register adds a handler for every operation of package api.
func (s *Server) register(r *routes) {
	s.registerServer(r)
	s.registerThreads(r)
	s.registerPrompts(r)
	s.registerHistory(r)
	s.registerFiles(r)
	s.registerStaging(r)
	s.registerMCP(r)
	answer(r, api.Context, func(ctx context.Context, q api.Ref) (thread.ContextReport, error) {
		return s.Contexts.Context(ctx, q.Thread)
	})
	answer(r, api.ChangeContext, func(ctx context.Context, q thread.ContextChange) (thread.ContextReport, error) {
		return s.Contexts.Change(ctx, q)
	})
	stream(r, api.Events, func(ctx context.Context, _ api.None) (<-chan thread.Event, error) {
		return s.Manager.Events(ctx)
	})
	stream(r, api.Speech, named(s.Manager.Speech))
	r.handle("GET", api.Terminal, s.terminal)
}

// registerServer adds the operations on the server itself and on permissions.
func (s *Server) registerServer(r *routes) {
	answer(r, api.Info, s.Info)
	answer(r, api.Stop, s.Stop)
	answer(r, api.Agents, func(ctx context.Context, _ api.None) ([]thread.AgentInfo, error) {
		return s.Agents(ctx), nil
	})
	obey(r, api.May, s.may)
	answer(r, api.Grants, s.grants)
	answer(r, api.SetGrants, s.setGrants)
}

// registerThreads adds the operations on threads and their agents.
func (s *Server) registerThreads(r *routes) {
	m := s.Manager
	answer(r, api.List, func(ctx context.Context, _ api.None) ([]thread.Status, error) {
		list, err := m.List(ctx)
		return callerOf(ctx).Visible(list), err
	})
	answer(r, api.Status, named(m.Status))
	answer(r, api.New, func(ctx context.Context, q thread.NewRequest) (thread.Status, error) {
		if err := consents(ctx, q.Lines); err != nil {
			return thread.Status{}, err
		}
		return m.New(ctx, q)
	})
	answer(r, api.Fork, func(ctx context.Context, q thread.ForkRequest) (thread.Status, error) {
		if err := consents(ctx, q.Lines || q.HandOver); err != nil {
			return thread.Status{}, err
		}
		return m.Fork(ctx, q)
	})
	answer(r, api.Resume, func(ctx context.Context, q api.ResumeRequest) (thread.Status, error) {
		if err := consents(ctx, q.HandOver); err != nil {
			return thread.Status{}, err
		}
		return m.Resume(ctx, q.Thread, thread.ResumeRequest{Cols: q.Cols, Rows: q.Rows, HandOver: q.HandOver})
	})
	answer(r, api.ResumeAll, func(ctx context.Context, q api.ResumeRequest) ([]thread.Status, error) {
		return m.ResumeAll(ctx, q.Cols, q.Rows)
	})
	answer(r, api.SetUp, named(m.SetUp))
	obey(r, api.StopAgent, toNamed(m.StopAgent))
	answer(r, api.Why, named(m.Why))
	answer(r, api.Switch, named(m.Switch))
	obey(r, api.Seen, toNamed(m.Seen))
	answer(r, api.Rename, func(ctx context.Context, q api.RenameRequest) (thread.Status, error) {
		return m.Rename(ctx, q.Thread, q.Name)
	})
	obey(r, api.Pin, func(ctx context.Context, q api.PinRequest) error { return m.Pin(ctx, q.Thread, q.On) })
	obey(r, api.Archive, toNamed(m.Archive))
	obey(r, api.Unarchive, toNamed(m.Unarchive))
	obey(r, api.Delete, toNamed(m.Delete))
	obey(r, api.Undelete, toNamed(m.Undelete))
	obey(r, api.Abandon, func(ctx context.Context, q api.AbandonRequest) error {
		return m.Abandon(ctx, q.Thread, q.Reason)
	})
}

// registerPrompts adds the operations on prompts and fork offers.
func (s *Server) registerPrompts(r *routes) {
	m := s.Manager
	answer(r, api.Ask, func(ctx context.Context, q api.AskRequest) (thread.Prompt, error) {
		to, err := m.Status(ctx, q.Thread)
		if err == nil {
			err = maySend(ctx, to)
		}
		if err == nil {
			err = consents(ctx, q.Lines)
		}
		if err != nil {
			return thread.Prompt{}, err
		}
		return m.Ask(ctx, string(to.ID), thread.AskRequest{Text: q.Text, Lines: q.Lines})
	})
	answer(r, api.Prompts, func(ctx context.Context, q api.PromptsRequest) ([]thread.Prompt, error) {
		return m.NewestPrompts(ctx, q.Thread, q.Open, q.Limit)
	})
	answer(r, api.Prompt, func(ctx context.Context, q api.PromptRef) (thread.Prompt, error) {
		return m.Prompt(ctx, q.Thread, q.ID)
	})
	answer(r, api.EditPrompt, func(ctx context.Context, q api.EditRequest) (thread.Prompt, error) {
		if err := s.mayChange(ctx, q.ID); err != nil {
			return thread.Prompt{}, err
		}
		return m.EditPrompt(ctx, q.ID, q.Text)
	})
	answer(r, api.CancelPrompt, func(ctx context.Context, q api.PromptRef) (thread.Prompt, error) {
		return m.CancelPrompt(ctx, q.ID)
	})
	answer(r, api.AskAgain, func(ctx context.Context, q api.PromptRef) (thread.Prompt, error) {
		if err := s.mayChange(ctx, q.ID); err != nil {
			return thread.Prompt{}, err
		}
		return m.AskAgain(ctx, q.ID)
	})
	answer(r, api.AnswerOffer, func(ctx context.Context, q api.OfferAnswer) (thread.Status, error) {
		return m.AnswerOffer(ctx, q.Offer, q.Answer)
	})
	obey(r, api.SetOffers, func(ctx context.Context, q api.OffersRequest) error { return m.SetOffers(ctx, q.Mode) })
}

// registerHistory adds the operations on history and merges.
func (s *Server) registerHistory(r *routes) {
	m := s.Manager
	answer(r, api.Timeline, func(ctx context.Context, q api.TimelineRequest) ([]thread.Checkpoint, error) {
		return m.Timeline(ctx, q.Thread, q.Page)
	})
	answer(r, api.Turn, func(ctx context.Context, q api.TurnRequest) ([]thread.Entry, error) {
		return m.Turn(ctx, q.Thread, q.At)
	})
	answer(r, api.Diff, m.Diff)
	answer(r, api.Rewind, m.Rewind)
	answer(r, api.Find, func(ctx context.Context, q api.FindRequest) ([]thread.Hit, error) {
		return m.Find(ctx, q.Query, q.Limit)
	})
	answer(r, api.Merge, m.Merge)
	answer(r, api.MergeContinue, named(m.MergeContinue))
	obey(r, api.MergeAbort, toNamed(m.MergeAbort))
	answer(r, api.Finish, named(m.Finish))
	answer(r, api.Push, m.Push)
}

// registerFiles adds export, import, backup and retention.
func (s *Server) registerFiles(r *routes) {
	answer(r, api.Export, s.Transfer.Export)
	answer(r, api.Import, s.Transfer.Import)
	answer(r, api.Backup, s.Transfer.Backup)
	answer(r, api.RestoreBackup, s.Transfer.RestoreBackup)
	answer(r, api.Collect, s.Collect)
}

// registerStaging registers the operations on staged data.
func (s *Server) registerStaging(r *routes) {
	upload(r, api.Stage, func(ctx context.Context, q thread.StageRequest, data io.Reader) (thread.Staged, error) {
		q.Thread = callerOf(ctx).Thread
		return s.Staging.Stage(ctx, q, data)
	})
	download(r, api.Retrieve, func(ctx context.Context, q api.RetrieveRequest) (thread.StagedData, error) {
		return s.Retrieve(callerOf(ctx), q)
	})
	answer(r, api.StageList, func(ctx context.Context, _ api.None) ([]thread.Staged, error) {
		return s.Staging.List(callerOf(ctx).Sees)
	})
	answer(r, api.StageInfo, func(ctx context.Context, q api.StagedRef) (thread.StagedInfo, error) {
		d, err := s.staged(callerOf(ctx), q.Token)
		if err != nil {
			return thread.StagedInfo{}, err
		}
		return s.Staging.Info(d.Token)
	})
	answer(r, api.StageTouch, func(ctx context.Context, q api.TouchRequest) (thread.Staged, error) {
		d, err := s.staged(callerOf(ctx), q.Token)
		if err != nil {
			return d, err
		}
		return s.Staging.Touch(d.Token, q.TTL)
	})
	answer(r, api.Unstage, func(ctx context.Context, q api.StagedRef) (thread.Staged, error) {
		d, err := s.staged(callerOf(ctx), q.Token)
		if err == nil {
			err = s.Staging.Unstage(d.Token)
		}
		return d, err
	})
}

// named adapts a use case whose only argument is a thread's name.
func named[Resp any](f func(context.Context, string) (Resp, error)) func(context.Context, api.Ref) (Resp, error) {
	return func(ctx context.Context, q api.Ref) (Resp, error) { return f(ctx, q.Thread) }
}

// toNamed is named for a use case without a result.
func toNamed(f func(context.Context, string) error) func(context.Context, api.Ref) error {
	return func(ctx context.Context, q api.Ref) error { return f(ctx, q.Thread) }
}
