package workfile_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"testing"

	"orchestrator/thread/work"
)

func hash(b []byte) string {
	h := sha256.Sum256(b)
	return hex.EncodeToString(h[:])
}

// forged returns a file of rows that somebody wrote: its lines verify.
func forged(tb testing.TB, rows ...work.Whole) []byte {
	tb.Helper()
	out := []byte("orchestrator-record 1\n")
	for _, w := range rows {
		doc, err := json.Marshal(w)
		if err != nil {
			tb.Fatal(err)
		}
		out = append(out, line(w, doc)...)
	}
	return out
}

func line(w work.Whole, doc []byte) []byte {
	kind := "X "
	if w.Bundle != nil {
		kind = "B "
	}
	if w.Session != nil {
		kind = "S "
	}
	rest := append([]byte(kind), doc...)
	return append(append([]byte(hash(rest)[:16]+" "), rest...), '\n')
}
