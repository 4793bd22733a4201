package verb

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"orchestrator/thread"
	"orchestrator/thread/private"
)

const (
	trustedName = "trusted.json"
	maxTrusted  = 16 << 20
)

// trust records which files of repositories the user has accepted, by path and content: a changed file must be accepted
// again. The record is outside of all projects.
type trust struct {
	home string // the user's state folder
}

func contentHash(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// accepted reports whether exactly this content of the file was accepted.
func (t trust) accepted(file string, content []byte) bool {
	folder, err := private.Open(t.home, "orchestrator")
	if err != nil {
		return false
	}
	defer folder.Close()
	known, err := readTrusted(folder)
	return err == nil && known[file] == contentHash(content)
}

// accept records the content as accepted.
func (t trust) accept(file string, content []byte) error {
	folder, err := private.Make(t.home, "orchestrator")
	if err != nil {
		return fmt.Errorf("record what is trusted: %w", err)
	}
	defer folder.Close()
	lock, err := folder.File(trustedName+".lock", os.O_CREATE|os.O_RDWR)
	if err != nil {
		return fmt.Errorf("record what is trusted: %w", err)
	}
	defer lock.Close()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return fmt.Errorf("record what is trusted: %w", err)
	}
	known, err := readTrusted(folder)
	if err != nil {
		return err
	}
	known[file] = contentHash(content)
	b, err := json.MarshalIndent(known, "", "  ")
	if err != nil {
		return fmt.Errorf("record what is trusted: %w", err)
	}
	if err := folder.Write(trustedName, append(b, '\n')); err != nil {
		return fmt.Errorf("record what is trusted: %w", err)
	}
	return nil
}

// wideKey is the key for a folder that was accepted as a project even though it holds much else.
func wideKey(root string) string { return "folder:" + root }

// wide reports whether the user has accepted such a folder.
func (t trust) wide(root string) bool { return t.accepted(wideKey(root), []byte(root)) }

func readTrusted(folder *private.Folder) (map[string]string, error) {
	known := map[string]string{}
	b, err := folder.Read(trustedName, maxTrusted)
	if errors.Is(err, fs.ErrNotExist) {
		return known, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read what is trusted: %w", err)
	}
	if err := json.Unmarshal(b, &known); err != nil {
		return nil, thread.Hint(fmt.Errorf("read what is trusted: %s: %w", folder.Path(trustedName), err),
			"move the file away, and accept again what you trust")
	}
	return known, nil
}
