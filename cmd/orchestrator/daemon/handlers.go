package daemon

import (
	"context"
	"io"

	"orchestrator/thread"
	"orchestrator/thread/api"
	"orchestrator/thread/grant"
	"orchestrator/thread/spending"
)

// register adds a handler for every operation of package api.
func (s *Server) register(r *routes) {
	s.registerServer(r)
	s.registerThreads(r)
	s.registerPrompts(r)
	s.registerRuns(r)
	s.registerRecord(r)
	s.registerHistory(r)
	s.registerFiles(r)
	s.registerStaging(r)
	s.registerMCP(r)
	answer(r, api.Context, itsRef(), func(ctx context.Context, q api.Ref) (thread.ContextReport, error) {
		return s.Contexts.Context(ctx, q.Thread)
	})
	answer(r, api.Base, itsBase, s.Base)
	answer(r, api.ChangeContext, nil, func(ctx context.Context, q thread.ContextChange) (thread.ContextReport, error) {
		return s.Contexts.Change(ctx, q)
	})
	answer(r, api.SetBase, nil, s.setBase)
	answer(r, api.EventLog, aThread(func(q *thread.HappeningQuery) *string { return &q.Thread }), s.Manager.Threads.Happenings)
	stream(r, api.Events, nil, func(ctx context.Context, _ api.None) (<-chan thread.Event, error) {
		return s.Manager.Threads.Events(ctx)
	})
	stream(r, api.Speech, itsRef(), named(s.Manager.Threads.Speech))
	r.handle("GET", api.Terminal, s.terminal)
}

// registerServer adds the operations on the server itself and on permissions.
func (s *Server) registerServer(r *routes) {
	answer(r, api.Info, nil, s.Info)
	answer(r, api.Stop, nil, s.Stop)
	answer(r, api.Agents, nil, func(ctx context.Context, _ api.None) ([]thread.AgentInfo, error) {
		return s.Agents(ctx), nil
	})
	answer(r, api.Cost, nil, func(ctx context.Context, q spending.Query) (spending.Report, error) { return s.Cost(ctx, q) })
	obey(r, api.May, nil, s.may)
	answer(r, api.Grants, itsRef(), s.grants)
	answer(r, api.SetGrants, nil, s.setGrants)
}

// registerThreads adds the operations on threads and their agents.
func (s *Server) registerThreads(r *routes) {
	m := s.Manager
	answer(r, api.List, nil, func(ctx context.Context, _ api.None) ([]thread.Status, error) {
		list, err := m.Threads.List(ctx)
		return callerOf(ctx).Visible(list), err
	})
	answer(r, api.Archived, nil, func(ctx context.Context, q api.ArchivedRequest) (api.ArchivedPage, error) {
		list, next, err := m.Threads.Archive(ctx, q.Prefix, q.After, q.Limit)
		return api.ArchivedPage{Threads: callerOf(ctx).Visible(list), Next: next}, err
	})
	answer(r, api.Status, itsRef(), named(m.Threads.Status))
	answer(r, api.New, nil, s.newThread)
	answer(r, api.Fork, nil, s.fork)
	answer(r, api.Resume, nil, func(ctx context.Context, q api.ResumeRequest) (thread.Status, error) {
		if err := consents(ctx, q.HandOver); err != nil {
			return thread.Status{}, err
		}
		return m.Agents.Resume(ctx, q.Thread, thread.ResumeRequest{Cols: q.Cols, Rows: q.Rows, HandOver: q.HandOver})
	})
	answer(r, api.ResumeAll, nil, func(ctx context.Context, q api.ResumeRequest) ([]thread.Status, error) {
		return m.Agents.ResumeAll(ctx, q.Cols, q.Rows)
	})
	answer(r, api.SetUp, nil, named(m.Lifecycle.SetUp))
	obey(r, api.StopAgent, nil, toNamed(m.Agents.Stop))
	answer(r, api.Why, itsRef(), named(m.Threads.Why))
	answer(r, api.Switch, nil, named(m.Lifecycle.Switch))
	obey(r, api.Seen, nil, toNamed(m.Lifecycle.Seen))
	answer(r, api.Rename, nil, func(ctx context.Context, q api.RenameRequest) (thread.Status, error) {
		return m.Lifecycle.Rename(ctx, q.Thread, q.Name)
	})
	obey(r, api.Pin, nil, func(ctx context.Context, q api.PinRequest) error { return m.Lifecycle.Pin(ctx, q.Thread, q.On) })
	obey(r, api.Archive, nil, toNamed(m.Lifecycle.Archive))
	obey(r, api.Unarchive, nil, toNamed(m.Lifecycle.Unarchive))
	obey(r, api.Delete, nil, toNamed(m.Lifecycle.Delete))
	obey(r, api.Undelete, nil, toNamed(m.Lifecycle.Undelete))
	obey(r, api.Abandon, nil, func(ctx context.Context, q api.AbandonRequest) error {
		return m.Lifecycle.Abandon(ctx, q.Thread, q.Reason)
	})
}

