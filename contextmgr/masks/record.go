package masks

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"time"

	"orchestrator/contextmgr/policy"
	"orchestrator/thread"
)

// Mask is a content that is masked for good.
type Mask struct {
	ID     policy.ID `json:"id"`
	Tool   string    `json:"tool"`
	Lines  int       `json:"lines"`
	Tokens int64     `json:"tokens"`
	Input  bool      `json:"input,omitempty"`
	// Stub is the exact text in its place.
	Stub string `json:"stub"`
	// Token and File give the content back: File is the absolute path of a copy that the agent may read.
	Token thread.Token `json:"token"`
	File  string       `json:"file"`
	// Sum is the SHA-256 of the content, in hex, and Bytes its size.
	Sum   string `json:"sum"`
	Bytes int64  `json:"bytes"`
	// At, Reason and Request say when and why it was masked.
	At      time.Time `json:"at"`
	Reason  string    `json:"reason,omitempty"`
	Request int       `json:"request"`
}

// Summary stands for a part of a conversation.
type Summary struct {
	ID string `json:"id"`
	// First and Last are hashes of the first and the last item that it replaces, of Items in all.
	First string `json:"first"`
	Last  string `json:"last"`
	Items int    `json:"items"`
	Text  string `json:"text"`
	// Tokens is its own size, and Replaced the size of what it stands for.
	Tokens   int64     `json:"tokens"`
	Replaced int64     `json:"replaced"`
	Source   string    `json:"source,omitempty"` // who wrote it: a model, "extract", "you"
	At       time.Time `json:"at"`
	// Dropped is set if it is not used any more.
	Dropped bool `json:"dropped,omitempty"`
}

// The kinds of records.
const (
	kindMasks   = "masks"
	kindPin     = "pin"
	kindUnpin   = "unpin"
	kindMode    = "mode"
	kindSummary = "summary"
)

// record is one line of a log. A kind that is not known is of a newer build: it is left alone.
type record struct {
	Kind    string      `json:"kind"`
	Masks   []stored    `json:"masks,omitempty"`
	IDs     []policy.ID `json:"ids,omitempty"`
	Mode    string      `json:"mode,omitempty"`
	Summary *Summary    `json:"summary,omitempty"`
}

// stored is a mask with its content.
type stored struct {
	Mask
	Content []byte `json:"content"`
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// sumDigits is the length of the checksum at the beginning of a line: 8 hex digits of its CRC-32C, and a space.
const sumDigits = 9

// line encodes a record.
func (r record) line() ([]byte, error) {
	b, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("encode a record: %w", err)
	}
	out := fmt.Appendf(nil, "%08x ", crc32.Checksum(b, castagnoli))
	return append(append(out, b...), '\n'), nil
}

// parse decodes a line without its end.
func parse(line []byte) (record, error) {
	var r record
	if len(line) < sumDigits || line[sumDigits-1] != ' ' {
		return r, fmt.Errorf("%w: no checksum", thread.ErrDamaged)
	}
	sum, err := hex.DecodeString(string(line[:sumDigits-1]))
	body := line[sumDigits:]
	if err != nil || crc32.Checksum(body, castagnoli) != uint32(sum[0])<<24|uint32(sum[1])<<16|uint32(sum[2])<<8|uint32(sum[3]) {
		return r, fmt.Errorf("%w: wrong checksum", thread.ErrDamaged)
	}
	if err := json.Unmarshal(body, &r); err != nil {
		return r, fmt.Errorf("%w: %w", thread.ErrDamaged, err)
	}
	return r, nil
}

// position is where a record is in a log.
type position struct{ at, size int64 }

// scan reads a log and calls each for every whole record. It returns where the last line with an end ends, and how many
// records are damaged.
func scan(r io.Reader, each func(record, position)) (end int64, damaged int, err error) {
	in := bufio.NewReaderSize(r, 64<<10)
	for {
		line, err := in.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return end, damaged, nil // a line without an end was cut off by a crash
		}
		if err != nil {
			return end, damaged, err
		}
		rec, err := parse(bytes.TrimSuffix(line, []byte("\n")))
		if err != nil {
			damaged++
		} else {
			each(rec, position{end, int64(len(line))})
		}
		end += int64(len(line))
	}
}

// sumOf returns the hash of a content.
func sumOf(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}
