package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// trust remembers which files of repositories the person has accepted, by path and content: a
// changed file is asked about again. It lies outside of every project.
type trust struct{ file string }

func (c *cli) trust() trust {
	return trust{file: filepath.Join(c.stateHome(), "orchestrator", "trusted.json")}
}

func contentHash(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// accepted reports whether exactly this content of the file was accepted.
func (t trust) accepted(file string, content []byte) bool {
	known, err := t.read()
	return err == nil && known[file] == contentHash(content)
}

// accept remembers the content.
func (t trust) accept(file string, content []byte) error {
	if err := os.MkdirAll(filepath.Dir(t.file), 0o700); err != nil {
		return fmt.Errorf("remember what is trusted: %w", err)
	}
	lock, err := os.OpenFile(t.file+".lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return fmt.Errorf("remember what is trusted: %w", err)
	}
	defer lock.Close()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return fmt.Errorf("remember what is trusted: %w", err)
	}
	known, err := t.read()
	if err != nil {
		return err
	}
	known[file] = contentHash(content)
	b, err := json.MarshalIndent(known, "", "  ")
	if err != nil {
		return fmt.Errorf("remember what is trusted: %w", err)
	}
	if err := os.WriteFile(t.file+".new", append(b, '\n'), 0o600); err != nil {
		return fmt.Errorf("remember what is trusted: %w", err)
	}
	if err := os.Rename(t.file+".new", t.file); err != nil {
		return fmt.Errorf("remember what is trusted: %w", err)
	}
	return nil
}

func (t trust) read() (map[string]string, error) {
	known := map[string]string{}
	b, err := os.ReadFile(t.file)
	if errors.Is(err, os.ErrNotExist) {
		return known, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read what is trusted: %w", err)
	}
	if err := json.Unmarshal(b, &known); err != nil {
		return nil, fmt.Errorf("read what is trusted: %s: %w", t.file, err)
	}
	return known, nil
}
