package record

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/work"
)

// facts are what is known of an execution and of what is around it.
type facts struct {
	x       work.Execution
	now     time.Time
	session *work.Session
	spent   thread.Usage // in the work session
	bundle  *work.KeptBundle
	pieces  []GivenPiece
	asked   string
	made    []Made
	natives []work.Execution
	before  []work.Execution // in the same work session, newest first
	// peer is the newest one of the same type that completed before it, nil if there is none, with its pieces.
	peer       *work.Execution
	peerPieces []work.Allocation
	inPlaceOf  *work.Execution
	instead    *work.Execution
	// firstPieces are those of inPlaceOf. If another model has taken over, first is what the first attempt was asked, and
	// newest what the newest was.
	firstPieces   []work.Allocation
	first, newest string
	// lineage is how the commit at which it began stands to that of the one before it, "" if that is not known.
	lineage lineage
	// settling is set while what came of it is being written down.
	settling bool
	olds     []old
}

// lineage is how a commit stands to an earlier one.
type lineage string

const (
	lineageFollows lineage = "follows" // it has all of the earlier one's history
	lineageOther   lineage = "other"
)

// old is a file of which an execution was given an older version than there was.
type old struct {
	path         string
	given, there int // versions; given is 0 for none of those that are recorded
	by           string
}

// longOpen is how long ago something by hand or native began that has probably been forgotten.
const longOpen = 24 * time.Hour

// ended says how it ended, unless it completed.
func ended(f facts) []Finding {
	x := f.x
	switch x.State {
	case work.Failed:
		code := ""
		if x.Failure.Code != "" {
			code = fmt.Sprintf(" (%s)", x.Failure.Code)
		}
		return []Finding{{Code: FoundFailed, Text: "it failed" + code + ": " + cmp.Or(sentence(x.Reason), "nobody said why"),
			Do: cmp.Or(x.Failure.Do, logs(x))}}
	case work.Lost:
		do := logs(x)
		if x.Kind == work.KindRun {
			do = "orchestrator exec resume " + x.Name
		}
		return []Finding{{Code: FoundLost, Text: "it was lost: " + cmp.Or(sentence(x.Reason), "its server or its process died without a word") +
			". Nobody knows how far it came", Do: do}}
	case work.Cancelled:
		return []Finding{{Code: FoundCancelled, Text: "it was cancelled: " + cmp.Or(sentence(x.Reason), "nobody said why")}}
	case work.Queued, work.Deployed, work.Running, work.NeedsInput, work.Completed:
	}
	if !x.State.Final() && x.Kind == work.KindHand && f.now.Sub(x.Created) > longOpen {
		return []Finding{{Code: FoundOpen, Text: "it was begun " + thread.Age(f.now.Sub(x.Created)) + " ago, and nobody has recorded its end",
			Do: "orchestrator exec complete " + x.Name}}
	}
	return nil
}

// logs is the command that prints what an execution did.
func logs(x work.Execution) string { return "orchestrator exec logs " + x.Name }

// sentence is a text in one line, for a sentence: without the stop at its end.
func sentence(s string) string {
	return strings.TrimRight(strings.Join(strings.Fields(thread.Excerpt(s)), " "), ".")
}

// verdict is what a check says, in which output, and when.
type verdict struct {
	is     work.Verdict
	output int64
	at     time.Time
}

// newest returns what is said of each check, by the newest that says something; of several at a time a failure.
func newest(made []Made, of func(Made) *work.Validation) map[string]verdict {
	out := map[string]verdict{}
	for _, m := range made {
		v := of(m)
		for _, c := range v.Checks() {
			was, has := out[c.Name]
			if !has || v.At.After(was.at) || v.At.Equal(was.at) && c.Verdict == work.Fail && was.is != work.Fail {
				out[c.Name] = verdict{c.Verdict, m.Output, v.At}
			}
		}
	}
	return out
}

