package repository

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"orchestrator/checkpoint/git"
)

// Blobs reads blobs in order, with additional environment for git: each call of next returns the next one's content,
// which is valid until the following call and need not be read.
func (repo *Repository) Blobs(
	ctx context.Context, env, oids []string, use func(next func() (io.Reader, error)) error,
) error {
	if len(oids) == 0 {
		return use(func() (io.Reader, error) { return nil, io.EOF })
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	out, in := io.Pipe()
	done := make(chan error, 1)
	go func() { // ends with git: when use returns the pipe is closed and the context cancelled
		_, err := repo.Ours(ctx, git.Call{
			Args: []string{"cat-file", "--batch"}, Stdin: strings.NewReader(strings.Join(oids, "\n") + "\n"), Stdout: in,
			Env: env,
		})
		in.CloseWithError(err)
		done <- err
	}()
	r := &batch{r: bufio.NewReaderSize(out, 64<<10)}
	err := use(r.next)
	if err == nil {
		_, err = io.Copy(io.Discard, r.r) // let git finish
	}
	_ = out.Close()
	cancel()
	if ended := <-done; err == nil && ended != nil && !errors.Is(ended, context.Canceled) {
		err = ended
	}
	return err
}

// batch reads the output of `cat-file --batch`: "<oid> blob <size>\n<content>\n".
type batch struct {
	r    *bufio.Reader
	body *io.LimitedReader
}

func (b *batch) next() (io.Reader, error) {
	if b.body != nil {
		if _, err := io.Copy(io.Discard, b.body); err != nil {
			return nil, err
		}
		if _, err := b.r.Discard(1); err != nil {
			return nil, err
		}
	}
	line, err := b.r.ReadString('\n')
	if err != nil {
		return nil, fmt.Errorf("read blob: %w", err)
	}
	f := strings.Fields(line)
	if len(f) != 3 || f[1] != "blob" {
		return nil, fmt.Errorf("read blob: git cat-file wrote %q", git.Printable(strings.TrimSpace(line)))
	}
	n, err := strconv.ParseInt(f[2], 10, 64)
	if err != nil {
		return nil, fmt.Errorf("read blob: %w", err)
	}
	b.body = &io.LimitedReader{R: b.r, N: n}
	return &whole{b.body}, nil
}

// whole turns an early end into an error: a file is never written in part.
type whole struct{ r *io.LimitedReader }

func (w *whole) Read(p []byte) (int, error) {
	n, err := w.r.Read(p)
	if errors.Is(err, io.EOF) && w.r.N > 0 {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// BlobSizes returns the sizes of all blobs; blobs that are missing from the repository are missing from the map.
func (repo *Repository) BlobSizes(ctx context.Context, entries []Entry) (map[string]int64, error) {
	var in bytes.Buffer
	for _, e := range entries {
		if e.Mode != ModeRepo {
			in.WriteString(e.OID + "\n")
		}
	}
	sizes := make(map[string]int64, len(entries))
	if in.Len() == 0 {
		return sizes, nil
	}
	out, err := repo.Ours(ctx, git.Call{
		Args:  []string{"cat-file", "--batch-check=%(objectname) %(objecttype) %(objectsize)"},
		Stdin: &in,
	})
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(out)) {
		f := strings.Fields(line)
		if len(f) != 3 || f[1] != "blob" {
			continue // "<oid> missing"
		}
		if n, err := strconv.ParseInt(f[2], 10, 64); err == nil {
			sizes[f[0]] = n
		}
	}
	return sizes, nil
}

// Missing returns the blobs that a partial clone lacks; a full one lacks none.
func (repo *Repository) Missing(ctx context.Context, oids []string) (map[string]bool, error) {
	if !repo.Settings.Partial {
		return nil, nil
	}
	entries := make([]Entry, 0, len(oids))
	for _, oid := range oids {
		entries = append(entries, Entry{OID: oid})
	}
	sizes, err := repo.BlobSizes(ctx, entries)
	lacks := map[string]bool{}
	for _, oid := range oids {
		if _, have := sizes[oid]; !have {
			lacks[oid] = true
		}
	}
	return lacks, err
}
