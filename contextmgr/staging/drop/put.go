package drop

import (
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
)

// look is how often Put looks for an answer.
const look = 50 * time.Millisecond

// Put hands data to the server through the folder of a thread, and waits for its answer until the context ends. The
// error is fs.ErrNotExist if there is no such folder, and ErrClosed if it may not be written to; then nothing was read of
// the data.
func Put(ctx context.Context, home string, r thread.StageRequest, data io.Reader) (thread.Staged, error) {
	folder, err := private.Open(home, thread.DropFolder)
	if err != nil {
		return thread.Staged{}, err
	}
	defer folder.Close()
	name := newName()
	file, err := folder.File(name+partEnd, os.O_WRONLY|os.O_CREATE|os.O_EXCL)
	if err != nil {
		return thread.Staged{}, fmt.Errorf("%w: %w", ErrClosed, err)
	}
	// The server removes what it takes; this is for what it does not.
	defer func() {
		for _, end := range []string{requestEnd, dataEnd, partEnd} {
			_ = folder.Remove(name + end)
		}
	}()
	_, err = io.Copy(file, data)
	err = errors.Join(err, file.Close())
	if err == nil {
		err = folder.Rename(name+partEnd, name+dataEnd)
	}
	var request []byte
	if err == nil {
		request, err = json.Marshal(r)
	}
	if err == nil {
		err = folder.Write(name+requestEnd, request)
	}
	if err != nil {
		return thread.Staged{}, fmt.Errorf("hand the data to the server: %w", err)
	}
	return await(ctx, home, name)
}

// ErrClosed means that the folder may not be written to.
var ErrClosed = errors.New("the folder for what is handed to the server is read-only")

// await waits for an answer.
func await(ctx context.Context, home, name string) (thread.Staged, error) {
	pause := time.NewTicker(look)
	defer pause.Stop()
	for {
		a, err := read(home, name)
		switch {
		case err == nil && a.Error != "":
			return thread.Staged{}, errors.New(a.Error)
		case err == nil:
			return a.Staged, nil
		case !errors.Is(err, fs.ErrNotExist):
			return thread.Staged{}, fmt.Errorf("read the server's answer: %w", err)
		}
		select {
		case <-ctx.Done():
			return thread.Staged{}, fmt.Errorf("the server has not taken the data: %w", context.Cause(ctx))
		case <-pause.C:
		}
	}
}

// read reads an answer.
func read(home, name string) (answer, error) {
	var a answer
	folder, err := private.Open(home, answersFolder)
	if err != nil {
		return a, err
	}
	defer folder.Close()
	b, err := folder.Read(name+requestEnd, maxRequest)
	if err != nil {
		return a, err
	}
	return a, json.Unmarshal(b, &a)
}
