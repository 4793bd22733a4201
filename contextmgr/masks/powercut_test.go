package masks_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orchestrator/contextmgr/masks"
	"orchestrator/contextmgr/policy"
	"orchestrator/thread"
	"orchestrator/thread/private"
)

// lossy is a disk that keeps of a log what was synced, and of the rest some sectors.
type lossy struct {
	testing.TB
	*rand.Rand
	logs map[string]*lossyLog // by folder
	step func()               // is called whenever the power may go away
}

// lossyLog is what is durable of a log.
type lossyLog struct {
	masks.LogFile
	disk    *lossy
	path    string
	content []byte
	named   bool // its name is durable
}

func (d *lossy) open(f *private.Folder, real func(*private.Folder) (masks.LogFile, error)) (masks.LogFile, error) {
	log := d.logs[f.Path()]
	if log == nil {
		log = &lossyLog{disk: d, path: f.Path("log")}
		d.logs[f.Path()] = log
	}
	var err error
	log.LogFile, err = real(f)
	d.step()
	return log, err
}

func (d *lossy) sync(f *private.Folder, real func(*private.Folder) error) error {
	d.step()
	if err := real(f); err != nil {
		return err
	}
	d.logs[f.Path()].named = true
	d.step()
	return nil
}

func (l *lossyLog) WriteAt(b []byte, at int64) (int, error) {
	n, err := l.LogFile.WriteAt(b, at)
	l.disk.step()
	return n, err
}

func (l *lossyLog) Sync() error {
	if err := l.LogFile.Sync(); err != nil {
		return err
	}
	l.content = load(l.disk, l.path)
	l.disk.step()
	return nil
}

// left returns what a power cut leaves of the log; false if that is no file.
func (l *lossyLog) left() ([]byte, bool) {
	if !l.named {
		return nil, false
	}
	cached, sector := load(l.disk, l.path), 512<<l.disk.IntN(4)
	size := len(cached)
	if l.disk.IntN(3) == 0 { // the new size is not durable either
		size = min(size, len(l.content)+l.disk.IntN(max(1, len(cached)-len(l.content))))
	}
	left := make([]byte, size) // zeros where nothing was written
	copy(left, l.content)
	chance := l.disk.Float64()
	for at := 0; at < size; at += sector {
		if end := min(size, at+sector); l.disk.Float64() < chance {
			copy(left[at:end], cached[at:end])
		}
	}
	return left, true
}

// cut returns a folder as it is after a power cut: also outputs, which nobody syncs, are lost or empty.
func (d *lossy) cut(from string) (to string) {
	d.Helper()
	to = d.TempDir()
	err := filepath.WalkDir(from, func(path string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) || err == nil && strings.HasPrefix(e.Name(), ".new-") {
			return nil // is being written
		}
		if err != nil {
			return err
		}
		name := filepath.Join(to, strings.TrimPrefix(path, from))
		if e.IsDir() {
			return os.MkdirAll(name, 0o700)
		}
		if e.Name() == "log" {
			if left, is := d.logs[filepath.Dir(path)].left(); is {
				return os.WriteFile(name, left, 0o600)
			}
			return nil
		}
		content, err := os.ReadFile(path)
		if err != nil || d.IntN(3) == 0 {
			return nil //nolint:nilerr // it is being written, and as good as lost
		}
		return os.WriteFile(name, content[:len(content)*d.IntN(2)], 0o400)
	})
	must(d, err)
	return to
}

// long returns the content with an id: some sectors that do not get smaller.
func long(id policy.ID) string {
	sum := sha256.Sum256([]byte(id))
	src := rand.New(rand.NewChaCha8(sum))
	b := make([]byte, 1000+src.IntN(4000))
	for i := range b {
		b[i] = byte(src.Uint32())
	}
	return string(b)
}

// TestPowerCut cuts the power at each step of storing batches, forks and settings: what was stored before is there, byte
// for byte, the batch that is being stored is there as a whole or not at all, and the store works on.
func TestPowerCut(t *testing.T) {
	t.Parallel()
	w := open(t, t.TempDir())
	d := &lossy{TB: t, Rand: rand.New(rand.NewPCG(3, 4)), logs: map[string]*lossyLog{}, step: func() {}}
	w.Disk(d.open, d.sync)
	stored := map[thread.ID][]masks.Mask{} // acknowledged
	pinned := map[thread.ID]policy.ID{}
	var now thread.ID // which is being changed
	cuts, whole, none := 0, 0, 0
	d.step = func() {
		cuts++
		after := open(t, d.cut(w.dir))
		for id, want := range stored {
			set := after.set(id, "")
			all := set.All()
			switch extra := len(all) - len(want); {
			case id == now && extra == batchSize:
				whole++
			case id == now && extra == 0:
				none++
			case extra != 0 && (id != now || len(want) > 0): // or a fork has begun
				t.Fatalf("cut %d: thread %s has %d masks, want %d", cuts, id, len(all), len(want))
			}
			for i, m := range all {
				if i < len(want) && (m.Stub != want[i].Stub || m.ID != want[i].ID || m.Token != want[i].Token) {
					t.Fatalf("cut %d: mask %d of %s is %+v, was %+v", cuts, i, id, m, want[i])
				}
				if got, err := after.read(m.Token); err != nil || got != long(m.ID) {
					t.Fatalf("cut %d: %s of %s has %d bytes (%v)", cuts, m.ID, id, len(got), err)
				}
			}
			if pin, ok := pinned[id]; ok && !set.Pinned(pin) {
				t.Fatalf("cut %d: %s of %s is not pinned", cuts, pin, id)
			}
		}
		for _, notice := range after.notices {
			if !strings.HasPrefix(notice, string(now)+":") { // half of a batch looks like damage
				t.Fatalf("cut %d: %s", cuts, notice)
			}
		}
		more := after.set("t0", "")
		after.add(more, item("more", "more"))
		after = after.again()
		after.has(after.set("t0", ""), "more", "more")
		must(t, after.Close())
	}
	for n := range 3 {
		now = threadOf(n)
		stored[now] = nil
		parent := thread.ID("")
		if n > 0 {
			parent = threadOf(n - 1)
		}
		set := w.set(now, parent)
		stored[now] = set.All()
		d.step()
		for at := n * 2; at < n*2+2; at++ {
			batch := batchNumber(at)
			for i := range batch {
				batch[i].Content = []byte(long(batch[i].ID))
			}
			must(t, set.Add(batch))
			stored[now] = set.All()
			d.step()
			id := policy.ID(fmt.Sprint(at, "-", 0))
			must(t, set.Pin(id))
			pinned[now] = id
			d.step()
		}
		must(t, set.SetMode("lean"))
	}
	t.Logf("%d power cuts: %d batches were there as a whole, %d not at all", cuts, whole, none)
	if whole < 5 || none < 20 {
		t.Errorf("%d cuts left a whole batch, %d none", whole, none)
	}
}
