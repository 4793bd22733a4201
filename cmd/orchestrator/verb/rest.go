package verb

import (
	"reflect"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"
)

// frameRate is how often Bubble Tea looks for something to draw in a second, while it does.
const frameRate = 120

// restAfter is how long it looks after the last message.
const restAfter = 40 * time.Millisecond

// rest has Bubble Tea's renderer rest while no message comes. By itself its ticker runs as long as the program, which
// costs an idle screen a per cent of a core. All that it draws and writes follows a message, after which it asks the
// model for a view.
type rest struct {
	mu      sync.Mutex
	ticker  *time.Ticker // the renderer's; nil if it is not known
	rests   bool
	watched bool // doze will be called
	asked   time.Time
}

// awake has the renderer look again. Until the renderer has started there is nothing to wake.
func (r *rest) awake(p *tea.Program) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked = time.Now()
	if r.ticker == nil {
		if r.ticker = tickerOf(p); r.ticker == nil {
			return
		}
	}
	if r.rests {
		r.rests = false
		r.ticker.Reset(time.Second / frameRate)
	}
	if !r.watched {
		r.watched = true
		time.AfterFunc(restAfter, r.doze)
	}
}

// doze stops the ticker if no message has come for a while.
func (r *rest) doze() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if left := restAfter - time.Since(r.asked); left > 0 {
		time.AfterFunc(left, r.doze)
		return
	}
	r.watched, r.rests = false, true
	r.ticker.Stop()
}

// tickerOf returns the ticker of a program's renderer, which Bubble Tea does not give out; nil if it has not started, or
// if it has another form in this version: it ticks on, then.
func tickerOf(p *tea.Program) *time.Ticker {
	v := reflect.ValueOf(p).Elem().FieldByName("ticker")
	if !v.IsValid() || v.Type() != reflect.TypeFor[*time.Ticker]() {
		return nil
	}
	return (*time.Ticker)(v.UnsafePointer())
}
