package records

import (
	"fmt"
	"strings"

	"orchestrator/thread"
	"orchestrator/thread/record"
	"orchestrator/thread/work"
)

// cause is a failure that was seeded: in a work session of its name.
type cause struct {
	name  string
	seed  func(w *world)
	found record.FindingCode // what must be found to be wrong
	says  string             // and what must be said of it
	// evidence is what git or a log prints of it, "" if nothing does; test is set if only a run of the tests tells.
	evidence string
}

const (
	spec    = "# Search\n\n## Limits\n\nAt most 100 results, in 50 ms.\n"
	library = "export const version = %d\n\nexport function search(q: string): string[] {\n  return []\n}\n"
)

func prompt(scope string, contents ...string) string {
	return "You are one of several agents. Your task: " + scope + "\nRead what follows first.\n\n" + strings.Join(contents, "\n\n")
}

// planned records a planner that did its work well, with which each work session begins.
func (w *world) planned(base string) work.Execution {
	x := w.ran(work.Completed, did{Execution: work.Execution{Type: "planner", Scope: "Plan the search", Base: base, Model: "large", Usage: thread.Usage{Input: 9000, Output: 800, CostUSD: .04, Priced: true}},
		asked: prompt("Plan the search", spec), said: "Two steps: the index, then the query.", tools: reads("spec.md")})
	w.delivers(x, "plan.md", 12, nil, nil)
	return x
}

// finished records a reviewer that looked at what came of it, with which most work sessions end.
func (w *world) finished(base string) {
	x := w.ran(work.Completed, did{Execution: work.Execution{Type: "reviewer", Scope: "Review the search", Base: base, Model: "large", Usage: thread.Usage{Input: 5000, Output: 300, CostUSD: .02, Priced: true}},
		asked: prompt("Review the search"), said: "The search does not do what the plan says.", tools: reads("plan.md", "lib/search.ts")})
	w.delivers(x, "review.md", 5, nil, nil)
}

// implementor is an execution that implements the search.
func implementor(base, reason string) work.Execution {
	return work.Execution{Type: "implementor", Scope: "Implement the search", Base: base, Model: "large", Reason: reason,
		Usage: thread.Usage{Input: 21_000, CacheRead: 60_000, Output: 4000, CostUSD: .31, Priced: true}}
}

