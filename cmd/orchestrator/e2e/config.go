package e2e

import (
	"os"
	"path/filepath"
	"testing"
)

// Put writes a file and makes its folder.
func Put(t *testing.T, file, content string) {
	t.Helper()
	if content == "" {
		return
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}
