package work

import (
	"fmt"
	"slices"
	"time"
)

// The bounds of a breaker.
const (
	opensAt = 3 // failures in a row, of which none is longer than inRow after the one before
	inRow   = 15 * time.Minute
	// A way on which some get through opens when half of its last attempts failed, of so many within that time.
	lastAttempts = 6
	lately       = time.Minute

	firstPause = 15 * time.Second
	lastPause  = 5 * time.Minute
)

// Way is how executions reach their models: an agent with the login that pays.
type Way struct{ Agent, Account string }

// Way returns the way of an execution.
func (x Execution) Way() Way { return Way{x.Agent, x.Account} }

// Breakers keep executions from ways on which one after the other fails, or every second one, so that eight that wait do not
// all try what failed three times. After a pause one of them is started as a probe: its first answer lets the others start, its failure
// makes the next pause longer. They are not kept over a restart, after which the first ones find out. The zero value has
// seen nothing; it is not for several goroutines.
type Breakers struct {
	ways map[Way]*breaker
}

type breaker struct {
	failed int       // attempts in a row
	newest time.Time // of them
	recent []end
	says   string // why it opened
	pause  time.Duration
	until  time.Time // of the pause, with the monotonic clock
}

// end is how an attempt ended.
type end struct {
	failed bool
	at     time.Time
}

// ends notes the end of an attempt, and returns how many of the last ones failed.
func (k *breaker) ends(failed bool, now time.Time) (bad int) {
	k.recent = append(k.recent, end{failed, now})
	k.recent = slices.DeleteFunc(k.recent, func(e end) bool { return now.Sub(e.at) > lately })
	k.recent = k.recent[max(0, len(k.recent)-lastAttempts):]
	for _, e := range k.recent {
		if e.failed {
			bad++
		}
	}
	return bad
}

// Failed records that an attempt failed for something that passes. It reports whether the way was closed and is not now.
func (b *Breakers) Failed(w Way, what string, now time.Time) (opened bool) {
	if b.ways == nil {
		b.ways = map[Way]*breaker{}
	}
	k := b.ways[w]
	if k == nil {
		k = &breaker{}
		b.ways[w] = k
	}
	if k.pause == 0 && now.Sub(k.newest) > inRow { // others have worked for long in between, though none has ended
		k.failed = 0
	}
	k.failed, k.newest = k.failed+1, now
	bad := k.ends(true, now)
	half := len(k.recent) == lastAttempts && 2*bad >= lastAttempts
	if k.says = fmt.Sprintf("%d attempts in a row failed: %s", k.failed, what); k.failed < opensAt && half {
		k.says = fmt.Sprintf("%d of the last %d attempts failed: %s", bad, lastAttempts, what)
	}
	if k.pause == 0 && k.failed < opensAt && !half || now.Before(k.until) { // of those that were on the way already, the first counts
		return false
	}
	opened = k.pause == 0
	k.pause = min(max(2*k.pause, firstPause), lastPause)
	k.until = now.Add(k.pause)
	return opened
}

// Answered records that the provider answers on a way. Before the end of a pause that is an answer to what had been asked
// before, and says nothing. It reports whether the way was not closed before.
func (b *Breakers) Answered(w Way, now time.Time) (closed bool) {
	k := b.ways[w]
	if k == nil || k.pause == 0 || now.Before(k.until) {
		return false
	}
	delete(b.ways, w)
	return true
}

// Worked records that an attempt ended otherwise than by a failure that passes.
func (b *Breakers) Worked(w Way, now time.Time) {
	k := b.ways[w]
	if k == nil || now.Before(k.until) {
		return
	}
	k.failed = 0
	if bad := k.ends(false, now); bad == 0 || k.pause > 0 {
		delete(b.ways, w)
	}
}

// Break is a way that is not open to all.
type Break struct {
	Way  Way
	What string // why, for people
	// Left is how long nothing starts on it. If it is 0, one at a time may.
	Left time.Duration
}

// Open returns the ways that are not open to all.
func (b *Breakers) Open(now time.Time) map[Way]Break {
	open := map[Way]Break{}
	for w, k := range b.ways {
		if k.pause > 0 {
			open[w] = Break{Way: w, Left: max(0, k.until.Sub(now)), What: k.says}
		}
	}
	return open
}

// Says says for people how a way stands.
func (b Break) Says(now time.Time) string {
	if b.Left > 0 {
		return fmt.Sprintf("%s runs start again at %s: %s", b.Way.Agent, now.Add(b.Left).Local().Format(time.TimeOnly), b.What)
	}
	return fmt.Sprintf("%s runs start one at a time: %s", b.Way.Agent, b.What)
}