// causes are ten failures.
func causes(base string) []cause {
	implements := prompt("Implement the search", spec)
	return []cause{
		{name: "wrong-context", found: record.FoundOtherFor, says: "made for a poet", evidence: "rhyme", seed: func(w *world) {
			b := w.bundle("bundle-poet", "poet", "Write a poem", "poem.md")
			x := implementor(base, "cannot find what to implement")
			x.Bundle = b.Bundle.ID
			w.give(w.ran(work.Failed, did{Execution: x, asked: prompt("Implement the search", w.Read("poem.md")), said: "I do not know what to implement.", tools: reads("poem.md")}), b)
		}},
		{name: "changed-file", found: record.FoundChanged, says: "limits.md", evidence: "limits: halve", seed: func(w *world) {
			b := w.bundle("bundle-limits", "implementor", "Implement the search", "limits.md", "gone.md")
			x := implementor(base, "")
			x.Bundle = b.Bundle.ID
			got := w.ran(work.Completed, did{Execution: x, asked: prompt("Implement the search", w.Read("limits.md")), said: "Implemented with the limits that I was given.", tools: reads("limits.md")})
			w.give(got, b)
			w.delivers(got, "lib/search.ts", 40, nil, nil)
			w.Git("rm", "-q", "gone.md")
			w.commit("limits: halve them", map[string]string{"limits.md": "At most 50 results.\n"})
		}},
		{name: "over-budget", found: record.FoundOver, says: "of a budget of 50k", evidence: "budget", seed: func(w *world) {
			x, most := implementor(base, "its budget is used up"), int64(50_000)
			x.Budget.Tokens = &most
			x.Failure = work.Failure{Code: work.CodeOverflow, Do: "orchestrator budget set exec-NNN --tokens 100000"}
			w.ran(work.Failed, did{Execution: x, asked: implements, said: "", tools: reads("spec.md", "lib/search.ts")})
		}},
		{name: "lied-tests", found: record.FoundLied, says: "tests: it says pass, and our check says fail", evidence: "FAIL", seed: func(w *world) {
			x := w.ran(work.Completed, did{Execution: implementor(base, ""), asked: implements, said: "Done. All tests pass.", tools: reads("spec.md")})
			w.delivers(x, "lib/search.ts", 40, &work.Validation{Tests: work.Pass}, &work.Validation{Tests: work.Fail, Output: "FAIL search returns results\n"})
		}},
		{name: "lost-run", found: record.FoundLost, says: "it was lost", evidence: "$", seed: func(w *world) {
			w.ran(work.Lost, did{Execution: implementor(base, "its server ended without a word"), asked: implements, tools: reads("spec.md"), noEnd: true})
		}},
		{name: "wrong-base", found: record.FoundBase, says: "look whether that is its branch", evidence: "release-1", seed: func(w *world) {
			w.Git("branch", "release-1", base+"~3")
			old := strings.TrimSpace(w.Git("rev-parse", "release-1"))
			w.ran(work.Failed, did{Execution: implementor(old, "the file of the plan is not there"), asked: implements, said: "There is no plan.md.", tools: reads("plan.md")})
		}},
		{name: "dropped", found: record.FoundLeftOut, says: "not sent: limits.md", seed: func(w *world) {
			b := w.bundle("bundle-dropped", "implementor", "Implement the search", "spec.md", "limits.md")
			x := implementor(base, "")
			x.Bundle = b.Bundle.ID
			got := w.ran(work.Completed, did{Execution: x, asked: implements, said: "Implemented.", tools: reads("spec.md")})
			w.give(got, b, "limits.md")
			w.delivers(got, "lib/search.ts", 40, nil, nil)
		}},
		{name: "sub-agent", found: record.FoundNative, says: "says itself that it completed", evidence: "failed", seed: func(w *world) {
			x := w.ran(work.Completed, did{Execution: implementor(base, ""), asked: implements, said: "Everything is implemented and tested.",
				tools: append(reads("spec.md"), `Task {"description":"test the search","result":"failed: no tests found"}`)})
			w.delivers(x, "lib/search.ts", 40, nil, nil)
			w.ran(work.Failed, did{Execution: work.Execution{Kind: work.KindNative, Type: "tester", Scope: "Test the search", Parent: x.ID, Key: "t-1", Model: "small", Reason: "no tests found",
				Usage: thread.Usage{Input: 3000, Output: 100, CostUSD: .01, Priced: true}}, asked: "Test the search.", said: "I found no tests."})
		}},
		{name: "old-version", found: record.FoundOld, says: "version 2 was there", evidence: "version = 1", seed: func(w *world) {
			b := w.bundle("bundle-old", "implementor", "Use the search", "lib/api.ts")
			first := w.ran(work.Completed, did{Execution: implementor(base, ""), asked: implements, said: "The first version.", tools: reads("spec.md")})
			w.delivers(first, "lib/api.ts", 5, nil, nil)
			w.commit("api: version 2", map[string]string{"lib/api.ts": fmt.Sprintf(library, 2)})
			second := w.ran(work.Completed, did{Execution: implementor(base, ""), asked: implements, said: "The second version.", tools: reads("spec.md")})
			w.delivers(second, "lib/api.ts", 5, nil, nil)
			x := implementor(base, "the types do not fit")
			x.Bundle, x.Scope = b.Bundle.ID, "Use the search"
			w.give(w.ran(work.Failed, did{Execution: x, asked: prompt("Use the search", fmt.Sprintf(library, 1)), said: "The types do not fit.", tools: reads("lib/api.ts")}), b)
		}},
		{name: "fallback", found: record.FoundFallback, says: "another model did this", evidence: "model: small", seed: func(w *world) {
			first := w.ran(work.Failed, did{Execution: implementor(base, "the provider is overloaded"), asked: implements, tools: reads("spec.md")})
			x := implementor(base, "the answer is no code")
			x.For, x.Model, x.Chosen = first.ID, "small", "the fallback"
			second := w.ran(work.Failed, did{Execution: x, asked: implements, said: "Here is a poem about search.", tools: reads("spec.md")})
			_, err := w.store.Change(w.T.Context(), first.ID, first.Fence, func(y *work.Execution) error { y.Instead = second.ID; return nil })
			w.ok(err)
		}},
	}
}
