package rebuild

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"orchestrator/thread"
)

// find finds the turns that the transcript has and the store lacks, and where they belong. The writer is nil if there
// are none; why says why, if that is a loss.
func (j *job) find(ctx context.Context) (*writer, string, error) {
	stands, err := j.stands(ctx)
	if err != nil {
		return nil, "", err
	}
	list, err := j.config.lineage(ctx, stands)
	if err != nil {
		if errors.Is(err, thread.ErrDamaged) {
			return nil, "the stored part cannot be read: " + err.Error(), nil
		}
		return nil, "", err
	}
	session, of := sessionOf(list)
	if session == j.t.Session && of == j.t.ID {
		return j.goesOn(ctx, list)
	}
	return j.goesAnotherWay(ctx, list)
}

// stands returns the checkpoint whose conversation the agent's may have begun with, "" for none.
func (j *job) stands(ctx context.Context) (thread.CheckpointID, error) {
	if j.t.Head != "" {
		return j.t.Head, nil
	}
	if j.was == nil {
		return "", nil
	}
	if j.was.ForkPoint != "" {
		_, err := j.config.Store.Checkpoint(ctx, j.was.ForkPoint)
		switch {
		case errors.Is(err, thread.ErrDamaged):
			return "", nil
		case !errors.Is(err, thread.ErrNotFound):
			return j.was.ForkPoint, err
		}
	}
	if parent, ok := j.other(j.was.Parent); ok {
		now, err := j.config.Store.Thread(ctx, parent.ID) // its turns may just have been rebuilt
		return now.Head, err
	}
	return "", nil
}

// goesOn finds what was added to a session after its stored part.
func (j *job) goesOn(ctx context.Context, list []thread.Checkpoint) (*writer, string, error) {
	head := list[len(list)-1]
	marks, err := j.config.Store.Marks(ctx, head.ID)
	if err != nil && !errors.Is(err, thread.ErrDamaged) {
		return nil, "", err
	}
	main, side, err := j.read(ctx, marks)
	size := sizeOf(marks)
	switch {
	case err != nil:
		return nil, "its agent's transcript cannot be read: " + err.Error(), nil
	case len(main.Data) == 0:
		return nil, "", nil
	case main.Offset != size && int64(len(main.Data)) < size:
		return nil, fmt.Sprintf("its agent's transcript (%s %s) is shorter than the stored part", j.t.Agent, j.t.Session), nil
	case main.Offset != size:
		return nil, fmt.Sprintf("its agent's transcript (%s %s) differs from the stored part", j.t.Agent, j.t.Session), nil
	}
	told, err := Divide(j.agent, main.Data, main.Offset)
	if err != nil {
		return nil, err.Error(), nil
	}
	past, err := j.past(ctx, head)
	if err != nil {
		return nil, "", err
	}
	mine := slices.DeleteFunc(responses(list), func(c thread.Checkpoint) bool {
		return c.Thread != j.t.ID || c.Session != j.t.Session
	})
	count(told, late(mine, past))
	return j.writer(ctx, head, told, main, side)
}

// goesAnotherWay finds where a session diverges from what is stored: that of a fork continues from its parent's turns,
// one after a rewind from an earlier turn.
func (j *job) goesAnotherWay(ctx context.Context, list []thread.Checkpoint) (*writer, string, error) {
	main, side, err := j.read(ctx, nil)
	if err != nil {
		return nil, "its agent's transcript cannot be read: " + err.Error(), nil
	}
	if len(main.Data) == 0 {
		return nil, fmt.Sprintf("its agent's transcript (%s %s) is missing", j.t.Agent, j.t.Session), nil
	}
	told, err := Divide(j.agent, main.Data, 0)
	if err != nil {
		return nil, err.Error(), nil
	}
	if len(list) == 0 {
		return j.writer(ctx, thread.Checkpoint{}, told, main, side)
	}
	head := list[len(list)-1]
	past, err := j.past(ctx, head)
	if err != nil {
		return nil, "", err
	}
	switch n := common(past, told); {
	case n == 0 && j.t.Head == "" && j.was != nil && j.was.ForkPoint != head.ID:
		return j.writer(ctx, thread.Checkpoint{}, told, main, side) // it did not begin at the parent's newest turn
	case n == 0:
		return j.writer(ctx, head, told, main, side)
	case n == len(past):
		rest := told[n:]
		count(rest, late(responses(list), past))
		return j.writer(ctx, head, rest, main, side)
	default:
		for _, c := range slices.Backward(list) {
			if c.Kind == thread.KindResponse {
				continue
			}
			marks, err := j.config.Store.Marks(ctx, c.ID)
			if err != nil {
				return nil, "", err
			}
			if sizeOf(marks) == past[n-1].End {
				return j.writer(ctx, c, told[n:], main, side)
			}
		}
		return nil, fmt.Sprintf("its agent's transcript (%s %s) differs from the stored part after turn %d",
			j.t.Agent, j.t.Session, n), nil
	}
}

// past returns the stored transcript up to a checkpoint; nothing if another agent wrote it.
func (j *job) past(ctx context.Context, at thread.Checkpoint) ([]Turn, error) {
	if by, ok := j.other(at.Thread); ok && by.Agent != j.t.Agent {
		return nil, nil
	}
	files, err := j.config.Store.Transcript(ctx, at.ID)
	if errors.Is(err, thread.ErrDamaged) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		if f.File == mainFile {
			return Divide(j.agent, f.Data, 0)
		}
	}
	return nil, nil
}

// writer prepares to store turns on top of a checkpoint, the zero one for the beginning of a conversation.
func (j *job) writer(
	ctx context.Context, on thread.Checkpoint, told []Turn, main thread.Chunk, side []thread.Chunk,
) (*writer, string, error) {
	told = before(told, j.spooled())
	if len(told) == 0 {
		return nil, "", nil
	}
	w := &writer{job: j, on: on, told: told, main: main, at: main.Offset, side: side}
	if j.config.Snapshots != nil {
		var err error
		if w.kept, err = j.config.Snapshots(ctx, j.t.ID); err != nil && ctx.Err() != nil {
			return nil, "", err
		}
	}
	return w, "", nil
}
