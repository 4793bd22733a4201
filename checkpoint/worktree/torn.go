package worktree

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"

	"orchestrator/checkpoint/disk"
	"orchestrator/checkpoint/git"
	"orchestrator/checkpoint/repository"
)

// refillFiles restores files from the last snapshot that a power cut truncated: the file on disk is the beginning of
// the stored one, or nothing, followed by zeroes. Any other file stays as it is. It returns what it wrote.
func refillFiles(ctx context.Context, w *repository.Worktree, r record) ([]string, error) {
	commit, err := newest(ctx, w.Repo, r.Thread)
	if err != nil {
		return nil, err
	}
	if commit == "" {
		commit = r.Commit
	}
	out, err := w.Ours(ctx, git.Call{Args: []string{"ls-tree", "-r", "-l", "-z", "--full-tree", commit}})
	if err != nil {
		return nil, err
	}
	where, err := disk.OpenPlace(w.Git.Root)
	if err != nil {
		return nil, err
	}
	defer where.Close()
	suspects, err := suspectsIn(where, git.Fields(out))
	if err != nil || len(suspects) == 0 {
		return nil, err
	}
	var torn []suspect
	err = w.Repo.Blobs(ctx, nil, oids(suspects), func(next func() (io.Reader, error)) error {
		for _, f := range suspects {
			blob, err := next()
			if err != nil {
				return err
			}
			if is, err := isTorn(where, f.path, blob); err != nil {
				return err
			} else if is {
				torn = append(torn, f)
			}
		}
		return nil
	})
	if err != nil || len(torn) == 0 {
		return nil, err
	}
	if err := w.Invalidate(); err != nil {
		return nil, err
	}
	names := make([]string, 0, len(torn))
	return names, w.Repo.Blobs(ctx, nil, oids(torn), func(next func() (io.Reader, error)) error {
		for _, f := range torn {
			blob, err := next()
			if err != nil {
				return err
			}
			if err := where.PutFile(f.path, blob, f.exec, f.info); err != nil {
				return err
			}
			names = append(names, f.path)
		}
		return nil
	})
}

// suspect is a file that may have been truncated.
type suspect struct {
	path, oid string
	exec      bool
	info      fs.FileInfo
}

func oids(files []suspect) []string {
	list := make([]string, 0, len(files))
	for _, f := range files {
		list = append(list, f.oid)
	}
	return list
}

// suspectsIn selects from `ls-tree -r -l` ("mode type oid size\tpath") the files that are shorter on disk, or that
// end with a zero.
func suspectsIn(p *disk.Place, lines []string) ([]suspect, error) {
	var found []suspect
	for _, line := range lines {
		head, path, ok := strings.Cut(line, "\t")
		f := strings.Fields(head)
		if !ok || len(f) != 4 {
			return nil, fmt.Errorf("git ls-tree wrote %q", git.Printable(line))
		}
		size, err := strconv.ParseInt(f[3], 10, 64)
		if err != nil || !strings.HasPrefix(f[0], "100") || git.IsForeign(path) {
			continue // a link or another repository
		}
		info, err := p.Lstat(path)
		if err != nil || !info.Mode().IsRegular() || info.Size() > size ||
			info.Size() == size && !endsWithZero(p, path, size) {
			continue
		}
		found = append(found, suspect{path: path, oid: f[2], exec: f[0] == "100755", info: info})
	}
	return found, nil
}

func endsWithZero(p *disk.Place, path string, size int64) bool {
	f, err := p.Open(path)
	if err != nil || size == 0 {
		return false
	}
	defer f.Close()
	var last [1]byte
	_, err = f.ReadAt(last[:], size-1)
	return err == nil && last[0] == 0
}

// isTorn reports whether a file is not the blob, but only its beginning and zeroes.
func isTorn(p *disk.Place, path string, blob io.Reader) (bool, error) {
	f, err := p.Open(path)
	if err != nil {
		return false, nil
	}
	defer f.Close()
	want, have := make([]byte, 64<<10), make([]byte, 64<<10)
	zeroes, differs := false, false
	for {
		n, err := io.ReadFull(f, have)
		if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			return false, err
		}
		m, berr := io.ReadFull(blob, want[:max(n, 1)])
		if berr != nil && !errors.Is(berr, io.EOF) && !errors.Is(berr, io.ErrUnexpectedEOF) {
			return false, berr
		}
		if n == 0 {
			return differs || m > 0, nil // the blob continues, or zeroes replaced some of it
		}
		if m < n {
			return false, nil
		}
		for i, b := range have[:n] {
			switch {
			case b == 0 && want[i] != 0:
				zeroes, differs = true, true
			case b != 0 && (zeroes || b != want[i]):
				return false, nil
			}
		}
	}
}
