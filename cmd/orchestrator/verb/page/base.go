package page

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"orchestrator/thread"
	"orchestrator/thread/plaintext"
)

// Base prints what an agent sends before a word is said, and what of it could be left out.
func Base(w io.Writer, r thread.BaseReport) {
	row := func(name, value string) { printRow(w, name, value) }
	row("Thread", r.Name)
	row("Agent", strings.TrimSpace(r.Agent+" "+r.Version))
	row("Model", r.Model)
	switch {
	case r.Tokens > 0:
		row("Base", thread.Tokens(r.Tokens)+" tokens with each request, before a word is said")
	default:
		row("Base", r.Reason)
	}
	if r.Base.Profile != "" {
		row("Profile", strings.TrimSuffix(r.Base.Profile+": "+r.Base.Why, ": "))
	}
	if r.Base.Next != "" {
		row("Next", r.Base.Next+", from its next start, rewind or fork on")
	}
	for i, lost := range r.LeftOut() {
		row([]string{"Without", ""}[min(i, 1)], lost)
	}
	for _, warning := range r.Warnings {
		row("Note", strings.TrimSpace(warning.What+". "+warning.Do))
	}
	baseParts(w, r)
	baseProfiles(w, r)
	baseLevers(w, r)
}

func baseParts(w io.Writer, r thread.BaseReport) {
	if len(r.Parts) == 0 {
		return
	}
	fmt.Fprintln(w)
	var t Columns
	t.Row("PART", "TOKENS", "SHARE", "CAN BE LEFT OUT BY")
	for _, p := range r.Parts {
		t.Row(plaintext.Short(p.Says(), 100), thread.Tokens(p.Tokens), share(p.Tokens, r.Tokens), Dash(p.Lever))
	}
	t.Row("in all", thread.Tokens(r.Tokens), share(r.Tokens, r.Tokens), "")
	t.Print(w)
}

func baseProfiles(w io.Writer, r thread.BaseReport) {
	if len(r.Profiles) == 0 {
		return
	}
	fmt.Fprintln(w)
	var t Columns
	t.Row("PROFILE", "TOKENS", "")
	names := slices.SortedFunc(maps.Keys(r.Profiles), func(a, b string) int {
		if d := r.Profiles[b] - r.Profiles[a]; d != 0 {
			return int(max(-1, min(1, d)))
		}
		return strings.Compare(a, b)
	})
	for _, name := range names {
		now := ""
		if name == r.Base.Profile {
			now = "now"
		}
		t.Row(name, "≈ "+thread.Tokens(r.Profiles[name]), now)
	}
	t.Print(w)
}

func baseLevers(w io.Writer, r thread.BaseReport) {
	if len(r.Levers) == 0 {
		return
	}
	var t Columns
	t.Row("LEFT OUT BY", "SAVES", "IN")
	for _, l := range r.Levers {
		t.Row(l.Name, dashed(int64(l.Saves)), Dash(strings.Join(l.Profiles, ", ")))
	}
	fmt.Fprintln(w)
	t.Print(w)
	fmt.Fprintln(w)
	for _, l := range r.Levers {
		lost := "without " + l.Name + " you lose: " + l.Lost
		if l.Kept != "" {
			lost += " (it stays here: " + l.Kept + ")"
		}
		fmt.Fprintln(w, plaintext.Line(lost))
	}
}
