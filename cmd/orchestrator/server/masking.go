package server

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"orchestrator/cmd/orchestrator/config"
	"orchestrator/contextmgr/base"
	"orchestrator/contextmgr/masking"
	"orchestrator/contextmgr/masks"
	"orchestrator/contextmgr/policy"
	"orchestrator/contextmgr/tokens"
	"orchestrator/thread"
	"orchestrator/thread/manager"
	"orchestrator/thread/private"
)

// openMasks opens the store of masks, and the counter and the counts of tokens.
func (a *Server) openMasks(context.Context) error {
	folder, err := private.Make(a.Project.StateDir(), "masks")
	if err != nil {
		return fmt.Errorf("open the masks: %w", err)
	}
	a.masks = masks.Open(folder, masks.Config{Log: a.Log, Taken: a.staging.Has, Seals: seals{a.store}, Notice: func(id thread.ID, text string) {
		if a.manager != nil { // while the server opens, the log has it
			a.manager.Traffic.Notice(id, thread.LevelWarn, text)
		}
	}})
	a.onClose(a.masks.Close)
	if a.store.RolledBack { // an import may have left masks of a thread that does not exist
		a.service(func(ctx context.Context) error {
			if _, _, err := a.masks.Sweep(a.store.mayExist(ctx)); err != nil {
				a.Log.Warn("remove the masks of threads that are gone", "error", err)
			}
			return nil
		})
	}
	counted, err := private.Make(a.Project.StateDir(), "tokens")
	if err != nil {
		return fmt.Errorf("open the counts of tokens: %w", err)
	}
	a.onClose(counted.Close)
	a.counter = tokens.New()
	a.counts = tokens.OpenCounts(counted, a.counter, a.Log)
	a.onClose(a.counts.Close)
	a.calibration = tokens.OpenCalibration(counted, a.Log)
	a.onClose(a.calibration.Close)
	return nil
}

// openMasker opens what masks requests, and what looks at the first ones.
func (a *Server) openMasker() (err error) {
	folder, err := private.Make(a.Project.StateDir(), "contexts")
	if err != nil {
		return fmt.Errorf("open what fills contexts: %w", err)
	}
	a.onClose(folder.Close)
	a.masker, err = masking.New(masking.Config{
		Masks: a.masks, Counts: a.counts, Calibration: a.calibration, Threads: lineage{a.manager},
		Models: a.models, Settings: a.maskSettings, Pictures: perThread{folder, ".picture"}, WayOut: a.wayOut, Keep: keeps(a.Config.MaskingKeep),
		Once: func() bool { return a.Config.InstructionsOnce }, Summaries: a.summaries, Now: time.Now, Log: a.Log,
	})
	a.bases = &bases{manager: a.manager, agents: a.agents, env: plainEnv(a.Env), known: map[whereabouts]levers{}}
	a.bases.watcher = base.New(base.Config{
		Rewriter: a.masker, Count: func(encoding, text string) int { return a.counter.CountBy(cmp.Or(encoding, tokens.Default), text) },
		Encoding: a.models.Encoding, Estimate: a.counts.Estimate,
		Factor: func(model string) float64 { by, _, _ := a.calibration.Factor(model, ""); return by },
		Parts:  a.bases.parts, Seen: a.manager.Traffic.FirstRequest, Store: perThread{folder, ".base"}, Now: time.Now, Log: a.Log,
	})
	return err
}

// maskSettings returns how a thread's requests are masked unless the thread has a mode of its own. With a subscription
// login nothing is masked before the person has allowed it.
func (a *Server) maskSettings(_ thread.ID, login bool) policy.Settings {
	mode := policy.Mode(a.Config.Masking)
	if login {
		mode = policy.Mode(a.Config.MaskingLogin)
	}
	return a.Config.Mode(mode)
}

// contextRules returns the rules by tool for people.
func contextRules(c config.Config) []thread.ContextRule {
	var all []thread.ContextRule
	for _, r := range c.Rules() {
		all = append(all, thread.ContextRule{Tool: r.Tool, Keep: r.Keep, MinTokens: r.MinTokens, KeepLast: r.KeepLast})
	}
	return all
}

