package raw

import (
	"bytes"
	"database/sql"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"testing"

	_ "github.com/mattn/go-sqlite3" // the driver
)

// made is a real database with a log of some transactions, as a kill leaves it.
func made(t testing.TB, rows int) (base, log []byte) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.db")
	c, err := sql.Open("sqlite3", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.SetMaxOpenConns(1)
	for _, q := range []string{"PRAGMA page_size = 1024", "PRAGMA auto_vacuum = incremental", "PRAGMA journal_mode = wal",
		"CREATE TABLE a (n INTEGER PRIMARY KEY, t TEXT, b BLOB)", "PRAGMA wal_checkpoint(TRUNCATE)"} {
		if _, err := c.Exec(q); err != nil {
			t.Fatal(err)
		}
	}
	for i := range rows {
		if _, err := c.Exec("INSERT INTO a VALUES (?, ?, ?)", i+1, fmt.Sprint("row ", i), bytes.Repeat([]byte{byte(i)}, i*i%5000)); err != nil {
			t.Fatal(err)
		}
	}
	if base, err = os.ReadFile(path); err == nil {
		log, err = os.ReadFile(path + "-wal")
	}
	if err != nil {
		t.Fatal(err)
	}
	return base, log
}

func scan(t testing.TB, log []byte) *Log {
	t.Helper()
	l, err := Scan(bytes.NewReader(log), int64(len(log)), 1024)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// rowsOf reads the rows of made: those whose content is right.
func rowsOf(t testing.TB, f *File) map[int64]bool {
	t.Helper()
	got := map[int64]bool{}
	_, err := f.Rows(func(r Row) error {
		if len(r.Cols) != 3 {
			return nil
		}
		whole, err := f.Row(r.Place)
		if err != nil {
			return nil
		}
		i := whole.N - 1
		b, ok := whole.Cols[2].([]byte)
		// Of a row on many pages one may be lost: this package does not know, who hashes rows does.
		if ok && whole.Cols[1] == fmt.Sprint("row ", i) && bytes.Equal(b, bytes.Repeat([]byte{byte(i)}, int(i*i%5000))) {
			got[whole.N] = true
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func view(base []byte, l *Log) *File {
	return View(bytes.NewReader(base), int64(len(base)), 1024, l, l.Frames, nil)
}

// TestReads compares with what SQLite wrote: the log's frames, and every row, those on many pages too.
func TestReads(t *testing.T) {
	base, log := made(t, 60)
	l := scan(t, log)
	if l.Taken != len(l.Frames) || l.Taken != (len(log)-headerSize)/(frameSize+1024) {
		t.Fatalf("%d of %d frames are taken", l.Taken, len(l.Frames))
	}
	if got := rowsOf(t, view(base, l)); len(got) != 60 {
		t.Errorf("%d rows", len(got))
	}
	var image bytes.Buffer
	if _, err := view(base, l).WriteTo(&image); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "y.db")
	if err := os.WriteFile(path, image.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := sql.Open("sqlite3", "file:"+path+"?immutable=1")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	var n int
	var sound string
	if err := c.QueryRow("SELECT count(*) FROM a").Scan(&n); err != nil || n != 60 {
		t.Errorf("SQLite reads %d rows: %v", n, err)
	}
	if err := c.QueryRow("PRAGMA integrity_check").Scan(&sound); err != nil || sound != "ok" {
		t.Errorf("SQLite says %q, %v", sound, err)
	}
}

// TestOneBit flips one bit anywhere in a log: nearly always all of it comes back, and never more than a frame is lost.
func TestOneBit(t *testing.T) {
	base, log := made(t, 40)
	rnd := rand.New(rand.NewSource(1))
	const flips = 50
	whole := 0
	for range flips {
		at, bit := rnd.Intn(len(log)), rnd.Intn(8)
		bad := bytes.Clone(log)
		bad[at] ^= 1 << bit
		l := scan(t, bad)
		if len(l.Bad()) == 0 && len(l.Frames) > 0 {
			whole++
		}
		if got := rowsOf(t, view(base, l)); len(got) < 20 || len(got) != 40 && len(l.Bad()) != 1 {
			t.Errorf("bit %d at %d, byte %d of frame %d: %d of 40 rows", bit, at, (at-headerSize)%(frameSize+1024),
				(at-headerSize)/(frameSize+1024), len(got))
		}
	}
	if whole < flips*8/10 {
		t.Errorf("after %d of %d flips the log is whole again", whole, flips)
	}
	t.Logf("after %d of %d flips the log is whole again", whole, flips)
}

// TestOneFrame wrecks one frame: the transactions after it are read all the same.
func TestOneFrame(t *testing.T) {
	base, log := made(t, 40)
	all := scan(t, log)
	for i := range all.Frames[:len(all.Frames)-4] {
		bad := bytes.Clone(log)
		clear(bad[headerSize+i*(frameSize+1024):][:frameSize+1024])
		l := scan(t, bad)
		if l.Taken > i || len(l.Frames) != len(all.Frames) {
			t.Errorf("frame %d: SQLite takes %d, and %d of %d are found", i, l.Taken, len(l.Frames), len(all.Frames))
		}
		if got := rowsOf(t, view(base, l)); len(got) < 20 {
			t.Errorf("frame %d: %d of 40 rows", i, len(got))
		}
	}
}

// TestOlderGeneration leaves frames of an earlier log behind the newest ones, as SQLite does: they are not read.
func TestOlderGeneration(t *testing.T) {
	_, older := made(t, 60)
	base, log := made(t, 20)
	l := scan(t, append(bytes.Clone(log), older[len(log):]...))
	if l.Taken != len(scan(t, log).Frames) || len(l.Frames) != l.Taken {
		t.Errorf("%d of %d frames are taken", l.Taken, len(l.Frames))
	}
	if got := rowsOf(t, view(base, l)); len(got) != 20 {
		t.Errorf("%d rows", len(got))
	}
}

// FuzzScan reads any log over any database: no panic, nothing out of bounds, and SQLite would take no more than is
// sound.
func FuzzScan(f *testing.F) {
	base, log := made(f, 3)
	f.Add([]byte{}, log[:headerSize+frameSize+1024])
	f.Add(base[2048:3072], []byte{})
	f.Add(base[:1024], log[:headerSize])
	f.Fuzz(func(t *testing.T, base, log []byte) {
		size := PageSize(bytes.NewReader(base), 1024)
		l, err := scanLog(bytes.NewReader(log), int64(len(log)), size, 4<<20)
		if err != nil {
			t.Fatal(err)
		}
		if l.Taken > len(l.Frames) {
			t.Errorf("%d of %d frames", l.Taken, len(l.Frames))
		}
		for _, x := range l.Frames[:l.Taken] {
			if !x.Sound {
				t.Error("a frame that SQLite takes is not sound")
			}
		}
		v := View(bytes.NewReader(base), int64(len(base)), l.PageSize, l, l.Frames, nil)
		if v.Pages > 1<<20 {
			t.Errorf("%d pages out of %d bytes", v.Pages, len(base)+len(log))
			return
		}
		_, err = v.Rows(func(r Row) error {
			whole, err := v.Row(r.Place)
			if err == nil && len(whole.Cols) != len(r.Cols) {
				t.Errorf("%d columns, read whole %d", len(r.Cols), len(whole.Cols))
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}
