package workfile

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"orchestrator/thread"
)

// place is where the JSON of a line lies in a file.
type place struct{ at, size int64 }

// index is what lies where in a file, each kind in the file's order.
type index struct {
	of   map[byte][]place
	lost int // lines that do not match their hash
}

// encode makes a line.
func encode(kind byte, w any) ([]byte, error) {
	doc, err := json.Marshal(w)
	if err != nil {
		return nil, err
	}
	rest := append([]byte{kind, ' '}, doc...)
	line := append([]byte(sum(rest)), ' ')
	return append(append(line, rest...), '\n'), nil
}

func sum(b []byte) string {
	h := sha256.Sum256(b)
	return hex.EncodeToString(h[:])[:sumSize]
}

// scan reads all lines and keeps where those are that verify.
func scan(r io.Reader) (index, error) {
	in, found, at := bufio.NewReaderSize(r, 1<<20), index{of: map[byte][]place{}}, int64(0)
	rows := 0
	for first := true; ; first = false {
		line, size, err := next(in)
		if err != nil && !errors.Is(err, io.EOF) {
			return found, err
		}
		whole := err == nil // it ends with a newline
		switch {
		case first && string(line) != head:
			if kind, version, _ := strings.Cut(head, " "); strings.HasPrefix(string(line), kind+" ") && string(line) != kind+" "+version {
				return found, thread.Hint(fmt.Errorf("%q is not supported, this program reads %q: %w",
					thread.Excerpt(string(line)), head, thread.ErrUnsupported), "upgrade orchestrator")
			}
			return found, thread.Kindf(thread.ErrInvalid, "not a record of work")
		case first:
		case size == 0 && !whole:
			return found, nil
		case whole && sound(line):
			if rows++; rows > maxRows {
				return found, thread.Kindf(thread.ErrInvalid, "a record of more than %d rows", maxRows)
			}
			found.of[line[sumSize+1]] = append(found.of[line[sumSize+1]], place{at + sumSize + 3, size - sumSize - 3})
		default:
			found.lost++
		}
		at += size + 1
		if !whole {
			return found, nil
		}
	}
}

// next returns a line without its newline, nil if it is too long, and its size.
func next(in *bufio.Reader) (line []byte, size int64, err error) {
	for {
		part, err := in.ReadSlice('\n')
		if size += int64(len(part)); size <= maxLine {
			line = append(line, part...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if err != nil {
			return line, size, err
		}
		if size > maxLine {
			return nil, size - 1, nil
		}
		return line[:len(line)-1], size - 1, nil
	}
}

// sound reports whether a line is of a known kind and matches its hash.
func sound(line []byte) bool {
	if len(line) < sumSize+4 || line[sumSize] != ' ' || line[sumSize+2] != ' ' ||
		!strings.ContainsRune(string([]rune{lineExecution, lineBundle, lineSession, lineTask, lineHanded, lineArmed}), rune(line[sumSize+1])) {
		return false
	}
	return sum(line[sumSize+1:]) == string(line[:sumSize])
}

// bounded refuses JSON that takes far more memory than it has bytes, or that is nested as none of ours.
func bounded(doc []byte) error {
	depth, parts, quoted, escaped := 0, 0, false, false
	for _, c := range doc {
		switch {
		case escaped:
			escaped = false
		case quoted:
			escaped, quoted = c == '\\', c != '"'
		case c == '"':
			quoted = true
		case c == '{' || c == '[':
			depth++
			parts += heavy
		case c == '}' || c == ']':
			depth--
		case c == ',':
			parts++
		}
		if depth > maxDepth || parts > maxParts {
			return thread.Kindf(thread.ErrInvalid, "a line with too many parts")
		}
	}
	return nil
}

// Check reads all of a file, or of a part of it, and refuses one that is none of ours or of a newer version.
func Check(r io.Reader) error {
	_, err := scan(r)
	return err
}
