package record

import (
	"fmt"
	"slices"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/work"
)

// mostFiles is how many files of a chain are looked at.
const mostFiles = 200

// Compare looks at the files that an execution was given a part of, as they are now, and adds what is wrong. hash returns
// the SHA-256 of a file of the project in hex, "" if it is not there; an error, for a file that may not be read, says
// nothing. It is for whoever prints a chain, with their own rights: a server reads no file that an agent has named.
func Compare(t *Trace, hash func(path string) (string, error)) {
	var changed, gone []string
	for i := range t.Given.Context[:min(len(t.Given.Context), mostFiles)] {
		p := &t.Given.Context[i]
		if p.Source == "" || p.Piece.Type == work.ItemBriefing {
			continue // a briefing is no file
		}
		now, err := hash(p.Piece.Source)
		if err != nil {
			continue
		}
		switch now {
		case "":
			p.Now = Gone
			gone = append(gone, p.Piece.Source)
		case p.Source:
			p.Now = Same
		default:
			p.Now = Differs
			changed = append(changed, p.Piece.Source)
		}
	}
	var more []Finding
	if len(gone) > 0 {
		more = append(more, Finding{Code: FoundGone, Note: beside(t.More, FoundGone), Text: "it was given what is not there any more: " + few(gone)})
	}
	if len(changed) > 0 {
		more = append(more, Finding{Code: FoundChanged, Note: onlyItsOwn(t, changed) || beside(t.More, FoundChanged),
			Text: "it has changed since " + readAt(t) + ": " + few(changed)})
	}
	at := slices.IndexFunc(t.Findings, func(f Finding) bool { return f.Note })
	if at < 0 {
		at = len(t.Findings)
	}
	for _, f := range more {
		if f.Note {
			t.Findings = append(t.Findings, f)
		} else {
			t.Findings = slices.Insert(t.Findings, at, f)
			at++
		}
	}
}

// onlyItsOwn reports whether all of these files were changed by the execution itself.
func onlyItsOwn(t *Trace, files []string) bool {
	return !slices.ContainsFunc(files, func(file string) bool {
		return !slices.ContainsFunc(t.Given.Outputs, func(m Made) bool { return m.Path == slashed(file) })
	})
}

// readAt is when what was given was read from its files: when its bundle was prepared, which may be long before it was
// given.
func readAt(t *Trace) string {
	b := t.Given.Bundle
	if b == nil || b.Created.IsZero() {
		return "it was given"
	}
	given := t.More.Created
	if !t.More.Started.IsZero() {
		given = t.More.Started
	}
	if before := given.Sub(b.Created); before >= time.Second {
		return fmt.Sprintf("bundle %s was prepared, %s before it was given", b.ID, thread.Elapsed(before))
	}
	return fmt.Sprintf("bundle %s was prepared", b.ID)
}
