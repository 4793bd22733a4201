package verb

import (
	"reflect"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"
)

// frameRate is how often Bubble Tea looks for something to draw in a second, while it does.
const frameRate = 120

// restAfter is for how long no view may have been asked for before it rests.
const restAfter = 40 * time.Millisecond

// rest has Bubble Tea's renderer rest while no message comes. By itself its ticker runs as long as the program, which
// costs an idle screen a per cent of a core. All that it draws and writes follows a message, after which it asks the
// model for a view.
//
// The renderer gets its ticks from us, one by one: it has taken each, however long it was writing before. It gets the
// view a while after the model returned it, because it takes none while it writes. That it has a view is known once the
// program handles another message, so we send one. The first tick that it takes then draws the newest view, and is the
// last one.
type rest struct {
	ticks chan time.Time // what the renderer takes; nil if it has a ticker of its own
	ask   func()         // sends the program a message, upon which it calls settled
	ended chan struct{}

	mu      sync.Mutex
	looks   bool   // look runs
	views   uint64 // how many were asked for
	settles uint64 // how many of them the renderer has for sure
	asked   time.Time
	asking  bool // the message is on its way
}

// attend gives a program's renderer our ticks, before the program runs.
func (r *rest) attend(p *tea.Program, ask func()) {
	r.ask, r.ended = ask, make(chan struct{})
	if ticks := make(chan time.Time); setTicker(p, ticks) {
		r.ticks = ticks
	}
}

// end ends all that runs; the program has ended.
func (r *rest) end() { close(r.ended) }

// awake has the renderer look again: a view was asked for.
func (r *rest) awake() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.views++
	r.asked = time.Now()
	if r.ticks != nil && !r.looks {
		r.looks = true
		go r.look()
	}
}

// settled notes that the renderer has all views that were asked for.
func (r *rest) settled() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.settles, r.asking = r.views, false
}

// look has the renderer look for something to draw until it has drawn the newest view.
func (r *rest) look() {
	pace := time.NewTicker(time.Second / frameRate)
	defer pace.Stop()
	for {
		select {
		case <-pace.C:
		case <-r.ended:
			return
		}
		has := r.has()
		select {
		case r.ticks <- time.Now(): // it waits while the renderer writes
		case <-r.ended:
			return
		}
		if r.rests(has) {
			return
		}
	}
}

// has returns how many views the renderer has for sure.
func (r *rest) has() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.settles
}

// rests tells whether the renderer may rest, which has drawn so many views. If it may not, only because it is not known
// which it has, it asks.
func (r *rest) rests(drawn uint64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if drawn == r.views {
		r.looks = false
		return true
	}
	if r.settles != r.views && !r.asking && time.Since(r.asked) >= restAfter {
		r.asking = true
		go r.ask() // waits while the program is busy
	}
	return false
}

// setTicker gives a program's renderer ticks, for which Bubble Tea has no option; false if it has another form in this
// version: it ticks on, then. Nobody receives from the ticker's own channel, so it costs nothing.
func setTicker(p *tea.Program, ticks <-chan time.Time) bool {
	v := reflect.ValueOf(p).Elem().FieldByName("ticker")
	if !v.IsValid() || v.Type() != reflect.TypeFor[*time.Ticker]() {
		return false
	}
	ticker := time.NewTicker(time.Hour)
	ticker.C = ticks
	*(**time.Ticker)(v.Addr().UnsafePointer()) = ticker
	return true
}
