package disk

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// Short is a name of sixteen letters for a path, for our own files and folders.
func Short(path string) string {
	sum := sha256.Sum256([]byte(path))
	return hex.EncodeToString(sum[:8])
}

// IsName reports whether s is the name of something in a folder, and nowhere else.
func IsName(s string) bool {
	return s != "" && s != "." && s != ".." && !strings.ContainsAny(s, "/\x00")
}
