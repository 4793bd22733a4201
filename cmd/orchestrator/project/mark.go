package project

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"

	"orchestrator/thread/ground/atomicfile"
)

// markName is the file with a project's mark in its git directory.
const markName = "orchestrator-id"

// maxMark is more than a mark and its line end take.
const maxMark = 64

// newMark returns 32 random hex digits.
func newMark() string {
	var b [16]byte
	rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// isMark reports whether a text is 32 hex digits as newMark makes them.
func isMark(s string) bool {
	if len(s) != 32 {
		return false
	}
	for _, r := range s {
		if (r < '0' || r > '9') && (r < 'a' || r > 'f') {
			return false
		}
	}
	return true
}

// writeMark puts a mark into a git directory, whole and durable or not at all; it replaces a regular file and
// nothing else.
func writeMark(gitDir, mark string) error {
	root, err := os.OpenRoot(gitDir)
	if err != nil {
		return fmt.Errorf("write the project's id: %w", err)
	}
	defer root.Close()
	if info, err := root.Lstat(markName); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("write the project's id: %s is not a file", filepath.Join(gitDir, markName))
	}
	if err := atomicfile.Below(root, markName, []byte(mark+"\n"), 0o600, true); err != nil {
		return fmt.Errorf("write the project's id: %w", err)
	}
	return nil
}
