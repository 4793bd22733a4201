package codex

import (
	"bytes"
	"os"
	"path/filepath"
)

// projectRoots reports whether Codex's configuration for a folder, there or above, may say where the sandbox may write.
func projectRoots(dir string) bool {
	for at := dir; ; at = filepath.Dir(at) {
		raw, err := os.ReadFile(filepath.Join(at, ".codex", "config.toml"))
		if err == nil && namesRoots(raw) {
			return true
		}
		if at == filepath.Dir(at) {
			return false
		}
	}
}

// namesRoots reports whether a configuration may say where the sandbox may write.
func namesRoots(raw []byte) bool {
	return bytes.Contains(raw, []byte("writable_roots")) || bytes.Contains(raw, []byte("permissions"))
}
