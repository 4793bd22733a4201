// Package typing tells keys that are meant for what is on the screen from text that is meant for an agent, a shell or
// a dialog that has closed, so that typing without looking does no harm.
package typing

import (
	"time"

	"orchestrator/ui/dialog"
	"orchestrator/ui/intent"
)

const (
	// Pause is the longest time between two keys of somebody who types without looking.
	Pause = 700 * time.Millisecond
	// QuitDelay is how long a letter that quits waits for further text, which would otherwise go to the shell.
	QuitDelay = 250 * time.Millisecond
	// AnswerDelay is how long a letter that answers an agent waits for further text, of which it would be the first one.
	AnswerDelay = 400 * time.Millisecond
	// Glance is the shortest time in which a user notices that a dialog has opened.
	Glance = 500 * time.Millisecond
)

// Guard tracks how keys arrive.
type Guard struct {
	burst  bool // the current keys came in one read
	acts   bool // not all of them only move
	warned bool // the user was told that keys are ignored
	// ignoring is why text is ignored until the user pauses: the text before it was meant for something else.
	ignoring string
	last     time.Time

	held  intent.Intent // what a letter asks for, while no other key has come yet; nil otherwise
	alone string        // what the letter does when typed alone: "q quits"
	holds int

	top    dialog.Dialog // the topmost dialog, open since then
	since  time.Time
	text   bool // the last key was text, or ended one
	wrote  bool // and it did not only move
	unseen bool // it was opened by text, and no pause that a glance takes has come since
	typed  bool // more text followed at once: a sentence, whose enter does not end the dialog
	again  bool // its enter was ignored just now, and may be pressed again
	run    int  // letters typed without a pause, with the newest one, but without one that opened the dialog by itself
}

// Key is a key and what it would do.
type Key struct {
	Scope  intent.Scope
	Intent intent.Intent // nil if it does nothing
	Text   bool
	Acts   bool // what is picked does more than to show something
	// SinceLast is the time since the previous key.
	SinceLast time.Duration
	Now       time.Time
	Place
}

// Place is where the keys go instead, for people.
type Place struct {
	Leave string // the key that leads back to the list
	Focus string // the key that focuses the agent
	Agent string // the name of the selected thread, "" if none is
}

// SinceLast records a key and returns the time since the previous one.
func (g *Guard) SinceLast(now time.Time) time.Duration {
	d := now.Sub(g.last)
	g.last = now
	return d
}

// LoseFocus records that the agent lost the focus, but not by a key: what is being typed was meant for it.
func (g *Guard) LoseFocus(now time.Time) {
	if now.Sub(g.last) < Pause {
		g.ignoring, g.warned = "Keys ignored: its agent is no longer shown", false
	}
}

// Alone reports whether a letter was typed by itself, so that it may quit.
func (g *Guard) Alone() bool { return !g.burst && g.ignoring == "" }

// Hold records what a letter asks for, which waits whether it is the first one of a text; alone says what it does
// otherwise: "q quits". Pass the id to Due after a delay.
func (g *Guard) Hold(in intent.Intent, alone string) (id int) {
	g.held, g.alone = in, alone
	g.holds++
	return g.holds
}

// Held returns what a letter asks for that waits, nil if none does.
func (g *Guard) Held() intent.Intent { return g.held }

// Due reports whether no text has followed a letter, which then waits no longer.
func (g *Guard) Due(id int) bool {
	due := g.held != nil && id == g.holds
	if due {
		g.held = nil
	}
	return due
}

// Drop drops what waits because text follows its letter: it was part of that text, and the rest is not meant for the
// screen either.
func (g *Guard) Drop() {
	if g.held != nil {
		g.held, g.warned, g.ignoring = nil, false, "Keys ignored; "+g.alone+" when typed alone"
	}
}

// Forget drops what waits, because a key that leaves takes it back.
func (g *Guard) Forget() { g.held = nil }

// Bursts reports whether keys come in one read, as those of a text that is pasted do.
func (g *Guard) Bursts() bool { return g.burst }

// Begins reports whether the newest letter is not within text: none came before it but the one that opened the dialog.
func (g *Guard) Begins() bool { return g.run == 1 }

