package rebuild

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"orchestrator/thread"
)

// job is the work for one thread.
type job struct {
	config Config
	t      thread.Thread
	was    *thread.Thread // before the loss, nil if unknown
	others []thread.Thread
	agent  Agent
}

// back sets a thread whose newest checkpoints cannot be read back to the newest one that can: what followed is rebuilt
// from there. What it leaves behind stays stored.
func (j *job) back(ctx context.Context) error {
	if j.t.Head == "" {
		return nil
	}
	list, err := j.config.Store.Lineage(ctx, j.t.Head, thread.Page{Limit: 1 << 20})
	if err != nil || len(list) == 0 || !list[0].Damaged {
		return err
	}
	var on thread.Checkpoint
	for _, c := range list {
		if c.Damaged {
			continue
		}
		if _, err := j.config.Store.Marks(ctx, c.ID); errors.Is(err, thread.ErrDamaged) {
			continue
		} else if err != nil {
			return err
		}
		on = c
		break
	}
	usage, err := j.used(ctx)
	if err != nil {
		return err
	}
	if j.was == nil {
		was := j.t
		j.was = &was
	}
	j.t, err = j.config.Store.UpdateThread(ctx, j.t.ID, func(t *thread.Thread) error {
		t.Head, t.Turn, t.Usage = on.ID, on.Turn, usage
		if on.Kind == thread.KindResponse && t.Turn > 0 {
			t.Turn-- // it is not complete
		}
		return nil
	})
	return err
}

// used returns the usage of the thread's checkpoints that can be read: what is rebuilt is counted again.
func (j *job) used(ctx context.Context) (sum thread.Usage, err error) {
	for before := int64(0); ; {
		list, err := j.config.Store.Checkpoints(ctx, j.t.ID, thread.Page{Limit: 500, Before: before})
		if err != nil || len(list) == 0 {
			return sum, err
		}
		for _, c := range list {
			sum = sum.Add(c.Usage)
			before = c.Seq
		}
	}
}

// begins resets a fork without turns of its own to the turn of its parent where it began; 0 if it is not one.
func (j *job) begins(ctx context.Context) (at int, err error) {
	if j.t.Head != "" || j.t.Session != "" || j.was == nil || j.was.Turn == 0 || j.was.Session != "" {
		return 0, nil
	}
	parent, ok := j.other(j.was.Parent)
	if !ok {
		return 0, nil
	}
	if parent, err = j.config.Store.Thread(ctx, parent.ID); err != nil || parent.Head == "" {
		return 0, err
	}
	list, err := j.config.Store.Lineage(ctx, parent.Head, thread.Page{Turns: true, Before: int64(j.was.Turn) + 1, Limit: 1})
	if err != nil || len(list) == 0 || list[0].Turn != j.was.Turn {
		return 0, err
	}
	_, err = j.config.Store.UpdateThread(ctx, j.t.ID, func(t *thread.Thread) error {
		t.Head, t.ForkPoint, t.Turn, t.Interrupted = list[0].ID, list[0].ID, list[0].Turn, false
		return nil
	})
	return j.was.Turn, err
}

// reread returns the thread as it is now. One that got turns back is interrupted: its agent ended before they were
// known, and what can be resumed of it is shown.
func (j *job) reread(ctx context.Context, rebuilt bool) (thread.Thread, error) {
	t, err := j.config.Store.Thread(ctx, j.t.ID)
	if err != nil || !rebuilt || t.Interrupted ||
		!t.Archived.IsZero() || !t.Deleted.IsZero() || t.Outcome.Kind != thread.OutcomeNone {
		return t, err
	}
	return j.config.Store.UpdateThread(ctx, j.t.ID, func(t *thread.Thread) error { t.Interrupted = true; return nil })
}

// ready finds the agent; why says why nothing can be read.
func (j *job) ready() (why string, err error) {
	if j.t.Agent == "" {
		return "its agent is unknown", nil
	}
	a, err := j.config.Agents.Agent(j.t.Agent)
	if errors.Is(err, thread.ErrNotFound) {
		return err.Error(), nil
	}
	if err != nil {
		return "", err
	}
	var ok bool
	if j.agent, ok = a.(Agent); !ok {
		return fmt.Sprintf("agent %s keeps no readable transcript", j.t.Agent), nil
	}
	if j.t.Session == "" {
		return "its agent's session is unknown", nil
	}
	for _, other := range j.others {
		if other.ID != j.t.ID && other.Session == j.t.Session && other.Created.Compare(j.t.Created) <= 0 {
			return fmt.Sprintf("its agent's session %s belongs to %s", j.t.Session, other.Name), nil
		}
	}
	return "", nil
}

// environ is the environment that the agent is started from.
func (j *job) environ() []string { return slices.Concat(j.config.Env, j.t.Launch.Env) }

// read reads the session's files beyond the marks; main is what was added to the main file, from an offset on.
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

// spooled returns the responses of the thread that are in the spool.
func (j *job) spooled() []thread.Checkpoint {
	if j.config.Spool == nil {
		return nil
	}
	kept, _ := j.config.Spool.Kept() // whoever stores them reports what cannot be listed
	var list []thread.Checkpoint
	for _, at := range kept[j.t.ID].Places {
		c, _, err := j.config.Spool.Read(j.t.ID, at)
		if err != nil {
			break
		}
		list = append(list, c)
	}
	return list
}

// sizeOf returns the marked size of the main file.
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

// responses returns the checkpoints that are responses.
func responses(list []thread.Checkpoint) []thread.Checkpoint {
	return slices.DeleteFunc(slices.Clone(list), func(c thread.Checkpoint) bool { return c.Kind != thread.KindResponse })
}

// sessionOf returns the session that a line of checkpoints ends in, and the thread it belongs to.
func sessionOf(list []thread.Checkpoint) (session string, of thread.ID) {
	for _, c := range slices.Backward(list) {
		if c.Session != "" {
			return c.Session, c.Thread
		}
	}
	return "", ""
}

// other returns a thread by its id.
func (j *job) other(id thread.ID) (thread.Thread, bool) {
	i := slices.IndexFunc(j.others, func(t thread.Thread) bool { return t.ID == id })
	if i < 0 {
		return thread.Thread{}, false
	}
	return j.others[i], true
}