// registerPrompts adds the operations on prompts, questions and fork offers.
func (s *Server) registerPrompts(r *routes) {
	m := s.Manager
	answer(r, api.Answer, nil, func(ctx context.Context, q api.AnswerRequest) (thread.Status, error) {
		return m.Questions.Answer(ctx, q.Thread, q.AnswerRequest)
	})
	answer(r, api.Ask, nil, func(ctx context.Context, q api.AskRequest) (thread.Prompt, error) {
		return s.ask(ctx, q, func(to thread.Status) error { return s.mayRunNext(ctx, to) })
	})
	answer(r, api.Prompts, aThread(func(q *api.PromptsRequest) *string { return &q.Thread }),
		func(ctx context.Context, q api.PromptsRequest) ([]thread.Prompt, error) {
			return m.Prompts.Newest(ctx, q.Thread, q.Open, q.Limit)
		})
	answer(r, api.Prompt, aThread(func(q *api.PromptRef) *string { return &q.Thread }),
		func(ctx context.Context, q api.PromptRef) (thread.Prompt, error) {
			return m.Prompts.Prompt(ctx, q.Thread, q.ID)
		})
	answer(r, api.EditPrompt, nil, func(ctx context.Context, q api.EditRequest) (thread.Prompt, error) {
		if err := s.mayChange(ctx, q.ID, q.Text); err != nil {
			return thread.Prompt{}, err
		}
		return m.Prompts.Edit(ctx, q.ID, q.Text)
	})
	answer(r, api.CancelPrompt, nil, func(ctx context.Context, q api.PromptRef) (thread.Prompt, error) {
		if err := s.ofThread(ctx, q); err != nil {
			return thread.Prompt{}, err
		}
		if err := s.mayWithdraw(ctx, q.ID); err != nil {
			return thread.Prompt{}, err
		}
		return m.Prompts.Cancel(ctx, q.ID)
	})
	answer(r, api.AskAgain, nil, func(ctx context.Context, q api.PromptRef) (thread.Prompt, error) {
		if err := s.ofThread(ctx, q); err != nil {
			return thread.Prompt{}, err
		}
		if err := s.mayChange(ctx, q.ID, ""); err != nil {
			return thread.Prompt{}, err
		}
		return m.Prompts.Again(ctx, q.ID, callerOf(ctx).Thread)
	})
	answer(r, api.AnswerOffer, nil, func(ctx context.Context, q api.OfferAnswer) (thread.Status, error) {
		if callerOf(ctx).Agent && m.Offers.ForPerson(q.Offer) {
			return thread.Status{}, grant.Alone(api.AnswerOffer.Name())
		}
		return m.Offers.Answer(ctx, q.Offer, q.Answer)
	})
	obey(r, api.SetOffers, nil, func(ctx context.Context, q api.OffersRequest) error { return m.Offers.SetMode(ctx, q.Mode) })
}

// setBase gives a thread another profile, and says what that costs.
func (s *Server) setBase(ctx context.Context, q thread.BaseRequest) (thread.BaseChange, error) {
	change, err := s.Manager.Bases.Set(ctx, q)
	if err != nil || !change.Waits {
		return change, err
	}
	report, err := s.Contexts.Context(ctx, q.Thread)
	if err != nil {
		return change, nil //nolint:nilerr // the change is made, only its price is not known
	}
	return change.Priced(report), nil
}

