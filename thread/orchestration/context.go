package orchestration

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"orchestrator/thread"
	"orchestrator/thread/api"
	"orchestrator/thread/bundle"
	"orchestrator/thread/record"
	"orchestrator/thread/work"
)

// Context is what an agent is to be given.
type Context struct {
	ID        string // the bundle's, "" for the next number
	AgentType string
	Scope     string // the work session's if ""
	// Files are what it must be given, References what is left out first. Sections are the headings of those of a file that
	// are taken, none for all of it.
	Files, References []string
	Sections          map[string][]string
	Agent, Model      string // for which it is counted
	Budget            int64  // 0 for what the model has room for
}

// PrepareContext makes a bundle of files and keeps it. What cannot work is an error, before anything is spent: a file that
// is missing, a heading that is not there or twice, more than there is room for.
func (s *Session) PrepareContext(ctx context.Context, c Context) (bundle.Made, error) {
	o := bundle.Order{
		ID: c.ID, AgentType: c.AgentType, Scope: c.Scope, Agent: c.Agent, Model: c.Model, Session: s.name, Budget: c.Budget,
	}
	if o.Scope == "" {
		view, err := s.Show(ctx)
		if err != nil {
			return bundle.Made{}, err
		}
		o.Scope = view.Scope
	}
	left := int64(bundle.MostContent)
	for _, of := range []struct {
		names    []string
		kind     work.ItemType
		priority work.Priority
	}{{c.Files, work.ItemFile, work.Required}, {c.References, work.ItemReference, work.Recommended}} {
		for _, name := range of.names {
			content, err := s.read(name, left)
			if err != nil {
				return bundle.Made{}, fmt.Errorf("%s: %w", name, err)
			}
			left -= int64(len(content))
			o.Items = append(o.Items, bundle.Item{
				Type: of.kind, Source: name, Priority: of.priority, Sections: c.Sections[name], Content: content,
			})
		}
	}
	return api.PrepareBundle.Do(ctx, s.server, record.PrepareRequest{Order: o})
}

// read reads a file that has at most so many bytes.
func (s *Session) read(name string, most int64) ([]byte, error) {
	files := s.files
	if files == nil {
		files = os.DirFS(".")
	}
	f, err := files.Open(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, thread.Kindf(thread.ErrNotFound, "no such file")
	case err != nil:
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	content, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(content)) > most {
		err = thread.Kindf(thread.ErrLimit, "it is larger than %s", thread.Bytes(most))
	}
	return content, err
}

// Budget tells what of a budget of context is used, by what its agents were given and what is prepared for it.
func (s *Session) Budget(ctx context.Context, q record.BudgetRequest) (bundle.Budget, error) {
	q.Session = s.name
	return api.BundleBudget.Do(ctx, s.server, q)
}

// Bundles lists those that were prepared for it, newest first.
func (s *Session) Bundles(ctx context.Context, q record.BundlesRequest) ([]work.KeptBundle, error) {
	q.Session = s.name
	return api.Bundles.Do(ctx, s.server, q)
}

// Deduplicate tells apart what several bundles have alike, and keeps them as they are without it.
func Deduplicate(ctx context.Context, server api.Doer, bundles ...record.BundleArg) (bundle.Shared, error) {
	return api.DedupBundles.Do(ctx, server, record.DedupRequest{Bundles: bundles})
}

// Bundle returns a bundle with the content of its items.
func Bundle(ctx context.Context, server api.Doer, arg record.BundleArg) (record.BundleContent, error) {
	return api.ShowBundle.Do(ctx, server, arg)
}

// RecordAllocation writes down that the execution was given a bundle.
func (e *Execution) RecordAllocation(ctx context.Context, arg record.BundleArg) ([]work.Allocation, error) {
	return api.AllocateBundle.Do(ctx, e.server, record.AllocateRequest{Execution: e.ID(), Bundle: arg})
}
