package session

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"time"

	"orchestrator/agent/dialog"
	"orchestrator/thread"
)

// absent is how long a dialog, or a part of it, may not be shown until it counts as gone: some agents clear their screen to
// draw it, or draw it in pieces.
const absent = 500 * time.Millisecond

// asks is the dialog on a screen.
type asks struct {
	forms    []dialog.Form
	question *thread.Question // nil if none is shown
	sum      string           // of the dialog
	shown    int              // how many were shown so far
	run      string           // random, so that no two executions have a question with one id
	at       int              // the choice on which the keyboard was
	stale    string           // sum of the dialog that was answered, while it may still be shown
	half     time.Time        // since when a part of it is missing; zero while none is
	touched  time.Time        // when a key went to it that has not been seen to do anything; zero if none has
}

// see records which dialog is shown, if one is. One that reads like the one before is the same. It reports whether the
// screen seems to be half drawn, and is to be looked at again.
func (a *asks) see(d dialog.Dialog, shown bool, now time.Time) (again bool) {
	if !shown {
		a.question, a.sum, a.stale, a.touched, a.half = nil, "", "", time.Time{}, time.Time{}
		return false
	}
	if a.lacks(d) {
		if a.half.IsZero() {
			a.half = now
		}
		if now.Sub(a.half) < absent {
			return true
		}
	}
	a.half = time.Time{}
	if a.question == nil || d.At != a.at || d.Sum() != a.sum {
		a.at, a.touched = d.At, time.Time{}
	}
	if sum := d.Sum(); a.question == nil || sum != a.sum {
		if a.run == "" {
			var b [4]byte
			_, _ = rand.Read(b[:]) // never fails
			a.run = hex.EncodeToString(b[:])
		}
		a.shown++
		q := d.Question
		q.ID, q.Since = fmt.Sprintf("%s-%d-%s", a.run, a.shown, sum), now
		a.question, a.sum = &q, sum
		if sum == a.stale {
			a.touched = now
		}
		a.stale = ""
	}
	return false
}

// answered makes whatever is shown now another question, even if it reads the same. Until that is seen to change, a key
// is on its way to it.
func (a *asks) answered() {
	sum := a.sum
	a.see(dialog.Dialog{}, false, time.Time{})
	a.stale = sum
}

// lacks reports whether a dialog is the one before without some of its choices: agents draw theirs again, in pieces, when
// its keyboard moves.
func (a *asks) lacks(d dialog.Dialog) bool {
	q := a.question
	return q != nil && d.Kind == q.Kind && d.Text == q.Text && d.About == q.About && len(d.Choices) < len(q.Choices)
}
