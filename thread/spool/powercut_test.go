package spool_test

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"orchestrator/thread"
	"orchestrator/thread/spool"
)

// disk forgets at a power cut what was not synced: the content of files, and their names.
type disk struct {
	t       *testing.T
	dir     string
	content map[string][]byte // synced, by name
	names   map[string]bool   // synced
	fail    error             // of the next sync of a file
	unnamed error             // of the next sync of names
}

func (d *disk) under(s *spool.Spool) *spool.Spool {
	d.content, d.names = map[string][]byte{}, map[string]bool{}
	s.SyncBy(func(f *os.File) error {
		if err := d.fail; err != nil {
			d.fail = nil
			return err
		}
		b, err := os.ReadFile(filepath.Join(d.dir, filepath.Base(f.Name())))
		d.content[filepath.Base(f.Name())] = b
		return err
	}, func() error {
		if err := d.unnamed; err != nil {
			d.unnamed = nil
			return err
		}
		list, err := os.ReadDir(d.dir)
		for _, e := range list {
			d.names[e.Name()] = true
		}
		return err
	})
	return s
}

// cut leaves what was synced.
func (d *disk) cut() {
	list, err := os.ReadDir(d.dir)
	for _, e := range list {
		err = errors.Join(err, os.Remove(filepath.Join(d.dir, e.Name())))
	}
	for name := range d.names {
		err = errors.Join(err, os.WriteFile(filepath.Join(d.dir, name), d.content[name], 0o600))
	}
	if err != nil {
		d.t.Fatal(err)
	}
}

// TestPowerCut cuts the power after each answer that was spooled: it comes back, and so do those before it.
func TestPowerCut(t *testing.T) {
	dir := t.TempDir()
	d := &disk{t: t, dir: filepath.Join(dir, "spool")}
	s := d.under(open(t, dir, nil))
	want := map[thread.ID]int{}
	for i := range 12 {
		c, delta := checkpoint(fmt.Sprint("answer ", i))
		c.Thread = thread.ID(fmt.Sprintf("%016x", i%3))
		if i%4 == 1 || i == 0 {
			d.fail = errors.New("the disk is gone")
			if i == 0 {
				d.fail, d.unnamed = nil, d.fail
			}
			if _, err := s.Append(c, delta); err == nil {
				t.Fatal("an answer that could not be synced is said to be kept")
			}
		}
		if _, err := s.Append(c, delta); err != nil {
			t.Fatal(err)
		}
		want[c.Thread]++
		if i%5 == 4 { // the next records go on from what is left
			d.cut()
			content, names := maps.Clone(d.content), maps.Clone(d.names)
			s = d.under(open(t, dir, nil))
			d.content, d.names = content, names
		}
		saved, lost := t.TempDir(), d.dir
		if err := os.CopyFS(filepath.Join(saved, "spool"), os.DirFS(lost)); err != nil {
			t.Fatal(err)
		}
		after := *d
		after.dir = filepath.Join(saved, "spool")
		after.cut()
		kept, err := open(t, saved, nil).Kept()
		if err != nil {
			t.Fatal(err)
		}
		for id, n := range want {
			if got := len(kept[id].Places); got != n || kept[id].Unreadable > 0 {
				t.Fatalf("after answer %d and a power cut %d of %d answers of %s are left: %+v", i, got, n, id, kept[id])
			}
		}
	}
}
