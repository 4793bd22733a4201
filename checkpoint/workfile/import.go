package workfile

import (
	"context"
	"fmt"
	"io"

	"orchestrator/thread/failpoint"
)

// Read stores what is in a file.
func (i Import) Read(ctx context.Context, f io.ReaderAt, size int64) (Read, error) {
	found, err := scan(io.NewSectionReader(f, 0, size))
	if err != nil {
		return Read{}, fmt.Errorf("record of work: %w", err)
	}
	r := &reader{Import: i, file: f, sessions: map[string]string{}, bundles: map[string]string{},
		tasks: map[string]string{}, lost: found.lost}
	for _, kind := range []byte{lineSession, lineBundle, lineTask, lineHanded, lineArmed, lineExecution} {
		if more := len(found.of[kind]) - mostOfThread; more > 0 && i.As.Thread != "" {
			found.of[kind], r.lost = found.of[kind][:mostOfThread], r.lost+more
		}
		read := r.lines
		if kind == lineTask || kind == lineHanded || kind == lineArmed {
			read = r.plans
		}
		if err := read(ctx, found.of[kind]); err != nil {
			return r.done, fmt.Errorf("record of work: %w", err)
		}
		failpoint.Hit("workfile.read." + string(kind))
	}
	r.note()
	return r.done, nil
}