// checks compares what was said with what checks say.
func checks(f facts) (out []Finding) {
	said := newest(f.made, func(m Made) *work.Validation { return m.Claimed })
	ours := newest(f.made, func(m Made) *work.Validation { return m.Checked })
	var unchecked []string
	for _, name := range work.CheckNames() {
		switch s, o := said[name], ours[name]; {
		case s.is == work.Pass && o.is == work.Fail:
			out = append(out, Finding{Code: FoundLied, Text: fmt.Sprintf("%s: it says pass, and our check says fail (output %d)", name, o.output)})
		case o.is == work.Fail:
			out = append(out, Finding{Code: FoundRefused, Text: fmt.Sprintf("%s: our check says fail (output %d)", name, o.output)})
		case s.is == work.Fail && o.is == "":
			out = append(out, Finding{Code: FoundRefused, Text: name + ": it says itself that the check fails"})
		case s.is == work.Pass && o.is == "":
			unchecked = append(unchecked, name)
		}
	}
	if len(unchecked) > 0 {
		out = append(out, Finding{Code: FoundUnchecked, Note: true, Text: strings.Join(unchecked, ", ") + ": it says pass, and nobody has checked that",
			Do: "orchestrator output check " + f.x.Name})
	}
	return out
}

// spending compares what was spent and given with what may be.
func spending(f facts) (out []Finding) {
	out = append(out, over("it", f.x.Budget, f.x.Usage)...)
	if f.session != nil {
		out = append(out, over("its work session", f.session.Budget, f.spent)...)
	}
	if b := f.bundle; b != nil && b.Bundle.Remaining < 0 {
		out = append(out, Finding{Code: FoundFull, Text: fmt.Sprintf("its bundle %s has %s tokens, %s over its budget", b.Bundle.ID,
			thread.Tokens(b.Bundle.Total), thread.Tokens(-b.Bundle.Remaining)), Do: "orchestrator bundle explain " + b.Bundle.ID})
	} else if b != nil && b.Budget > 0 && f.x.Context > b.Budget {
		out = append(out, Finding{Code: FoundFull, Text: fmt.Sprintf("it was given %s tokens of context, of a budget of %s",
			thread.Tokens(f.x.Context), thread.Tokens(b.Budget)), Do: "orchestrator bundle explain " + b.Bundle.ID})
	}
	return out
}

// nearly is the part of a budget from which it is worth a remark.
const nearly = 0.9

// over says that a budget is used up, or nearly.
func over(who string, b thread.Budget, u thread.Usage) []Finding {
	say := func(share float64, spent, most string) []Finding {
		switch {
		case share >= 1:
			return []Finding{{Code: FoundOver, Text: fmt.Sprintf("%s has spent %s of a budget of %s", who, spent, most), Do: "orchestrator budget"}}
		case share >= nearly:
			return []Finding{{Code: FoundNear, Note: true, Text: fmt.Sprintf("%s has spent %s of a budget of %s", who, spent, most)}}
		}
		return nil
	}
	var out []Finding
	if b.Tokens != nil {
		tokens := u.Context()
		out = append(out, say(share(float64(tokens), float64(*b.Tokens)), thread.Tokens(tokens)+" tokens", thread.Tokens(*b.Tokens))...)
	}
	if b.USD != nil {
		out = append(out, say(share(u.CostUSD, *b.USD), thread.Money(u.CostUSD, u.Unknown), thread.USD(*b.USD))...)
	}
	return out
}

func share(spent, most float64) float64 {
	switch {
	case spent <= 0:
		return 0
	case most <= 0:
		return 1
	default:
		return spent / most
	}
}

// subAgents names those that did not complete.
func subAgents(f facts) (out []Finding) {
	for _, n := range f.natives {
		if n.State.Final() && n.State != work.Completed {
			text := fmt.Sprintf("its sub-agent %s (%s) %s", n.Name, n.AgentType(), ending(n))
			if f.x.State == work.Completed {
				text += ", and it says itself that it completed"
			}
			out = append(out, Finding{Code: FoundNative, Text: text, Do: "orchestrator history trace " + n.Name})
		}
	}
	return out
}

// ending is how an execution ended, in a sentence.
func ending(x work.Execution) string {
	how := map[work.State]string{work.Failed: "failed", work.Cancelled: "was cancelled", work.Lost: "was lost", work.Completed: "completed"}[x.State]
	if why := sentence(x.Reason); why != "" {
		how += " (" + why + ")"
	}
	return cmp.Or(how, "has not ended")
}

