package ledger

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"

	"orchestrator/thread"
	"orchestrator/thread/ground/atomicfile"
	"orchestrator/thread/plaintext"
	"orchestrator/thread/private"
	"orchestrator/thread/work"
)

// What may wait, and be in the file.
const (
	maxWaiting = 10_000      // rows
	maxKept    = 16 << 20    // of rows with their texts
	maxFile    = 3 * maxKept // as JSON, which is longer
	maxNotes   = 2000        // of a row
)

// kept is the file that keeps what waits while the store is away. Whatever stands in its place, reading it ends soon, and
// gives rows that the ledger may have written.
type kept struct {
	file string // "" for none
	log  *slog.Logger
}

// write replaces what is kept by items, as far as there is room.
func (k kept) write(items []item) {
	room, list := int64(maxKept), make([]item, 0, len(items))
	for _, i := range items {
		if i.size() > room {
			i.Given, i.Said, i.Notes = "", plaintext.Cut(i.Said, 2000), nil
		}
		if room -= i.size(); room < 0 {
			break
		}
		list = append(list, i)
	}
	var raw bytes.Buffer
	coder := json.NewEncoder(&raw)
	coder.SetEscapeHTML(false)
	err := coder.Encode(list)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(k.file), 0o700)
	}
	if err == nil {
		err = atomicfile.Write(k.file, raw.Bytes(), false)
	}
	if err != nil {
		k.log.Warn("keep what the record does not take", "err", err)
	}
}

// read returns what an earlier server has kept.
func (k kept) read() []item {
	if k.file == "" {
		return nil
	}
	var list []item
	raw, err := private.ReadRegular(k.file, maxFile)
	if err == nil {
		err = json.Unmarshal(raw, &list)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		k.log.Warn("read what an earlier server could not record", "err", err)
		return nil
	}
	odd, all := 0, len(list)
	list = slices.DeleteFunc(list[:min(len(list), maxWaiting)], func(i item) bool {
		if err := i.check(); err != nil {
			odd++
			return true
		}
		return false
	})
	if odd += max(0, all-maxWaiting); odd > 0 {
		k.log.Warn("what an earlier server kept has rows that cannot be recorded", "rows", odd)
	}
	for n := range list {
		i := &list[n]
		i.Given, i.Said, i.Notes = whole(i.Given), whole(i.Said), i.Notes[:min(len(i.Notes), maxNotes)]
	}
	return list
}

// check refuses what the ledger has not written so.
func (i *item) check() error {
	x := i.Row
	if err := thread.ID(x.ID).Check(); err != nil {
		return err
	}
	if i.Note { // nothing else of it is used
		return nil
	}
	u := x.Usage
	switch {
	case x.Kind != work.KindTerminal && x.Kind != work.KindNative, x.Name != "", x.Fence != 0, x.Attempt != 0:
		return fmt.Errorf("row %s is not the ledger's", x.ID)
	case min(u.Input, u.CacheRead, u.CacheWrite, u.CacheWriteHour, u.Output, u.Unknown) < 0 || u.CostUSD < 0:
		return fmt.Errorf("row %s has used %+v", x.ID, u)
	case i.Tries < 0:
		return fmt.Errorf("row %s was tried %d times", x.ID, i.Tries)
	}
	return x.Thread.Check()
}
