package masks

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash/crc32"

	"orchestrator/contextmgr/policy"
	"orchestrator/thread"
)

// The kinds of records.
const (
	kindBegin   = "begin" // of a fork: what it has from its parent follows
	kindMask    = "mask"
	kindPin     = "pin"
	kindUnpin   = "unpin"
	kindMode    = "mode"
	kindSummary = "summary"
)

// record is an entry of a log. One of a kind that is not known is from a newer build: it is left alone.
type record struct {
	Kind string `json:"kind"`
	// Part is its number in a batch of Parts records, from 0. Both are 0 if it is alone.
	Part  int `json:"part,omitempty"`
	Parts int `json:"parts,omitempty"`
	// Needs names other threads whose outputs it needs, besides the home of its mask. A newer build may set it, whatever
	// the kind is.
	Needs []thread.ID `json:"needs,omitempty"`

	Parent  thread.ID `json:"parent,omitempty"`
	Mask    *Mask     `json:"mask,omitempty"`
	ID      policy.ID `json:"id,omitempty"` // of what is pinned
	Mode    string    `json:"mode,omitempty"`
	Summary *Summary  `json:"summary,omitempty"`

	packed []byte // the content of a mask, compressed and in base64
}

// last reports whether a batch ends with the record.
func (r record) last() bool { return r.Part+1 >= r.Parts }

// A line is the CRC-32C of its JSON in 8 hex digits, a space and the JSON; then, if the record has a content, a tab and
// the content. The content has no checksum here but that of its mask, so that a mask outlives damage to its content.
const (
	sumDigits = 2 * crc32.Size
	beforePad = sumDigits + 1
)

// appendLine appends a record as a line.
func appendLine(b []byte, r record) ([]byte, error) {
	text, err := json.Marshal(r)
	if err != nil {
		return b, fmt.Errorf("encode a record: %w", err)
	}
	b = hex.AppendEncode(b, binary.BigEndian.AppendUint32(nil, crc32.Checksum(text, table())))
	b = append(append(b, ' '), text...)
	if r.packed != nil {
		b = append(append(b, '\t'), r.packed...)
	}
	return append(b, '\n'), nil
}

// parseLine parses a line without its end. The content is a part of the line.
func parseLine(line []byte) (record, error) {
	var r record
	head, packed, has := bytes.Cut(line, []byte{'\t'})
	if len(head) < beforePad || head[sumDigits] != ' ' {
		return r, fmt.Errorf("no checksum: %w", thread.ErrDamaged)
	}
	text := head[beforePad:]
	want := hex.AppendEncode(nil, binary.BigEndian.AppendUint32(nil, crc32.Checksum(text, table())))
	if !bytes.Equal(want, head[:sumDigits]) {
		return r, fmt.Errorf("wrong checksum: %w", thread.ErrDamaged)
	}
	if err := json.Unmarshal(text, &r); err != nil {
		return r, fmt.Errorf("%w: %w", thread.ErrDamaged, err)
	}
	if has {
		r.packed = packed
	}
	return r, r.check()
}

// check refuses a record that cannot have been stored.
func (r record) check() error {
	var err error
	ok := r.Kind != "" && r.Part >= 0 && (r.Part < r.Parts || r.Part == 0 && r.Parts == 0)
	switch r.Kind {
	case kindMask:
		if ok = ok && r.Mask != nil; ok {
			err = r.Mask.check()
		}
	case kindPin, kindUnpin:
		ok = ok && r.ID != ""
	case kindSummary:
		if ok = ok && r.Summary != nil; ok {
			err = r.Summary.check()
		}
	}
	if !ok || err != nil {
		return fmt.Errorf("a record of kind %.20q: %w", r.Kind, thread.ErrDamaged)
	}
	return nil
}

// encode returns a content as it is in a line.
func encode(packed []byte) []byte { return base64.StdEncoding.AppendEncode([]byte{}, packed) }

// decode is the reverse of encode.
func decode(text []byte) ([]byte, error) { return base64.StdEncoding.AppendDecode(nil, text) }

func table() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }
