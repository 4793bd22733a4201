// Package rebuild brings turns back that the store lost, from what the agents wrote down themselves.
//
// Guarantees:
//   - An agent's files are read, and nothing else is done to them.
//   - Nothing is invented. A turn comes back with the prompt, the answers, the usage and the piece of the transcript that
//     the agent's file has of it, with the snapshot that was kept when it ended where there is one, and says that it was
//     rebuilt. What cannot be brought back is named.
//   - What is stored stays. A transcript that does not go on from what is stored of it adds nothing; one of another
//     session adds what follows the turns that both have.
//   - No turn is stored twice: not by a second run, not by one after a crash, not where the spool keeps its answers.
//   - Which threads are to be looked at is written down as intents before anything else forgets it.
package rebuild

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"
	"time"

	"orchestrator/thread"
)

// Kind is the kind of the intents that say which threads lost turns.
const Kind = "rebuild"

// Agent is what an agent must be able to do for turns to come back from its files.
type Agent interface {
	thread.Transcriber
	thread.UsageReader
	// BeginsTurn reports whether a line of a session's main file is the first of a turn.
	BeginsTurn(line []byte) bool
}

// Store is what is needed of a store.
type Store interface {
	thread.Threads
	thread.Checkpoints
	thread.Intents
}

// Spool is what is needed of the spool.
type Spool interface {
	Kept() (map[thread.ID]thread.Spooled, error)
	Read(id thread.ID, at int64) (thread.Checkpoint, thread.Delta, error)
}

// Snapshot is one that was kept of a thread's files.
type Snapshot struct {
	thread.Snapshot
	// It was taken at From or later, and before Until.
	From, Until time.Time
}

// Config is what Run works with. Spool, Snapshots and Models may be nil.
type Config struct {
	Store  Store
	Agents thread.Agents
	Env    []string // of the server
	Spool  Spool
	// Snapshots lists those that were taken for a thread, oldest first.
	Snapshots func(context.Context, thread.ID) ([]Snapshot, error)
	Models    thread.Models
}

// Outcome is what became of one thread.
type Outcome struct {
	Thread thread.Thread // as it is now
	// From and To are the turns that came back; both are 0 where none did.
	From, To int
	// Again is the turn of its parent at which a fork begins again that had said nothing of its own.
	Again int
	// Was is the turn that the thread had reached as far as it is known.
	Was int
	// Why says why there are not more; "" where nothing is known to be missing.
	Why string
}

// Rebuilt counts the turns that came back.
func (o Outcome) Rebuilt() int {
	if o.To == 0 {
		return 0
	}
	return o.To - o.From + 1
}

// String says it to people.
func (o Outcome) String() string {
	text := fmt.Sprintf("thread %q: ", o.Thread.Name)
	switch {
	case o.Again > 0:
		text += fmt.Sprintf("it begins again at turn %d of its parent", o.Again)
	case o.To == 0:
		text += "no turn was rebuilt"
	case o.From == o.To:
		text += fmt.Sprintf("turn %d was rebuilt from the agent's transcript (%s %s)", o.To, o.Thread.Agent, o.Thread.Session)
	default:
		text += fmt.Sprintf("turns %d to %d were rebuilt from the agent's transcript (%s %s)", o.From, o.To, o.Thread.Agent, o.Thread.Session)
	}
	if o.Why != "" {
		text += "; " + o.Why
	}
	return text
}

// lost is what an intent says: the thread as it was known before the loss, where that is known.
type lost struct {
	Was *thread.Thread `json:"was,omitempty"`
}

// Mark writes down that a thread may have lost turns. was is the thread as it was known before, nil where it is not.
func Mark(ctx context.Context, store thread.Intents, id thread.ID, was *thread.Thread, now time.Time) error {
	raw, err := json.Marshal(lost{Was: was})
	if err == nil {
		err = store.PutIntent(ctx, thread.Intent{ID: thread.NewID[string](), Kind: Kind, Thread: id, Data: raw, Created: now})
	}
	if err != nil {
		return fmt.Errorf("write down that turns are lost: %w", err)
	}
	return nil
}

// Run brings back what can be of the threads that were marked, parents first. What fails stays marked for the next
// run, and is in the error.
func Run(ctx context.Context, cfg Config) ([]Outcome, error) {
	marked, intents, err := cfg.marked(ctx)
	if err != nil || len(intents) == 0 {
		return nil, err
	}
	all, err := cfg.Store.Threads(ctx)
	if err != nil {
		return nil, fmt.Errorf("rebuild turns: %w", err)
	}
	slices.SortStableFunc(all, func(a, b thread.Thread) int { return a.Created.Compare(b.Created) })
	results := make([]result, len(all))
	for wave := range waves(all, marked) {
		each(wave, func(i int) {
			j := job{Config: cfg, t: all[i], was: marked[all[i].ID], others: all}
			results[i].outcome, results[i].err = j.run(ctx)
		})
	}
	var outcomes []Outcome
	var errs []error
	done := map[thread.ID]bool{}
	for i, t := range all {
		if _, ok := marked[t.ID]; !ok {
			continue
		}
		done[t.ID] = results[i].err == nil
		if err := results[i].err; err != nil {
			errs = append(errs, fmt.Errorf("rebuild the turns of %s: %w; it is tried again at the next start", t.Name, err))
			continue
		}
		outcomes = append(outcomes, results[i].outcome)
	}
	for _, i := range intents {
		if ok, there := done[i.Thread]; there && !ok {
			continue
		}
		if err := cfg.Store.DropIntent(ctx, i.ID); err != nil {
			errs = append(errs, fmt.Errorf("rebuild turns: %w", err))
		}
	}
	return outcomes, errors.Join(errs...)
}

// result is what came of one thread.
type result struct {
	outcome Outcome
	err     error
}

// atOnce is how many threads are worked at: a store writes what comes together in one go.
const atOnce = 8

// each calls f for some threads, several at once.
func each(wave []int, f func(i int)) {
	var work sync.WaitGroup
	free := make(chan struct{}, atOnce)
	for _, i := range wave {
		free <- struct{}{}
		work.Go(func() {
			defer func() { <-free }()
			f(i)
		})
	}
	work.Wait()
}

// waves are the marked threads, by their places: first those without a marked parent, then those that were forked from
// them, and so on.
func waves(all []thread.Thread, marked map[thread.ID]*thread.Thread) iter.Seq[[]int] {
	return func(yield func([]int) bool) {
		left := map[thread.ID]bool{}
		for id := range marked {
			left[id] = true
		}
		for len(left) > 0 {
			var wave []int
			for i, t := range all {
				if left[t.ID] && !left[t.Parent] {
					wave = append(wave, i)
				}
			}
			if len(wave) == 0 { // what is left is each other's parent, or of no thread
				for i, t := range all {
					if left[t.ID] {
						wave = append(wave, i)
					}
				}
				yield(wave)
				return
			}
			if !yield(wave) {
				return
			}
			for _, i := range wave {
				delete(left, all[i].ID)
			}
		}
	}
}

// marked returns the threads that were marked, with what was known of each.
func (c Config) marked(ctx context.Context) (map[thread.ID]*thread.Thread, []thread.Intent, error) {
	all, err := c.Store.Intents(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("read which threads lost turns: %w", err)
	}
	all = slices.DeleteFunc(all, func(i thread.Intent) bool { return i.Kind != Kind })
	marked := map[thread.ID]*thread.Thread{}
	for _, i := range all {
		var l lost
		if err := json.Unmarshal(i.Data, &l); err != nil || l.Was != nil && l.Was.ID != i.Thread {
			l.Was = nil // the thread is looked at all the same
		}
		if was := marked[i.Thread]; was == nil || l.Was != nil && l.Was.Turn > was.Turn {
			marked[i.Thread] = l.Was
		}
	}
	return marked, all, nil
}

// job is the work for one thread.
type job struct {
	Config
	t      thread.Thread
	was    *thread.Thread // before the loss, nil where that is not known
	others []thread.Thread
	agent  Agent
}

func (j *job) run(ctx context.Context) (Outcome, error) {
	o := Outcome{Thread: j.t, Was: j.t.Turn}
	if j.was != nil {
		o.Was = max(o.Was, j.was.Turn)
	}
	if again, err := j.begins(ctx); err != nil || again > 0 {
		o.Again = again
		if err == nil {
			o.Thread, err = j.reread(ctx, false)
		}
		return o, err
	}
	why, err := j.ready()
	if err != nil {
		return o, err
	}
	var w *writer
	if why == "" {
		w, why, err = j.find(ctx)
	}
	if err == nil && w != nil {
		err = w.all(ctx)
		o.From, o.To = w.from, w.to
	}
	if err == nil {
		o.Thread, err = j.reread(ctx, o.To > 0)
	}
	if err != nil {
		return o, err
	}
	if reached := o.Thread.Turn; o.Thread.Head == "" || reached < o.Was {
		if o.Thread.Head == "" {
			reached = 0
		}
		o.Why = why
		if why == "" && reached < o.Was {
			o.Why = fmt.Sprintf("of turns %d to %d the transcript has nothing", reached+1, o.Was)
		}
	} else if o.To == 0 {
		o.Why = ""
	}
	return o, nil
}

// begins sets a fork that had said nothing yet to the turn of its parent that it began at; 0 where it is none.
func (j *job) begins(ctx context.Context) (at int, err error) {
	if j.t.Head != "" || j.t.Session != "" || j.was == nil || j.was.Turn == 0 || j.was.Session != "" {
		return 0, nil
	}
	parent, ok := j.other(j.was.Parent)
	if !ok {
		return 0, nil
	}
	if parent, err = j.Store.Thread(ctx, parent.ID); err != nil || parent.Head == "" {
		return 0, err
	}
	list, err := j.Store.Lineage(ctx, parent.Head, thread.Page{Turns: true, Before: int64(j.was.Turn) + 1, Limit: 1})
	if err != nil || len(list) == 0 || list[0].Turn != j.was.Turn {
		return 0, err
	}
	_, err = j.Store.UpdateThread(ctx, j.t.ID, func(t *thread.Thread) error {
		t.Head, t.ForkPoint, t.Turn, t.Interrupted = list[0].ID, list[0].ID, list[0].Turn, false
		return nil
	})
	return j.was.Turn, err
}

// reread returns the thread as it is now. One that got turns back is interrupted: its agent ended before they were
// known, and what can be resumed of it is shown.
func (j *job) reread(ctx context.Context, rebuilt bool) (thread.Thread, error) {
	t, err := j.Store.Thread(ctx, j.t.ID)
	if err != nil || !rebuilt || t.Interrupted || !t.Archived.IsZero() || !t.Deleted.IsZero() || t.Outcome.Kind != thread.OutcomeNone {
		return t, err
	}
	return j.Store.UpdateThread(ctx, j.t.ID, func(t *thread.Thread) error { t.Interrupted = true; return nil })
}

// ready finds the agent; why says why nothing can be read.
func (j *job) ready() (why string, err error) {
	if j.t.Agent == "" {
		return "which agent it had is not known", nil
	}
	a, err := j.Agents.Agent(j.t.Agent)
	if errors.Is(err, thread.ErrNotFound) {
		return err.Error(), nil
	}
	if err != nil {
		return "", err
	}
	var ok bool
	if j.agent, ok = a.(Agent); !ok {
		return fmt.Sprintf("agent %s keeps no transcript that can be read", j.t.Agent), nil
	}
	if j.t.Session == "" {
		return "the session of its agent is not known", nil
	}
	for _, other := range j.others {
		if other.ID != j.t.ID && other.Session == j.t.Session && other.Created.Compare(j.t.Created) <= 0 {
			return fmt.Sprintf("its agent's session %s is that of %s", j.t.Session, other.Name), nil
		}
	}
	return "", nil
}

// environ is what the agent is started from.
func (j *job) environ() []string { return slices.Concat(j.Env, j.t.Launch.Env) }

// read reads the session's files beyond what is marked; main is what the main file gained, from an offset on.
func (j *job) read(ctx context.Context, marks []thread.Mark) (main thread.Chunk, side []thread.Chunk, err error) {
	chunks, err := j.agent.ReadTranscript(ctx, thread.TranscriptSpec{
		Session: j.t.Session, Dir: j.t.Dir, Env: j.environ(), Marks: marks,
	})
	for _, c := range chunks {
		if c.File == mainFile {
			main = c
		} else {
			side = append(side, c)
		}
	}
	return main, side, err
}

// spooled are the responses that the spool keeps of the thread.
func (j *job) spooled() []thread.Checkpoint {
	if j.Spool == nil {
		return nil
	}
	kept, _ := j.Spool.Kept() // what cannot be listed is named by who stores it
	var list []thread.Checkpoint
	for _, at := range kept[j.t.ID].Places {
		c, _, err := j.Spool.Read(j.t.ID, at)
		if err != nil {
			break
		}
		list = append(list, c)
	}
	return list
}

// sizeOf is how much of the main file is marked.
func sizeOf(marks []thread.Mark) int64 {
	for _, m := range marks {
		if m.File == mainFile {
			return m.Size
		}
	}
	return 0
}

// lineage returns the checkpoints up to one, oldest first.
func (c Config) lineage(ctx context.Context, at thread.CheckpointID) ([]thread.Checkpoint, error) {
	if at == "" {
		return nil, nil
	}
	list, err := c.Store.Lineage(ctx, at, thread.Page{Limit: 1 << 20})
	slices.Reverse(list)
	return list, err
}

// responses are the checkpoints that are responses.
func responses(list []thread.Checkpoint) []thread.Checkpoint {
	return slices.DeleteFunc(slices.Clone(list), func(c thread.Checkpoint) bool { return c.Kind != thread.KindResponse })
}

// sessionOf is the session that a line of checkpoints ends in, and whose it is.
func sessionOf(list []thread.Checkpoint) (session string, of thread.ID) {
	for _, c := range slices.Backward(list) {
		if c.Session != "" {
			return c.Session, c.Thread
		}
	}
	return "", ""
}

// other is a thread by its id.
func (j *job) other(id thread.ID) (thread.Thread, bool) {
	i := slices.IndexFunc(j.others, func(t thread.Thread) bool { return t.ID == id })
	if i < 0 {
		return thread.Thread{}, false
	}
	return j.others[i], true
}
