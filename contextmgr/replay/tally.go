package replay

import "orchestrator/contextmgr/policy"

// Tally is what a replay counted. Sums are over requests, in tokens; costs are in tokens at the price of input that
// goes past the cache.
type Tally struct {
	Segments, Requests  int
	RawContext, Context int64
	// History is the context without what the first request of the segment had.
	RawHistory, History int64
	// Small is how many requests fill less than 60 % of the window, of those whose Windowed is known.
	Windowed, RawSmall, Small int
	RawCost, Cost             float64
	// RawUSD and USD are the costs in USD, of the Priced requests whose model has a known price.
	Priced      int
	RawUSD, USD float64
	// Edits are changes of files, EditsRead those of files that were read before, and EditsHit those whose last read was
	// masked when the model wrote them.
	Edits, EditsRead, EditsHit int
	// Masks is how often something was masked.
	Masks int
	// Summaries, Warnings and Forks are the requests at which those were asked for.
	Summaries, Warnings, Forks int
}

func (t *Tally) asked(a policy.Ask) {
	switch a {
	case policy.AskSummarise:
		t.Summaries++
	case policy.AskWarn:
		t.Warnings++
	case policy.AskFork:
		t.Forks++
	case policy.AskNothing:
	}
}

// Add adds another tally.
func (t *Tally) Add(u Tally) {
	t.Segments += u.Segments
	t.Requests += u.Requests
	t.RawContext += u.RawContext
	t.Context += u.Context
	t.RawHistory += u.RawHistory
	t.History += u.History
	t.Windowed += u.Windowed
	t.RawSmall += u.RawSmall
	t.Small += u.Small
	t.RawCost += u.RawCost
	t.Cost += u.Cost
	t.Priced += u.Priced
	t.RawUSD += u.RawUSD
	t.USD += u.USD
	t.Edits += u.Edits
	t.EditsRead += u.EditsRead
	t.EditsHit += u.EditsHit
	t.Masks += u.Masks
	t.Summaries += u.Summaries
	t.Warnings += u.Warnings
	t.Forks += u.Forks
}
