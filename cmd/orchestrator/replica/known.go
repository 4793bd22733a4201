package replica

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"time"

	"orchestrator/thread/ground/atomicfile"

	"golang.org/x/sys/unix"
)

// knownName is the file in the folder of copies with the hashes of files that were read before.
const knownName = "known.json"

// The limits of what is remembered.
const (
	maxKnown     = 64
	maxKnownSize = 64 << 10
	// settled is how long a file must not have changed before its hash is remembered: within the clock's resolution a
	// second change would not show.
	settled = 2 * time.Second
)

// known are hashes of files by the files' identity: whoever changes a file's content changes the time of its last
// change, which no program can set.
type known struct {
	Sums map[string]string `json:"sums"`
	news bool
}

// readKnown reads what is remembered in a folder. What is missing or damaged is not remembered.
func readKnown(root *os.Root) *known {
	k := &known{}
	f, err := openRegular(root, knownName)
	if err != nil {
		return k
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, maxKnownSize))
	if err != nil || json.Unmarshal(raw, k) != nil {
		return &known{}
	}
	return k
}

// hash returns the hash of a file, and reads it only if it is not remembered.
func (k *known) hash(f *os.File) (string, error) {
	id, changed, err := identity(f)
	if err != nil {
		return "", err
	}
	if sum := k.Sums[id]; len(sum) == hashDigits {
		return sum, nil
	}
	begun := time.Now()
	sum, err := hashOf(f)
	if err != nil {
		return "", err
	}
	if now, _, err := identity(f); err == nil && now == id && begun.Sub(changed) > settled {
		k.add(id, sum)
	}
	return sum, nil
}

// written remembers the hash of a file that this process has just written.
func (k *known) written(f *os.File, sum string) {
	if id, _, err := identity(f); err == nil {
		k.add(id, sum)
	}
}

func (k *known) add(id, sum string) {
	if len(k.Sums) >= maxKnown { // of programs that are gone
		clear(k.Sums)
	}
	if k.Sums == nil {
		k.Sums = map[string]string{}
	}
	k.Sums[id], k.news = sum, true
}

// store writes what was learned, together with what other processes wrote meanwhile. It need not survive a power cut.
func (k *known) store(root *os.Root) error {
	if !k.news {
		return nil
	}
	both := readKnown(root)
	if len(both.Sums) < maxKnown/2 {
		maps.Copy(k.Sums, both.Sums)
	}
	raw, err := json.Marshal(k)
	if err != nil {
		return err
	}
	return atomicfile.Below(root, knownName, raw, 0o600, false)
}

// identity names a file and the state of its content, and says when that last changed.
func identity(f *os.File) (id string, changed time.Time, err error) {
	var s unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &s); err != nil {
		return "", time.Time{}, err
	}
	id = fmt.Sprintf("%d:%d:%d:%d:%d", s.Dev, s.Ino, s.Size, s.Mtim.Nano(), s.Ctim.Nano())
	return id, time.Unix(s.Ctim.Unix()), nil
}