// keeps returns what reports whether a tool is among those with these names, in which * stands for any text.
func keeps(names []string) func(tool string) bool {
	return func(tool string) bool {
		return slices.ContainsFunc(names, func(name string) bool {
			return policy.Rule{Tool: name}.Matches(tool)
		})
	}
}

// wayOut tells what to do when a thread's context is full, "" if its agent is to find out itself. Where offers are
// automatic, the prompt goes on in a fork.
func (a *Server) wayOut(id thread.ID, prompt string) string {
	if a.manager.Offers.Mode() == thread.OffersOff {
		return ""
	}
	s, err := a.manager.Threads.Status(context.Background(), string(id))
	if err != nil {
		return ""
	}
	if a.manager.Offers.Outgrown(id, prompt) {
		return masking.GoesOn
	}
	return masking.WaysOut(s.Name)
}

// lineage tells the masker about threads.
type lineage struct{ manager *manager.Manager }

// Lineage implements masking.Threads.
func (l lineage) Lineage(id thread.ID) (parent thread.ID, last time.Time) {
	s, err := l.manager.Threads.Status(context.Background(), string(id))
	if err != nil {
		return "", time.Time{}
	}
	if s.Head != "" {
		last = s.Updated
	}
	return s.Parent, last
}

// readable returns the folders with what is masked in a thread's conversation, and with what others handed over to its round
// of a plan.
func (a *Server) readable(t thread.Thread) ([]string, error) {
	var dirs []string
	if given := a.given(t.Once.Part); given.There() {
		dirs = append(dirs, given.Dir())
	}
	set, err := a.masks.Thread(t.ID, t.Parent)
	if err != nil {
		return dirs, err
	}
	return append(dirs, set.Dirs()...), nil
}

// contexts has the operations on contexts for the daemon.
type contexts struct {
	manager *manager.Manager
	masker  *masking.Masker
	bases   *bases
	rules   []thread.ContextRule
}

// curvePoints is how many responses the curve of a context has at most.
const curvePoints = 500

// Context returns what fills a thread's context.
func (c contexts) Context(ctx context.Context, name string) (thread.ContextReport, error) {
	s, err := c.manager.Threads.Status(ctx, name)
	if err != nil {
		return thread.ContextReport{}, err
	}
	r, err := c.masker.Report(s.ID)
	if err != nil {
		return r, fmt.Errorf("describe the context of %s: %w", s.Name, err)
	}
	r.Name, r.Aside, r.SavedUSD, r.Rules = s.Name, s.Aside, s.Gauge.SavedUSD, c.rules
	c.bases.fill(ctx, s, &r)
	if r.Tokens == 0 {
		r.Tokens, r.Masked = s.Gauge.Tokens, s.Gauge.Masked
	}
	if r.Window == 0 {
		r.Window, r.Model = s.Gauge.Window, s.Gauge.Model
	}
	if g := s.Gauge; r.Reason == masking.NotFilled && g.Tokens > 0 && g.Window > 0 {
		r.Reason += fmt.Sprintf(". Last: %s/%s, %s", thread.Tokens(g.Tokens), thread.Tokens(g.Window), thread.Percent(g.Share()))
	}
	list, err := c.manager.History.Timeline(ctx, string(s.ID), thread.Page{Limit: curvePoints})
	if err != nil {
		return r, err
	}
	for _, p := range slices.Backward(list) {
		if p.Kind == thread.KindResponse {
			r.Curve = append(r.Curve, thread.ContextPoint{
				At: p.Created, Turn: p.Turn, Tokens: p.Gauge.Tokens, Masked: p.Gauge.Masked,
			})
		}
	}
	return r, nil
}

// Change changes what is masked of a thread's conversation.
func (c contexts) Change(ctx context.Context, change thread.ContextChange) (thread.ContextReport, error) {
	s, err := c.manager.Threads.Status(ctx, change.Thread)
	if err != nil {
		return thread.ContextReport{}, err
	}
	if err := c.masker.Change(s.ID, change); err != nil {
		return thread.ContextReport{}, fmt.Errorf("change what is masked in %s: %w", s.Name, err)
	}
	if change.Summarise != "" {
		if err := c.masker.Summarise(ctx, s.ID, change.Summarise); err != nil {
			return thread.ContextReport{}, fmt.Errorf("summarise %s: %w", s.Name, err)
		}
	}
	return c.Context(ctx, string(s.ID))
}
