package spool_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"syscall"
	"testing"

	"orchestrator/thread"
	"orchestrator/thread/private"
	"orchestrator/thread/reserve"
	"orchestrator/thread/spool"
)

const id = thread.ID("0123456789abcdef")

func open(t testing.TB, dir string, r spool.Reserve) *spool.Spool {
	t.Helper()
	folder, err := private.Make(dir, "spool")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { folder.Close() })
	return spool.Open(folder, r)
}

func checkpoint(text string) (thread.Checkpoint, thread.Delta) {
	return thread.Checkpoint{ID: thread.NewID[thread.CheckpointID](), Thread: id, Turn: 1, Answer: text}, thread.Delta{
		Keep: 2, Items: []thread.Item{{Wire: "x", Raw: json.RawMessage(`{"a":"` + text + `"}`)}},
		Transcript: []thread.Chunk{{File: "main", Offset: 7, Data: []byte{0, 1, 255}}},
		Prompts:    []thread.Prompt{{ID: "p1", Thread: id, Text: text, State: thread.PromptAnswered}},
	}
}

func TestKeptComesBack(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, nil)
	var cs []thread.Checkpoint
	var ds []thread.Delta
	for _, text := range []string{"one", "two", "three"} {
		c, d := checkpoint(text)
		if _, err := s.Append(c, d); err != nil {
			t.Fatal(err)
		}
		cs, ds = append(cs, c), append(ds, d)
	}
	s = open(t, dir, nil) // as the next server does
	kept, err := s.Kept()
	if err != nil || len(kept[id].Places) != 3 || kept[id].Unreadable != 0 {
		t.Fatalf("%+v, %v", kept, err)
	}
	for i, at := range kept[id].Places {
		c, d, err := s.Read(id, at)
		if err != nil || !reflect.DeepEqual(c, cs[i]) || !reflect.DeepEqual(d, ds[i]) {
			t.Errorf("record %d: %v\n%+v\n%+v", i, err, c, d)
		}
	}
	if err := s.Drop(id); err != nil {
		t.Fatal(err)
	}
	if kept, err := s.Kept(); err != nil || len(kept) != 0 {
		t.Errorf("after the drop: %v, %v", kept, err)
	}
}

// TestCutAndDamaged cuts a spool after every byte and flips every byte of it: what is handed back is what was
// written, and what is not is counted or named.
func TestCutAndDamaged(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, nil)
	texts := []string{"one", "two"}
	for _, text := range texts {
		if _, err := s.Append(checkpoint(text)); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(dir, "spool", string(id)+".spool")
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	look := func(what string, b []byte, i int) {
		if err := os.WriteFile(file, b, 0o600); err != nil {
			t.Fatal(err)
		}
		kept, err := s.Kept()
		if err != nil {
			t.Fatal(err)
		}
		good := 0
		for n, at := range kept[id].Places {
			c, _, err := s.Read(id, at)
			if errors.Is(err, thread.ErrDamaged) {
				break
			}
			if err != nil || n >= len(texts) || c.Answer != texts[n] {
				t.Fatalf("%s at %d: record %d is %q, %v", what, i, n, c.Answer, err)
			}
			good++
		}
		if good < len(texts) && len(kept[id].Places) == good && kept[id].Unreadable == 0 && kept[id].Missing == 0 {
			t.Fatalf("%s at %d: %d records, and nothing is said to be unreadable", what, i, good)
		}
	}
	for i := range whole {
		b := bytes.Clone(whole)
		b[i] ^= 0x40
		look("a flip", b, i)
		look("a cut", whole[:i], i)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if kept, err := s.Kept(); err != nil || kept[id].Missing != 2 {
		t.Errorf("the file is gone: %+v, %v", kept, err)
	}
	if path, err := s.SetAside(id); err != nil || path != "" {
		t.Errorf("put aside: %q, %v", path, err)
	}
	if kept, err := s.Kept(); err != nil || len(kept) != 0 {
		t.Errorf("after that: %+v, %v", kept, err)
	}
}

func TestAppendAfterACut(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, nil)
	if _, err := s.Append(checkpoint("one")); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "spool", string(id)+".spool")
	b, err := os.ReadFile(file)
	if err == nil {
		err = os.WriteFile(file, append(b, b[:len(b)-1]...), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	s = open(t, dir, nil)
	at, err := s.Append(checkpoint("two"))
	if err != nil || at != int64(len(b)) {
		t.Fatalf("at %d, %v", at, err)
	}
	if c, _, err := s.Read(id, at); err != nil || c.Answer != "two" {
		t.Errorf("%q, %v", c.Answer, err)
	}
}

func TestForeignNamesAreLeftAlone(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, nil)
	for _, name := range []string{"..%2f.spool", "notes.txt", "0123456789ABCDEF.spool"} {
		if err := os.WriteFile(filepath.Join(dir, "spool", name), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("/etc/passwd", filepath.Join(dir, "spool", string(id)+".spool")); err != nil {
		t.Fatal(err)
	}
	if kept, err := s.Kept(); err == nil || len(kept[id].Places) != 0 {
		t.Errorf("%+v, %v", kept, err)
	}
	if _, err := s.Append(checkpoint("one")); !errors.Is(err, private.ErrNotOurs) {
		t.Errorf("appended through a link: %v", err)
	}
}

func TestAFullDiskTakesTheReserve(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=256k,mode=700"); err != nil {
		t.Skipf("SKIPPED: a small disk cannot be mounted here (%v); run as root to test it", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, 0) })
	folder, err := private.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	kept, err := reserve.New(folder, "reserve", 64<<10)
	if err != nil || !kept.Kept() {
		t.Fatalf("no room is kept: %v", err)
	}
	fill := filepath.Join(dir, "full")
	if err := os.WriteFile(fill, make([]byte, 1<<20), 0o600); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("the disk is not full: %v", err)
	}
	s := open(t, dir, kept)
	if _, err := s.Append(checkpoint("one")); err != nil {
		t.Fatal(err)
	}
	big, d := checkpoint("two")
	d.Items[0].Raw = json.RawMessage(`"` + string(bytes.Repeat([]byte("x"), 100<<10)) + `"`)
	if _, err := s.Append(big, d); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("more than the disk holds: %v", err)
	}
	if c, _, err := s.Read(id, 0); err != nil || c.Answer != "one" {
		t.Errorf("the first one: %q, %v", c.Answer, err)
	}
}

// TestOfAnotherThread gives one thread the file of another: nothing in it becomes its own.
func TestOfAnotherThread(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, nil)
	at, err := s.Append(checkpoint("one"))
	if err != nil {
		t.Fatal(err)
	}
	other := thread.NewID[thread.ID]()
	folder := filepath.Join(dir, "spool")
	if err := os.Rename(filepath.Join(folder, string(id)+".spool"), filepath.Join(folder, string(other)+".spool")); err != nil {
		t.Fatal(err)
	}
	if c, _, err := s.Read(other, at); !errors.Is(err, thread.ErrDamaged) {
		t.Errorf("read %+v, %v", c, err)
	}
}
