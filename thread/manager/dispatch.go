package manager

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/manager/runs"
	exec "orchestrator/thread/work"
)

// dispatcher starts queued executions by the queue's rules. It looks whenever one was added, has ended, or the rules have
// changed.
type dispatcher struct {
	cfg      *Config
	work     *work
	registry *registry
	open     *openRuns
	budgets  *Budgets
	proposer *proposer
	// instead begins the fallback of an execution that waits for that.
	instead func(exec.Execution)

	mu       sync.Mutex // guards switches
	switches runs.Switches
}

// lookAgain is how often it looks while something is queued.
const lookAgain = 5 * time.Second

// queueSetting is where the person's decisions on the queue are stored.
const queueSetting = "runs queue"

// load reads what the person has decided.
func (d *dispatcher) load(ctx context.Context) error {
	text, err := d.cfg.Store.Setting(ctx, queueSetting)
	if err != nil || text == "" {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := json.Unmarshal([]byte(text), &d.switches); err != nil {
		d.cfg.Log.Warn("read what was decided about the queue", "err", err) // only we write it
	}
	return nil
}

// change stores what the person decides.
func (d *dispatcher) change(ctx context.Context, c exec.QueueChange) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	next, err := d.switches.Change(c)
	if err != nil {
		return err
	}
	text, err := json.Marshal(next)
	if err == nil {
		err = d.cfg.Store.SetSetting(ctx, queueSetting, string(text))
	}
	if err != nil {
		return fmt.Errorf("change the queue: %w", err)
	}
	d.switches = next
	d.open.look()
	return nil
}

// run starts executions until the server stops.
func (d *dispatcher) run() {
	if !d.work.begin() {
		return
	}
	go func() {
		defer d.work.done()
		for {
			var again <-chan time.Time // something else than an execution may have been in the way
			if d.open.queued() {
				again = time.After(d.next())
			}
			select {
			case <-again:
				d.look()
			case <-d.open.changed:
				d.look()
			case <-d.work.closing.Done():
				return
			}
		}
	}()
}

// next is how long it waits before it looks again: until the next attempt of an execution that waits for one, or the pause of a
// way, is due.
func (d *dispatcher) next() time.Duration {
	wait, now := lookAgain, d.cfg.now()
	for _, x := range d.open.list() {
		if left := d.open.ways.left(x, now); x.State == exec.Queued && left > 0 {
			wait = min(wait, left)
		}
	}
	for _, b := range d.open.ways.open() {
		if b.Left > 0 {
			wait = min(wait, b.Left)
		}
	}
	return max(wait, time.Millisecond)
}

// queue returns the rules as they are now.
func (d *dispatcher) queue(open []exec.Execution) exec.Queue {
	held, now := map[thread.ID]string{}, d.cfg.now()
	asks, later := d.proposer.ask(open)
	d.open.propose(asks)
	for _, x := range open {
		if stored, known := d.open.of(x.ID); known && x.State == exec.Queued {
			if why := stored.Waits(d.open.ways.left(stored, now), now); why != "" {
				later[x.ID] = why
			}
		}
		l, err := d.registry.certain(d.work.ctx, x.Thread)
		if err != nil {
			held[x.Thread] = reason(err)
		} else if l == nil {
			held[x.Thread] = "its thread is gone"
		} else if x.State != exec.Queued {
			continue
		} else if why := cmp.Or(holds(l), d.budgets.waits(x)); why != "" {
			held[x.Thread] = why
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	q := d.switches.Queue(d.cfg.Runs.Limits, held)
	q.Later, q.Breaks, q.Now = later, d.open.ways.open(), now
	return q
}

// look starts what may start, and notes why the others wait.
func (d *dispatcher) look() {
	open := d.open.list()
	q := d.queue(open)
	open, waits := d.fallBack(open, q)
	decision := q.Decide(open)
	d.open.waits(append(decision.Waits, waits...))
	for _, x := range decision.Start {
		l := d.registry.run(x.Thread)
		if l == nil || !d.open.place(x.ID) {
			continue
		}
		id := x.ID
		deploy := func() {
			defer d.open.release(id)
			if x, known := d.open.of(id); known {
				deploy(d.work.ctx, l, x, d.budgets.waits)
			}
		}
		if !l.live.enqueue(deploy) {
			d.open.release(id)
		}
	}
}

// fallBack has the fallbacks of executions that wait for those begin, where nothing of the queue or of their threads is in the
// way, and returns the others, and what waits.
func (d *dispatcher) fallBack(open []exec.Execution, q exec.Queue) (others []exec.Execution, waits []exec.Waiting) {
	others = slices.DeleteFunc(open, func(x exec.Execution) bool {
		if x.Instead == "" || x.State != exec.Queued && x.State != exec.Deployed {
			return false
		}
		if why := q.Closed(x); why != "" {
			waits = append(waits, exec.Waiting{ID: x.ID, Reason: why})
			return true
		}
		if x, known := d.open.of(x.ID); known && d.open.place(x.ID) && d.work.begin() {
			go func() {
				defer d.work.done()
				defer d.open.release(x.ID)
				d.instead(x)
			}()
		}
		return true
	})
	return others, waits
}

// report says what waits, what runs, and what bounds it.
func (d *dispatcher) report() exec.QueueReport {
	open := d.open.list()
	why := d.cfg.Runs.Why
	d.mu.Lock()
	if d.switches.All > 0 {
		why = "set by hand"
	}
	d.mu.Unlock()
	return d.queue(open).Report(open, why)
}