// prepared says what is odd about what it was given.
func prepared(f facts) (out []Finding) {
	var left []string
	for _, p := range f.pieces {
		if !p.Piece.Included {
			left = append(left, pieceName(p.Piece))
		}
	}
	if len(left) > 0 {
		do := ""
		if f.x.Bundle != "" {
			do = "orchestrator bundle show " + f.x.Bundle
		}
		out = append(out, Finding{Code: FoundLeftOut, Text: "it was prepared for it but not sent: " + few(left), Do: do})
	}
	if b := f.bundle; b != nil {
		if len(b.Left) > 0 {
			out = append(out, Finding{Code: FoundLeftOut, Text: fmt.Sprintf("its bundle %s had no room for: %s", b.Bundle.ID, few(b.Left)),
				Do: "orchestrator bundle show " + b.Bundle.ID})
		}
		if b.Bundle.AgentType != "" && f.x.Type != "" && b.Bundle.AgentType != f.x.Type {
			out = append(out, Finding{Code: FoundOtherFor, Text: fmt.Sprintf("its bundle %s was made for %s, and it is %s",
				b.Bundle.ID, work.OneOf(b.Bundle.AgentType), work.OneOf(f.x.Type)), Do: "orchestrator bundle show " + b.Bundle.ID})
		}
		if differs(b.Bundle.Scope, f.x.Scope) {
			out = append(out, Finding{Code: FoundOtherFor, Note: alike(b.Bundle.Scope, f.x.Scope), Text: fmt.Sprintf("its bundle %s was made for another scope: %q",
				b.Bundle.ID, short(b.Bundle.Scope)), Do: "orchestrator bundle show " + b.Bundle.ID})
		}
	}
	if len(f.pieces) == 0 && f.asked == "" && f.x.Context == 0 && f.x.Kind != work.KindTerminal {
		out = append(out, Finding{Code: FoundNothing, Note: true, Text: "nothing is recorded of what it was given"})
	}
	return out
}

// pieceName is a piece of context in a sentence.
func pieceName(p work.Allocation) string {
	name := p.Source
	if len(p.Sections) > 0 {
		name += " (" + few(p.Sections) + ")"
	}
	if p.Priority == work.Recommended {
		name += " (recommended)"
	}
	return name
}

// mostNamed is how many names a sentence has.
const mostNamed = 4

// few is a list of names in a sentence.
func few(names []string) string {
	if len(names) > mostNamed {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:mostNamed], ", "), len(names)-mostNamed)
	}
	return strings.Join(names, ", ")
}

// short is the beginning of a text, in a sentence.
func short(s string) string {
	const cells = 60
	if r := []rune(sentence(s)); len(r) > cells {
		return string(r[:cells]) + "..."
	}
	return sentence(s)
}

// differs reports whether two scopes are both known and not the same.
func differs(a, b string) bool {
	return a != "" && b != "" && !strings.EqualFold(sentence(a), sentence(b))
}

// alike reports whether one scope has a word of some length of the other.
func alike(a, b string) bool {
	const long = 4
	of := strings.ToLower(b)
	for w := range strings.FieldsSeq(strings.ToLower(a)) {
		if len(w) >= long && strings.Contains(of, w) {
			return true
		}
	}
	return false
}

// olderVersions names the files of which it was given an older version than there was when it began.
func olderVersions(f facts) (out []Finding) {
	for _, o := range f.olds {
		given := fmt.Sprintf("version %d", o.given)
		if o.given == 0 {
			given = "what it was before"
		}
		out = append(out, Finding{Code: FoundOld, Text: fmt.Sprintf("it was given %s of %s; version %d was there since %s", given, o.path, o.there, o.by),
			Do: "orchestrator history trace " + o.path})
	}
	return out
}

// comparison says what the newest one of its type that completed had been given and this one was not.
func comparison(f facts) []Finding {
	if f.peer == nil || good(f) {
		return nil
	}
	has := map[string]bool{}
	for _, p := range f.pieces {
		if p.Piece.Included {
			has[p.Piece.Source] = true
		}
	}
	var lacks []string
	for _, p := range f.peerPieces {
		if p.Included && p.Type != work.ItemBriefing && !has[p.Source] && !slices.Contains(lacks, p.Source) {
			lacks = append(lacks, p.Source)
		}
	}
	if len(lacks) == 0 {
		return nil
	}
	return []Finding{{Code: FoundLacks, Note: f.peer.Task != f.x.Task || f.peer.Session != f.x.Session,
		Text: fmt.Sprintf("%s, the last %s that completed, was given what it was not: %s", f.peer.Name, f.x.AgentType(), few(lacks)),
		Do:   "orchestrator history trace " + f.peer.Name}}
}

// good reports whether it completed and no check failed.
func good(f facts) bool {
	if f.x.State.Final() && f.x.State != work.Completed {
		return false
	}
	return !slices.ContainsFunc(f.made, func(m Made) bool { return m.Checked.Failed() || m.Claimed.Failed() || m.Type == work.OutputError })
}
