package sqlite

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"orchestrator/checkpoint/mark"
	"orchestrator/thread/failpoint"
	"orchestrator/thread/private"
)

// cleanEnd is the suffix of the file beside the database that says that it was closed whole. It is the last thing that
// Close writes and the first that Open removes, both durably: while it is there, nobody has the database open, and
// nobody has written to it since.
const cleanEnd = "-clean"

// checkEach is after how long a database that is always closed cleanly is checked as a whole again, in the background:
// a disk may lose bits without anybody writing.
const checkEach = 24 * time.Hour

// clean is what is known of a database that was closed whole.
type clean struct {
	Mark mark.Mark `json:"mark"` // its newest commit
	// Files are the database and its log as they were left.
	Files [2]left `json:"files"`
	// Checked is when the whole of it was checked last.
	Checked time.Time `json:"checked"`
}

// left identifies the content of a file, as far as it can be told without reading it: any write changes one of these,
// and so does a copy.
type left struct {
	Inode   uint64 `json:"inode"`
	Size    int64  `json:"size"`
	Written int64  `json:"written"` // when it was written last, by its file system, in nanoseconds since 1970
	Changed int64  `json:"changed"` // when anything of it changed last, likewise
}

func look(path string) (left, error) {
	var st unix.Stat_t
	err := unix.Lstat(path, &st)
	if errors.Is(err, fs.ErrNotExist) {
		return left{}, nil
	}
	if err != nil {
		return left{}, &os.PathError{Op: "lstat", Path: path, Err: err}
	}
	return left{Inode: st.Ino, Size: st.Size, Written: st.Mtim.Nano(), Changed: st.Ctim.Nano()}, nil
}

// lookBoth looks at the database and its log.
func lookBoth(path string) (files [2]left, err error) {
	var errs [2]error
	files[0], errs[0] = look(path)
	files[1], errs[1] = look(path + "-wal")
	return files, errors.Join(errs[:]...)
}

// takeClean removes what says that the database was closed whole, before anything else happens to it. It returns what
// it said if the database is still just that; what is missing, unreadable or about other files says nothing.
func takeClean(dir *private.Folder, path string, newest mark.Mark) *clean {
	name := filepath.Base(path) + cleanEnd
	text, err := dir.Read(name, 1<<16)
	if err == nil {
		err = errors.Join(dir.Remove(name), dir.Sync())
	}
	failpoint.Hit("sqlite.clean.taken")
	if err != nil {
		return nil
	}
	var c clean
	sum, doc, ok := bytes.Cut(text, []byte(" "))
	if !ok || string(sum) != cleanSum(doc) || json.Unmarshal(doc, &c) != nil || c.Mark != newest {
		return nil
	}
	if files, err := lookBoth(path); err != nil || files != c.Files {
		return nil
	}
	return &c
}

// leaveClean says that the database was closed whole. All connections are closed and all of it is durable. Failing to
// say so costs the next start a check.
func leaveClean(dir *private.Folder, path string, newest mark.Mark, checked time.Time) error {
	// The clock of a file system may stand still for some milliseconds, in which a write would change nothing that can be
	// told. So the file gets a time that no clock gives.
	at := time.Now().Truncate(time.Second).Add(time.Duration(rand.IntN(1e9)))
	if err := os.Chtimes(path, at, at); err != nil {
		return err
	}
	files, err := lookBoth(path)
	if err != nil {
		return err
	}
	if files[0].Written != at.UnixNano() {
		return errors.New("the file system keeps no exact times")
	}
	doc, err := json.Marshal(clean{Mark: newest, Files: files, Checked: checked})
	if err != nil {
		return err
	}
	failpoint.Hit("sqlite.clean.leave")
	return dir.Write(filepath.Base(path)+cleanEnd, append([]byte(cleanSum(doc)+" "), doc...))
}

func cleanSum(doc []byte) string { return fmt.Sprintf("%08x", crc32.ChecksumIEEE(doc)) }
