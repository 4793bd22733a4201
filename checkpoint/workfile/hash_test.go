package workfile_test

import (
	"crypto/sha256"
	"encoding/hex"
)

func hash(b []byte) string {
	h := sha256.Sum256(b)
	return hex.EncodeToString(h[:])
}
