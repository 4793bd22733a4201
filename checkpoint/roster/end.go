package roster

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/private"
)

// Resume opens a list that was ended at a commit of the store, at which the store still is, without reading it. It
// returns nil for one that was not: then it has to be compared with the store. It uses dir until Close.
func Resume(dir *private.Folder, name, commit string) *Roster {
	f, err := dir.File(name, os.O_RDONLY)
	if err != nil {
		return nil
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || commit == "" {
		return nil
	}
	const most = 4096 // of the last line
	tail := make([]byte, min(most, info.Size()))
	if _, err := f.ReadAt(tail, info.Size()-int64(len(tail))); err != nil {
		return nil
	}
	tail, whole := bytes.CutSuffix(tail, []byte("\n"))
	last, ok := decode(tail[bytes.LastIndexByte(tail, '\n')+1:])
	if !whole || !ok || last.End != commit {
		return nil
	}
	r := &Roster{dir: dir, name: name, threads: map[thread.ID]*thread.Thread{}, partial: true, ended: commit, at: last.At}
	if line, _, err := readLine(bufio.NewReader(io.NewSectionReader(f, 0, most))); err == nil {
		if first, ok := decode(line); ok && first.Size > 0 {
			r.written = info.Size() - first.Size
		}
	}
	return r
}

// End says that the list has all of the store at a commit, and closes it. The store is closed. It says nothing if
// something is missing.
func (r *Roster) End(commit string, now time.Time) error {
	r.mu.Lock()
	if commit != "" && !r.failed && r.ended != commit {
		_ = r.append(entry{At: now, End: commit}) // without it, the next start compares
	}
	r.mu.Unlock()
	return r.Close()
}
