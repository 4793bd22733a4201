package record

import (
	"crypto/sha256"
	"encoding/hex"
)

// BlobOf and HashOf are how contents are named by git and by the store.
func BlobOf(content []byte) string { return blobOf(content) }

// HashOf is the SHA-256 of a content in hex.
func HashOf(content []byte) string {
	h := sha256.Sum256(content)
	return hex.EncodeToString(h[:])
}
