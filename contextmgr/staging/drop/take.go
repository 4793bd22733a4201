package drop

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/private"
	"orchestrator/thread/secret"
)

const (
	// atOnce is how many requests of a thread are taken before others have their turn.
	atOnce = 20
	// mostFiles is how many files of a folder are looked at.
	mostFiles = 20_000
	// leftAfter is how old a file is that nobody waits for any more.
	leftAfter = time.Hour
)

// Taker takes what sandboxed agents hand over.
type Taker struct {
	// Stage stages data.
	Stage func(context.Context, thread.StageRequest, io.Reader) (thread.Staged, error)
	// Failed is told by Serve what is in the way in a thread's folder.
	Failed func(thread.ID, error)
}

// Take takes what a thread's agent has put into its folder, and answers. It returns how many requests it answered. A
// thread without such a folder has none.
func (k Taker) Take(ctx context.Context, home string, id thread.ID) (taken int, err error) {
	folder, err := private.Open(home, thread.DropFolder)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	defer folder.Close()
	list, err := folder.ListSome(mostFiles)
	errs := []error{err} // what can be seen is taken all the same
	defer func() {
		if taken > 0 {
			err = errors.Join(err, forget(home))
		}
	}()
	for _, e := range list {
		if !e.Type().IsRegular() {
			continue // the agent's own
		}
		name := nameOf(e.Name(), requestEnd)
		if name == "" {
			errs = append(errs, sweep(folder, e, partEnd, dataEnd))
			continue
		}
		if taken == atOnce || ctx.Err() != nil {
			break
		}
		taken++
		a := k.answer(ctx, folder, name, id)
		if a.Error != "" && ctx.Err() != nil {
			taken--
			break // it is taken another time
		}
		errs = append(errs, write(home, name, a), drop(folder, name+requestEnd), drop(folder, name+dataEnd))
	}
	return taken, errors.Join(errs...)
}

// answer stages the data of a request.
func (k Taker) answer(ctx context.Context, folder *private.Folder, name string, id thread.ID) answer {
	staged, err := k.stage(ctx, folder, name, id)
	if err != nil {
		return answer{Error: secret.Redact(err.Error())}
	}
	return answer{Staged: staged}
}

func (k Taker) stage(ctx context.Context, folder *private.Folder, name string, id thread.ID) (thread.Staged, error) {
	b, err := folder.ReadSole(name+requestEnd, maxRequest)
	if err != nil {
		return thread.Staged{}, err
	}
	var r thread.StageRequest
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(&r); err != nil {
		return thread.Staged{}, fmt.Errorf("%w request: %w", thread.ErrInvalid, err)
	}
	r.Thread = id
	data, err := folder.Sole(name+dataEnd, os.O_RDONLY)
	if err != nil {
		return thread.Staged{}, err
	}
	defer data.Close()
	info, err := data.Stat()
	if err != nil {
		return thread.Staged{}, err
	}
	r.Size = info.Size() // what is written to it from now on does not count
	return k.Stage(ctx, r, io.LimitReader(data, r.Size))
}

// write writes an answer.
func write(home, name string, a answer) error {
	folder, err := private.Make(home, answersFolder)
	if err != nil {
		return err
	}
	defer folder.Close()
	b, err := json.Marshal(a)
	if err == nil {
		err = folder.Write(name+requestEnd, b)
	}
	return err
}

// forget removes answers that nobody waits for any more.
func forget(home string) error {
	folder, err := private.Open(home, answersFolder)
	if err != nil {
		return err
	}
	defer folder.Close()
	list, err := folder.List()
	errs := []error{err}
	for _, e := range list {
		errs = append(errs, sweep(folder, e, requestEnd))
	}
	return errors.Join(errs...)
}

// sweep removes a file with one of these ends that nobody waits for any more.
func sweep(folder *private.Folder, e fs.DirEntry, ends ...string) error {
	for _, end := range ends {
		if nameOf(e.Name(), end) == "" {
			continue
		}
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) || err == nil && time.Since(info.ModTime()) < leftAfter {
			return nil
		}
		if err != nil {
			return err
		}
		return drop(folder, e.Name())
	}
	return nil
}

// drop removes a file or a link itself. An agent may have put a folder in its place, which stays.
func drop(folder *private.Folder, name string) error {
	if err := folder.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
