package discovery_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// write writes a file, with its folder.
func write(t *testing.T, file, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// quote is a text as JSON.
func quote(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}
