package project

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
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
	temp := markName + ".new-" + newMark()[:8]
	f, err := root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("write the project's id: %w", err)
	}
	_, err = f.WriteString(mark + "\n")
	if err == nil {
		err = f.Sync()
	}
	err = errors.Join(err, f.Close())
	if err == nil {
		if info, look := root.Lstat(markName); look == nil && !info.Mode().IsRegular() {
			err = fmt.Errorf("%s is not a file", filepath.Join(gitDir, markName))
		} else {
			err = root.Rename(temp, markName)
		}
	}
	if err != nil {
		root.Remove(temp)
		return fmt.Errorf("write the project's id: %w", err)
	}
	if dir, err := root.Open("."); err == nil {
		_ = dir.Sync() // best effort: without its name the state is found by the place
		dir.Close()
	}
	return nil
}