// ofThread returns an error for a prompt that is not of the thread that the request names.
func (s *Server) ofThread(ctx context.Context, q api.PromptRef) error {
	if q.Thread == "" {
		return nil
	}
	_, err := s.Manager.Prompts.Prompt(ctx, q.Thread, q.ID)
	return err
}

// registerHistory adds the operations on history and merges.
func (s *Server) registerHistory(r *routes) {
	m := s.Manager
	answer(r, api.Timeline, aThread(func(q *api.TimelineRequest) *string { return &q.Thread }),
		func(ctx context.Context, q api.TimelineRequest) ([]thread.Checkpoint, error) {
			return m.History.Timeline(ctx, q.Thread, q.Page)
		})
	answer(r, api.Turn, aThread(func(q *api.TurnRequest) *string { return &q.Thread }),
		func(ctx context.Context, q api.TurnRequest) ([]thread.Entry, error) {
			return m.History.Turn(ctx, q.Thread, q.At)
		})
	answer(r, api.Diff, aThread(func(q *thread.DiffRequest) *string { return &q.Thread }), m.History.Diff)
	answer(r, api.Rewind, nil, m.Rewinds.Rewind)
	answer(r, api.Find, nil, func(ctx context.Context, q api.FindRequest) ([]thread.Hit, error) {
		if q.Files {
			return m.History.FindFile(ctx, q.Query, q.Limit)
		}
		return m.History.Find(ctx, q.Query, q.Limit)
	})
	answer(r, api.Merge, nil, m.Merges.Start)
	answer(r, api.MergeContinue, nil, named(m.Merges.Continue))
	obey(r, api.MergeAbort, nil, toNamed(m.Merges.Abort))
	answer(r, api.Finish, nil, named(m.Merges.Finish))
	answer(r, api.Push, nil, m.Merges.Push)
}

// registerFiles adds export, import, backup and retention.
func (s *Server) registerFiles(r *routes) {
	answer(r, api.Export, nil, s.Transfer.Export)
	answer(r, api.Import, nil, s.Transfer.Import)
	answer(r, api.Backup, nil, s.Transfer.Backup)
	answer(r, api.RestoreBackup, nil, s.Transfer.RestoreBackup)
	answer(r, api.Collect, nil, s.Collect)
}

// registerStaging registers the operations on staged data.
func (s *Server) registerStaging(r *routes) {
	upload(r, api.Stage, nil, func(ctx context.Context, q thread.StageRequest, data io.Reader) (thread.Staged, error) {
		q.Thread = callerOf(ctx).Thread
		return s.Staging.Stage(ctx, q, data)
	})
	download(r, api.Retrieve, nil, func(ctx context.Context, q api.RetrieveRequest) (thread.StagedData, error) {
		return s.Retrieve(ctx, callerOf(ctx), q)
	})
	answer(r, api.StageList, nil, func(ctx context.Context, _ api.None) ([]thread.Staged, error) {
		return s.Staging.List(shows(callerOf(ctx)))
	})
	answer(r, api.StageInfo, nil, func(ctx context.Context, q api.StagedRef) (thread.StagedInfo, error) {
		d, err := s.staged(ctx, callerOf(ctx), q.Token)
		if err != nil {
			return thread.StagedInfo{}, err
		}
		return s.Staging.Info(d.Token)
	})
	answer(r, api.StageTouch, someData(func(q *api.TouchRequest) *string { return &q.Token }),
		func(ctx context.Context, q api.TouchRequest) (thread.Staged, error) {
			d, err := s.staged(ctx, callerOf(ctx), q.Token)
			if err != nil {
				return d, err
			}
			return s.Staging.Touch(d.Token, q.TTL)
		})
	answer(r, api.Unstage, someData(func(q *api.StagedRef) *string { return &q.Token }),
		func(ctx context.Context, q api.StagedRef) (thread.Staged, error) {
			d, err := s.staged(ctx, callerOf(ctx), q.Token)
			if err == nil && callerOf(ctx).Agent && handedOver(d) {
				err = thread.Kindf(thread.ErrNotGranted, "%s is handed over: only the user removes it", d.Token)
			}
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
