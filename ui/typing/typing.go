// Package typing tells text that is meant for an agent, a shell or a dialog that is gone from the keys that are meant
// for what is on show: who types without looking does no harm.
package typing

import (
	"time"

	"orchestrator/ui/dialog"
	"orchestrator/ui/intent"
)

const (
	// Pause is how long a person who types without looking stops at most between two keys.
	Pause = 700 * time.Millisecond
	// Parting is how long a letter that quits waits for another: what comes behind it would go to the shell.
	Parting = 250 * time.Millisecond
	// glance is how long a person at least needs to see that a dialog has opened.
	glance = 500 * time.Millisecond
)

// Guard is what is known of how keys come.
type Guard struct {
	burst bool // what comes now came in one read
	told  bool // of what is being ignored
	// taken says why text is ignored until the person pauses: what was typed before it was meant for somebody else.
	taken string
	last  time.Time

	leaving  bool // a letter said to quit, and no other has come yet
	partings int

	top   dialog.Dialog // the dialog on top, and since when
	since time.Time
}

// Key is a key and what it would do.
type Key struct {
	Scope  intent.Scope
	Intent intent.Intent // nil where it means nothing
	Text   bool
	// Late is how long after the one before it comes.
	Late time.Duration
	Now  time.Time
	// Focus is the key that gives the agent the keys.
	Focus string
}

// Late notes a key and returns how long after the one before it comes.
func (g *Guard) Late(now time.Time) time.Duration {
	d := now.Sub(g.last)
	g.last = now
	return d
}

// Take notes that the agent lost the keys, but not by a key: what is being typed was meant for it.
func (g *Guard) Take(now time.Time) {
	if now.Sub(g.last) < Pause {
		g.taken, g.told = "Text ignored: its agent is no longer shown", false
	}
}

// Alone reports whether a letter came by itself, so that it may quit.
func (g *Guard) Alone() bool { return !g.burst && g.taken == "" }

// Leaving reports whether a letter said to quit, and no other has come yet.
func (g *Guard) Leaving() bool { return g.leaving }

// Leave notes that a letter says to quit; it does once its parting is over.
func (g *Guard) Leave() (parting int) {
	g.leaving = true
	g.partings++
	return g.partings
}

// Parted reports whether no text followed the letter of a parting.
func (g *Guard) Parted(parting int) bool { return g.leaving && parting == g.partings }

// Stay takes back that a letter said to quit: where a text goes on behind it, it was a part of that, and the rest is
// meant for somebody else, too.
func (g *Guard) Stay(key string) {
	if g.leaving {
		g.leaving, g.told, g.taken = false, false, "Text ignored; "+key+" quits when typed alone"
	}
}

// Burst begins or ends what came in one read.
func (g *Guard) Burst(on bool) { g.burst, g.told = on, false }

// Back says that the terminal was the shell's.
func (g *Guard) Back() { g.burst = false }

// Opened notes since when a dialog has been on top.
func (g *Guard) Opened(top dialog.Dialog, now time.Time) {
	if top != g.top {
		g.top, g.since = top, now
	}
}

// Ignored says why a key is ignored, "" where it is not. Keys that only move are always taken.
func (g *Guard) Ignored(k Key) string {
	moves := k.Intent != nil && intent.Moves(k.Intent)
	if k.Late >= Pause || moves && !k.Text {
		g.taken = ""
	}
	switch {
	case g.taken != "":
		return g.taken
	case !g.burst || moves:
		return ""
	}
	switch k.Scope {
	case intent.Form, intent.Field:
		ends := k.Intent == intent.Accept || k.Intent == intent.Submit
		if !ends || k.Now.Sub(g.since) >= glance {
			return "" // text is what belongs there
		}
	case intent.Confirm:
		if _, typed := k.Intent.(intent.Type); typed {
			return "" // it is told
		}
	default:
	}
	return TextIgnored(k.Scope, k.Focus)
}

// TextIgnored says what happens to text where keys are commands.
func TextIgnored(scope intent.Scope, focus string) string {
	switch scope {
	case intent.Confirm, intent.List, intent.Resuming, intent.Form, intent.Field:
		return "Text ignored: a dialog is open"
	default:
		return "Text ignored; " + focus + " to type into the agent"
	}
}

// Tells reports whether the person is to be told that keys are ignored: once for what comes together.
func (g *Guard) Tells() bool {
	if g.told && (g.burst || g.taken != "") {
		return false
	}
	g.told = true
	return true
}
