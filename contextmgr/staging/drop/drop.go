// Package drop hands data to the server through a folder, from a sandbox that cannot reach the server's socket.
//
// A thread has two folders: "drop", which its agent's sandbox may write to, and "answers", which it may only read. A
// request is a pair of files in drop; the server stages the data and writes an answer of the same name. It guarantees:
//
//   - Whatever is put into drop is only data: no link is followed, only regular files of this user are read, and nothing
//     outside the two folders is read, written or removed.
//   - A request says what its data is, not whose: that follows from the folder.
//   - A token that Put returns is one that the server gave.
package drop

import (
	"crypto/rand"
	"encoding/hex"
	"strings"

	"orchestrator/thread"
)

const (
	answersFolder = "answers"
	partEnd       = ".part" // of data that is being written
	dataEnd       = ".data"
	requestEnd    = ".json" // of a request, which is written last, and of its answer
	maxRequest    = 64 << 10
	nameBytes     = 8
)

// answer is what the server says to a request.
type answer struct {
	Staged thread.Staged `json:"staged,omitzero"`
	Error  string        `json:"error,omitempty"`
}

func newName() string {
	var b [nameBytes]byte
	rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// nameOf returns the name of a request from that of one of its files, "" if it is another file.
func nameOf(file, end string) string {
	name, ok := strings.CutSuffix(file, end)
	if !ok || len(name) != hex.EncodedLen(nameBytes) || strings.Trim(name, "0123456789abcdef") != "" {
		return ""
	}
	return name
}