// Typed reports whether text is being typed that was not meant for the screen.
func (g *Guard) Typed() bool { return g.ignoring != "" }

// Burst starts or ends a burst of keys that came in one read; acts is set if not all of them only move.
func (g *Guard) Burst(on, acts bool) { g.burst, g.acts, g.warned = on, acts, false }

// Resumed records that the shell has given the terminal back.
func (g *Guard) Resumed() { g.burst = false }

// Opened records since when a dialog has been on top.
func (g *Guard) Opened(top dialog.Dialog, now time.Time) {
	if top != g.top {
		text := g.text || g.top != nil && g.unseen // also of a dialog that led to this one
		g.top, g.since, g.unseen, g.typed, g.again = top, now, top != nil && text, false, false
		if g.run == 1 {
			g.run = 0
		}
	}
}

// JustOpened reports whether the topmost dialog has just opened, so that a click was meant for what it covers.
func (g *Guard) JustOpened(now time.Time) bool { return g.top != nil && now.Sub(g.since) < Glance }

// Ignored returns why a key is ignored, or "" if it is not. Keys that only move are ignored only if they are text, in a
// burst with others that act: a pasted list of numbers selects nothing.
func (g *Guard) Ignored(k Key) string {
	moves := k.Intent != nil && intent.Moves(k.Intent)
	wrote := g.wrote
	if !k.Text || k.SinceLast >= Pause {
		g.run = 0
	}
	if k.Text {
		g.run++
	}
	g.text, g.wrote = k.Text || wrote && k.SinceLast < Pause, k.Text && !moves // the enter of a sentence is of its text
	g.unseen = g.unseen && k.SinceLast < Glance
	g.typed = g.typed || g.unseen && k.Text
	again := g.again && k.SinceLast >= Glance
	g.again = false
	if k.SinceLast >= Pause || moves && !k.Text {
		g.ignoring = ""
	}
	switch {
	case g.ignoring != "":
		return g.ignoring
	case k.Intent == intent.Menu && k.Text && wrote && k.SinceLast < Pause: // the full stop of a sentence
		return TextIgnored(k.Scope, k.Place)
	case g.unseen && k.Text && !moves && (k.Scope == intent.Servers || k.Scope == intent.Tools):
		return TextIgnored(k.Scope, k.Place) // its letters act at once
	case k.Intent == intent.Submit && k.Scope == intent.Confirm && g.JustOpened(k.Now):
		return "Key ignored: this was asked only now"
	case g.typed && k.Intent == intent.Accept && (k.Scope != intent.Field || k.Acts) && !again: // most pickers only show something
		g.again = true
		return "Press enter again: a sentence opened this"
	case !g.burst || moves && !(k.Text && g.acts):
		return ""
	}
	switch k.Scope {
	case intent.Form, intent.Field:
		ends := k.Intent == intent.Accept || k.Intent == intent.Submit
		if !ends || k.Now.Sub(g.since) >= Glance {
			return "" // text belongs there
		}
	case intent.Confirm:
		if _, typed := k.Intent.(intent.Type); typed {
			return "" // the dialog handles it
		}
	default:
	}
	return TextIgnored(k.Scope, k.Place)
}

// TextIgnored explains why text is ignored where keys are commands.
func TextIgnored(scope intent.Scope, p Place) string {
	switch scope {
	case intent.Tree, intent.Question, intent.Offer:
		if p.Agent == "" {
			return "Keys ignored: you are at the list"
		}
		return "Keys ignored: you are at the list. " + p.Focus + " types to " + p.Agent
	case intent.Timeline, intent.Turn, intent.Diff, intent.Context:
		return "Keys ignored: you are in a view. " + p.Leave + " leads to the list"
	case intent.Scroll:
		return "Keys ignored: you are in scroll mode. " + p.Leave + " leaves it"
	default:
		return "Keys ignored: a dialog is open"
	}
}

// ShouldTell reports whether to tell the user that keys are ignored: once per burst.
func (g *Guard) ShouldTell() bool {
	if g.warned && (g.burst || g.ignoring != "") {
		return false
	}
	g.warned = true
	return true
}
