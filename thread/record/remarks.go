package record

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"orchestrator/thread"
	"orchestrator/thread/work"
)

// earlierBase returns the newest execution before one in its work session of which it is known where it began.
func earlierBase(f facts) work.Execution {
	for _, b := range f.before { // newest first
		if b.Base != "" && b.Session != "" && b.Session == f.x.Session {
			return b
		}
	}
	return work.Execution{}
}

// base compares the commit at which it began with that of the one before it in its work session. Commits go on, so that
// another one says nothing; one without what the earlier one began with does.
func base(f facts) []Finding {
	newest := earlierBase(f)
	if f.x.Base == "" || newest.Base == "" || newest.Base == f.x.Base {
		return nil
	}
	back := slices.ContainsFunc(f.before, func(b work.Execution) bool { return b.Session == f.x.Session && b.Base == f.x.Base })
	if f.lineage == lineageFollows || f.lineage == "" && !back {
		return nil
	}
	return []Finding{{Code: FoundBase, Do: fmt.Sprintf("git log --oneline %.8s...%.8s", f.x.Base, newest.Base),
		Text: fmt.Sprintf("it began at commit %s, without the commits that %s before it began with, %s: look whether that is its branch",
			where(f.x), newest.Name, where(newest))}}
}

// where is the commit and the folder in which an execution began.
func where(x work.Execution) string {
	if x.Dir == "" {
		return fmt.Sprintf("%.8s", x.Base)
	}
	return fmt.Sprintf("%.8s in %s", x.Base, x.Dir)
}

// instead says that it took the place of another, or another took its place.
func instead(f facts) (out []Finding) {
	if o := f.inPlaceOf; o != nil {
		out = append(out, Finding{Code: FoundFallback, Note: good(f), Do: "orchestrator history trace " + o.Name,
			Text: fmt.Sprintf("it is the fallback of %s (%s), which %s: another model did this than was asked for (%s)", o.Name, ran(*o), ending(*o), ran(f.x)) + otherContext(f)})
	}
	if o := f.instead; o != nil {
		out = append(out, Finding{Code: FoundFallback, Note: true, Do: "orchestrator history trace " + o.Name,
			Text: fmt.Sprintf("%s (%s) took its place", o.Name, ran(*o))})
	}
	if x := f.x; x.FellBack > 0 {
		text := fmt.Sprintf("the model %s took over from %s at attempt %d", x.Model, cmp.Or(x.Former, "the agent's own"), x.FellBack)
		if x.Attempt < x.FellBack {
			text = fmt.Sprintf("the model %s takes over from %s at attempt %d, which has not begun", x.Model, cmp.Or(x.Former, "the agent's own"), x.FellBack)
		}
		if why := strings.TrimPrefix(sentence(x.Chosen), "the fallback, "); why != "" {
			text += " (" + why + ")"
		}
		switch {
		case f.first == "" || f.newest == "":
		case f.first == f.newest:
			text += "; it was given the same"
		default:
			text += "; it was not given what the first was: it went on in the same conversation, with another prompt"
		}
		out = append(out, Finding{Code: FoundFallback, Note: good(f), Do: logs(x), Text: text})
	}
	return out
}

// otherContext says how what a fallback was given differs from what the first was given.
func otherContext(f facts) string {
	var lacks []string
	for _, p := range f.firstPieces {
		if p.Included && p.Type != work.ItemBriefing && !slices.ContainsFunc(f.pieces, func(of GivenPiece) bool {
			return of.Piece.Included && of.Piece.Source == p.Source && slices.Equal(of.Piece.Sections, p.Sections)
		}) {
			lacks = append(lacks, pieceName(p))
		}
	}
	o := f.inPlaceOf
	switch {
	case len(lacks) > 0:
		return "; it was not given what the first was: " + few(lacks)
	case o.Bundle != f.x.Bundle:
		return fmt.Sprintf("; its bundle is %s, the first had %s", cmp.Or(f.x.Bundle, "none"), cmp.Or(o.Bundle, "none"))
	case o.Context != f.x.Context && o.Context > 0 && f.x.Context > 0:
		return fmt.Sprintf("; its context has %s tokens, the first had %s", thread.Tokens(f.x.Context), thread.Tokens(o.Context))
	}
	return ""
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
	if f.settling {
		out = append(out, Finding{Code: FoundSettling, Note: true, Text: "what came of it is not yet all written down: look again in a moment"})
	} else if f.x.State == work.Completed && len(f.made) == 0 && f.x.Kind != work.KindNative && !f.x.ReadOnly {
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
