package gemini

import (
	"bytes"
	"io"
	"os"
	"syscall"
)

// mostLoaded is how much of what follows in a chat file is searched at most.
const mostLoaded = 16 << 20

// loaded returns a function that reports whether Gemini CLI has loaded a session that it resumes. It shows its input
// before, and answers a prompt then without the conversation; that it has loaded it, it notes in the chat file.
func loaded(path, session string) func() bool {
	var before int64
	if info, err := os.Lstat(path); err == nil {
		before = info.Size()
	}
	note := []byte(`{"$set":{"sessionId":"` + session + `"`)
	done := false
	return func() bool {
		if !done {
			done = bytes.Contains(tail(path, before), note)
		}
		return done
	}
}

// tail returns what follows in a file, nil if it cannot be read.
func tail(path string, from int64) []byte {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	defer f.Close()
	b, err := io.ReadAll(io.NewSectionReader(f, from, mostLoaded))
	if err != nil {
		return nil
	}
	return b
}
