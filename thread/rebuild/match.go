package rebuild

import (
	"slices"
	"strings"

	"orchestrator/thread"
)

// alike normalises texts from the gateway and from an agent's file, which differ in white space, for comparison.
func alike(s string) string {
	s = strings.Join(strings.Fields(thread.Excerpt(s)), "")
	return s[:min(len(s), thread.MaxExcerpt/2)] // the cut may have been elsewhere
}

// same reports whether two readings of an agent's files are of the same turn.
func same(a, b Turn) bool {
	if alike(a.Prompt) != alike(b.Prompt) || len(a.Said) != len(b.Said) {
		return false
	}
	for i := range a.Said {
		if alike(a.Said[i].Text) != alike(b.Said[i].Text) || !slices.Equal(a.Said[i].Tools, b.Said[i].Tools) {
			return false
		}
	}
	return true
}

// common counts the turns that two conversations begin with.
func common(a, b []Turn) int {
	n := 0
	for n < len(a) && n < len(b) && same(a[n], b[n]) {
		n++
	}
	return n
}

// late returns the stored responses, oldest first, that are not in the stored transcript: agents show an answer before
// they write it down.
func late(stored []thread.Checkpoint, told []Turn) []thread.Checkpoint {
	if len(told) == 0 {
		return stored
	}
	last := told[len(told)-1].last()
	found := -1
	for i, c := range slices.Backward(stored) {
		if alike(c.Answer) != alike(last.Text) {
			continue
		}
		if c.Usage.Context() == last.Usage.Context() { // it is the same response
			return stored[i+1:]
		}
		if found < 0 {
			found = i
		}
	}
	if found < 0 {
		return nil // unknown: everything after the stored bytes counts as new
	}
	return stored[found+1:]
}

// count records how many responses of each turn are stored: those that a transcript begins with, and those that were
// stored before the agent wrote them down.
func count(told []Turn, late []thread.Checkpoint) {
	for i := range told {
		for _, e := range told[i].Said {
			if len(late) == 0 || alike(late[0].Answer) != alike(e.Text) {
				return
			}
			told[i].known++
			late = late[1:]
		}
	}
}

// before returns the turns before the first of some responses that are in the spool and will be stored on top of them.
func before(told []Turn, kept []thread.Checkpoint) []Turn {
	i := slices.IndexFunc(kept, func(c thread.Checkpoint) bool { return c.Kind == thread.KindResponse })
	if i < 0 {
		return told
	}
	first := kept[i]
	for i, t := range told {
		for n := t.known; n < len(t.Said); n++ {
			if !is(t, t.Said[n], first) {
				continue
			}
			if n == 0 {
				return told[:i]
			}
			t.Said = slices.Clone(t.Said[:n])
			t.Said[n-1].EndsTurn = false // it continues with the spooled responses
			return append(slices.Clip(told[:i]), t)
		}
	}
	return told
}

// is reports whether a turn's response is the one of a checkpoint.
func is(t Turn, e thread.Exchange, c thread.Checkpoint) bool {
	return alike(e.Text) == alike(c.Answer) && (t.Prompt == "" || c.Prompt == "" || alike(t.Prompt) == alike(c.Prompt)) &&
		(e.Usage.Context() == 0 || c.Usage.Context() == 0 || e.Usage.Context() == c.Usage.Context())
}
