package disk

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// Short names a path in sixteen letters, for files and folders of our own.
func Short(path string) string {
	sum := sha256.Sum256([]byte(path))
	return hex.EncodeToString(sum[:8])
}

// IsName reports whether s names something in a folder, and nowhere else.
func IsName(s string) bool {
	return s != "" && s != "." && s != ".." && !strings.ContainsAny(s, "/\x00")
}
