package manager

import (
	"context"
	"strings"

	"orchestrator/thread/bundle"
	exec "orchestrator/thread/work"

	"orchestrator/thread/plaintext"
	"orchestrator/thread/secret"
)

// mostGiven is how many bytes of a prompt are kept: more than a prompt may have.
const mostGiven = 1 << 20

// handed keeps what the agent of a run is given, all of it but for secrets, and of its bundle what stands in it. It is done
// before the agent gets it; what cannot be kept does not keep the agent from it.
func (a *attempt) handed(ctx context.Context, text string) {
	a.mu.Lock()
	first, x := a.hands.take(), a.x
	a.mu.Unlock()
	record, ok := a.open.cfg.Runs.Store.(exec.Record)
	if !ok || !first {
		return
	}
	kept := plaintext.Cut(secret.Redact(strings.ToValidUTF8(text, "\uFFFD")), mostGiven)
	err := record.Append(ctx, x.ID, x.Fence, exec.Event{At: a.open.cfg.now(), Attempt: x.Attempt, Kind: exec.KindGiven, Text: kept})
	if err == nil {
		err = record.Allocate(ctx, x.ID, a.pieces(ctx, record, x, kept))
	}
	if err != nil {
		a.open.cfg.Log.Warn("keep what a run is given", "execution", x.Name, "err", err)
	}
}

// pieces returns what of a prompt is known where it is from: the items of its bundle whose content stands in it, and the
// rest as a briefing.
func (a *attempt) pieces(ctx context.Context, record exec.Record, x exec.Execution, text string) []exec.Allocation {
	rest := int64(a.open.cfg.Tokens(text))
	var all []exec.Allocation
	if x.Bundle != "" {
		kept, err := record.Bundle(ctx, x.Bundle)
		if err != nil {
			a.open.cfg.Log.Warn("look what a run is given", "execution", x.Name, "bundle", x.Bundle, "err", err)
		}
		all = bundle.Allocations(x, kept, func(_ exec.BundleItem, sum string) bool {
			content, err := record.Piece(ctx, sum)
			return sum != "" && err == nil && strings.Contains(text, strings.TrimRight(string(content), "\n"))
		})
	}
	for _, p := range all {
		if p.Included {
			rest -= p.Tokens
		}
	}
	return append(all, exec.Allocation{
		Execution: x.Name, Type: exec.ItemBriefing, Source: "prompt", Tokens: max(0, rest), Included: true, Bundle: x.Bundle,
		Priority: exec.Required, Hash: bundle.Sum(text),
	})
}
