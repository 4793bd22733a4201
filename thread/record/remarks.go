package record

import (
	"cmp"
	"fmt"
	"strings"

	"orchestrator/thread/work"
)

// base compares the commit at which it began with that of the one before it in its work session. Commits go on, so that
// this alone is a remark; going back to an older one is not.
func base(f facts) []Finding {
	var newest work.Execution
	for _, b := range f.before { // newest first
		switch {
		case b.Base == "" || b.Session == "" || b.Session != f.x.Session:
		case newest.Base == "":
			newest = b
		}
		if newest.Base != "" && newest.Base == f.x.Base {
			return nil
		}
		if newest.Base != "" && b.Base == f.x.Base && b.Base != "" {
			return []Finding{{Code: FoundBase, Do: fmt.Sprintf("git log --oneline %.8s..%.8s", f.x.Base, newest.Base),
				Text: fmt.Sprintf("it began at commit %.8s, an older one than %s before it, which began at %.8s", f.x.Base, newest.Name, newest.Base)}}
		}
	}
	if f.x.Base == "" || newest.Base == "" {
		return nil
	}
	return []Finding{{Code: FoundBase, Note: good(f), Do: fmt.Sprintf("git log --oneline %.8s...%.8s", f.x.Base, newest.Base),
		Text: fmt.Sprintf("it began at commit %.8s, and %s before it at %.8s: look whether that is its branch", f.x.Base, newest.Name, newest.Base)}}
}

// instead says that it took the place of another, or another took its place.
func instead(f facts) (out []Finding) {
	if o := f.inPlaceOf; o != nil {
		out = append(out, Finding{Code: FoundFallback, Note: good(f), Do: "orchestrator history trace " + o.Name,
			Text: fmt.Sprintf("it is the fallback of %s (%s), which %s: another model did this than was asked for (%s)", o.Name, ran(*o), ending(*o), ran(f.x))})
	}
	if o := f.instead; o != nil {
		out = append(out, Finding{Code: FoundFallback, Note: true, Do: "orchestrator history trace " + o.Name,
			Text: fmt.Sprintf("%s (%s) took its place", o.Name, ran(*o))})
	}
	if f.inPlaceOf == nil && f.x.Fallback != "" && strings.TrimPrefix(f.x.Fallback, "model:") == f.x.Model && f.x.Attempt > 1 {
		out = append(out, Finding{Code: FoundFallback, Note: good(f), Do: logs(f.x),
			Text: fmt.Sprintf("its fallback did this, %s: %s", f.x.Model, cmp.Or(sentence(f.x.Chosen), "the model that was asked for failed"))})
	}
	return out
}

// ran is what worked: the agent and its model.
func ran(x work.Execution) string {
	return strings.Trim(strings.Join([]string{x.Agent, x.Model}, ", "), ", ")
}

// results says what is odd about what came of it.
func results(f facts) (out []Finding) {
	has, delivered, newer := map[string]bool{}, 0, []string{}
	for _, p := range f.pieces {
		if p.Piece.Type != work.ItemBriefing {
			has[slashed(p.Piece.Source)] = true
		}
	}
	var untold []string
	for _, m := range f.made {
		if m.Type != work.OutputDeliverable {
			continue
		}
		delivered++
		if len(has) > 0 && !has[m.Path] && m.Modified+m.Deleted > 0 {
			untold = append(untold, m.Path)
		}
		if !m.Current {
			newer = append(newer, fmt.Sprintf("%s (version %d)", m.Path, m.Version))
		}
	}
	if len(untold) > 0 {
		out = append(out, Finding{Code: FoundUntold, Note: true, Text: "it changed what it was not given: " + few(untold)})
	}
	if len(newer) > 0 {
		out = append(out, Finding{Code: FoundSuperseded, Note: true, Text: "there is a newer version of what it made: " + few(newer)})
	}
	if f.x.Gap != "" {
		out = append(out, Finding{Code: FoundGap, Text: "it was stopped at its bound, and this is missing: " + sentence(f.x.Gap)})
	}
	if f.x.State == work.Completed && len(f.made) == 0 && f.x.Kind != work.KindNative && !f.x.ReadOnly {
		out = append(out, Finding{Code: FoundNoOutput, Note: true, Text: "no output of it is recorded: no file, no check, no insight",
			Do: "orchestrator output collect " + f.x.Name})
	}
	if f.x.Kind == work.KindHand {
		out = append(out, Finding{Code: FoundClaim, Note: true, Text: "it was written down by " + author(f.x) + ": what it says of itself is a claim"})
	}
	return out
}

// author is who wrote an execution down.
func author(x work.Execution) string {
	if x.By != "" {
		return "an agent"
	}
	return cmp.Or(strings.Trim(x.User+"@"+x.Host, "@"), "a person")
}
