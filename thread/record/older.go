package record

import (
	"context"
	"crypto/sha1" //nolint:gosec // git's hash of a file's content
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/work"
)

// mostCompared is how many pieces of an execution are compared with the versions of their files.
const mostCompared = 40

// older finds the files of which an execution was given an older version than its work session had when it began, as
// far as the author sees them.
func (a *Answers) older(ctx context.Context, by Author, x work.Execution, b *work.KeptBundle, pieces []GivenPiece) ([]old, error) {
	if x.Session == "" {
		return nil, nil
	}
	began := x.Created
	if !x.Started.IsZero() {
		began = x.Started
	}
	var out []old
	for _, p := range pieces[:min(len(pieces), mostCompared)] {
		if !p.Piece.Included || p.Piece.Type == work.ItemBriefing {
			continue
		}
		list, err := a.c.Store.Outputs(ctx, work.OutputQuery{
			Session: x.Session, Path: slashed(p.Piece.Source), Types: []work.OutputType{work.OutputDeliverable}, By: by.seen(), Limit: most,
		})
		if err != nil {
			return nil, err
		}
		there, versions := newestAt(list, began)
		if there == nil {
			continue
		}
		given, known, err := a.version(ctx, b, p, versions)
		if err != nil {
			return nil, err
		}
		if known && given < there.Version {
			maker, err := a.c.Store.Execution(ctx, there.Execution)
			if err != nil && !errors.Is(err, thread.ErrNotFound) {
				return nil, err
			}
			out = append(out, old{path: slashed(p.Piece.Source), given: given, there: there.Version, by: maker.Name})
		}
	}
	return out, nil
}

// newestAt returns the newest version of a file at a time, nil if there was none, and all until then, newest first. What
// is claimed of a file is no version of it.
func newestAt(list []work.Output, at time.Time) (*work.Output, []work.Output) {
	list = slices.DeleteFunc(slices.Clone(list), func(o work.Output) bool { return o.Metadata.Claimed })
	for i := range list {
		if list[i].Created.Before(at) {
			return &list[i], list[i:]
		}
	}
	return nil, nil
}

// version returns which version of a file a piece is, 0 for one before all that are recorded: by its content, where all of
// the file was given; else by when its bundle was made.
func (a *Answers) version(ctx context.Context, b *work.KeptBundle, p GivenPiece, versions []work.Output) (v int, known bool, err error) {
	if p.Piece.Hash != "" && len(p.Piece.Sections) == 0 {
		content, err := a.c.Store.Piece(ctx, p.Piece.Hash)
		if err == nil {
			blob := blobOf(content)
			for _, o := range versions {
				if m := madeOf(o, ""); m.Blob == blob {
					return o.Version, true, nil
				}
			}
		} else if !errors.Is(err, thread.ErrNotFound) && !errors.Is(err, thread.ErrDamaged) {
			return 0, false, err
		}
	}
	if b == nil {
		return 0, false, nil
	}
	for _, o := range versions {
		if !o.Created.After(b.Bundle.Created) {
			return o.Version, true, nil
		}
	}
	return 0, true, nil
}

// blobOf returns git's hash of a file's content.
func blobOf(content []byte) string {
	h := sha1.New() //nolint:gosec // as above
	fmt.Fprintf(h, "blob %d\x00", len(content))
	h.Write(content)
	return hex.EncodeToString(h.Sum(nil))
}
