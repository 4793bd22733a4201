package workrow

import (
	"time"

	"orchestrator/thread"
	"orchestrator/thread/work"
)

// Statements are the statements that read, by what they are for: a database's tests look at how it runs them.
func (s *Store) Statements() map[string]string {
	of := thread.ID("t")
	at := time.Unix(1, 0)
	first := func(query string, _ []any) string { return query }
	return map[string]string{
		"list":       first(s.d.runs("", "", 1, 1)),
		"of thread":  first(s.d.runs("t", "", 1, 1)),
		"of state":   first(s.d.runs("", "s", 1, 1)),
		"of both":    first(s.d.runs("t", "s", 1, 1)),
		"open":       first(s.d.unended()),
		"by id":      first(s.d.byRef("id", "x")),
		"by name":    first(s.d.byRef("name", "x")),
		"events":     someEvents,
		"last event": lastEvent,
		"purge":      removeEvents,

		"recorded":         first(s.d.recorded(work.RecordQuery{}, nil, 1)),
		"recorded session": first(s.d.recorded(work.RecordQuery{Session: "s", States: []work.State{"x"}}, nil, 1)),
		"recorded type":    first(s.d.recorded(work.RecordQuery{Type: "t", Kinds: []work.Kind{"k"}}, nil, 1)),
		"recorded bundle":  first(s.d.recorded(work.RecordQuery{Bundle: "b"}, nil, 1)),
		"recorded parent":  first(s.d.recorded(work.RecordQuery{Parent: "p"}, nil, 1)),
		"recorded part":    first(s.d.recorded(work.RecordQuery{Part: thread.Part{Task: "t", Agent: "a", Round: 1}}, nil, 1)),
		"recorded thread":  first(s.d.recorded(work.RecordQuery{Thread: "t"}, nil, 1)),
		"recorded agent":   first(s.d.recorded(work.RecordQuery{Agent: "t", Model: "m"}, nil, 1)),
		"recorded since":   first(s.d.recorded(work.RecordQuery{Since: at, Until: at}, nil, 1)),
		"recorded seen":    first(s.d.recorded(work.RecordQuery{Seen: &of}, nil, 1)),
		"recorded path":    first(s.d.recorded(work.RecordQuery{Path: "p"}, nil, 1)),
		"recorded words":   first(s.d.recorded(work.RecordQuery{Type: "t"}, []string{"a", "b"}, 1)),
		"session":          first(s.d.bySession("s", "")),
		"sessions":         first(s.d.sessions(work.SessionQuery{Statuses: []work.SessionStatus{"x"}, By: "t"}, 1)),
		"tasks":            allTasks,
		"outputs":          first(s.d.outputs(work.OutputQuery{Types: []work.OutputType{"x"}, Current: true, Before: 1})),
		"outputs one type": first(s.d.outputs(work.OutputQuery{Types: []work.OutputType{"x"}})),
		"outputs types":    first(s.d.outputs(work.OutputQuery{Types: []work.OutputType{"x", "y"}, Current: true, Before: 1})),
		"outputs of some":  first(s.d.outputs(work.OutputQuery{Of: []work.ID{"x", "y"}})),
		"outputs of":       first(s.d.outputs(work.OutputQuery{Execution: "x"})),
		"outputs session":  first(s.d.outputs(work.OutputQuery{Session: "x"})),
		"outputs type":     first(s.d.outputs(work.OutputQuery{AgentType: "x", By: &of})),
		"outputs path":     first(s.d.outputs(work.OutputQuery{Path: "x"})),
		"best bundles":     first(s.d.stats(work.StatsQuery{By: work.StatByBundle, Best: 1})),
		"allocations":      allAllocations,
		"bundle":           first(s.d.byBundle("x", "")),
		"bundles":          first(s.d.bundles(work.BundleQuery{Session: "x"}, 1)),
		"bundles type":     first(s.d.bundles(work.BundleQuery{AgentType: "x"}, 1)),
	}
}
