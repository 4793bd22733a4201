package pack

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"orchestrator/thread"
)

// Row is a checkpoint as a row of a table.
type Row struct {
	N      int64 // number of the row, set by the database
	ID     thread.CheckpointID
	Thread int64 // number of the thread's row, which may be gone
	Parent int64 // number of the parent's row, 0 for none
	Seq    int64
	Turn   int
	Kind   thread.CheckpointKind
	Items  int
	// Chain is how many records before this one, from parent to parent, are in its group.
	Chain int
	// Raw is the plain size of this record.
	Raw  int
	Sum  []byte // see Seal
	Data []byte // the record's piece of its group's frame
}

// Seal returns the sum to store with a record: over its plain bytes and the number that the store gave it.
func Seal(plain [sha256.Size]byte, seq int64) []byte {
	var b [8 + sha256.Size]byte
	binary.BigEndian.PutUint64(b[:], uint64(seq))
	copy(b[8:], plain[:])
	s := sha256.Sum256(b[:])
	return s[:]
}

// head is the described part of a record. Its JSON names are part of the format.
type head struct {
	Checkpoint thread.Checkpoint `json:"c"` // without Seq, which the row has
	Keep       int               `json:"k,omitempty"`
	Items      []itemEntry       `json:"i,omitempty"`
	Files      []fileEntry       `json:"f,omitempty"`
	// Marks are those of the files that this record changed, or of all if Full is set. Age counts the records since the
	// last one that had all.
	Marks []markEntry `json:"m,omitempty"`
	Full  bool        `json:"u,omitempty"`
	Age   int         `json:"g,omitempty"`
}

// itemEntry is one new item of Len bytes, or a run of Count items of the parent's conversation.
type itemEntry struct {
	Wire  string `json:"w,omitempty"`
	Len   int    `json:"l,omitempty"`
	From  int    `json:"r,omitempty"`
	Count int    `json:"n,omitempty"`
}

// fileEntry is the new content of one file: the first At bytes of the old one, then Len new ones; or, if parts of the
// old one are repeated, triples in Runs: number of new bytes, then from, count of the old.
type fileEntry struct {
	Name string  `json:"n"`
	At   int64   `json:"a,omitempty"`
	Len  int64   `json:"l,omitempty"`
	Runs []int64 `json:"o,omitempty"`
}

type markEntry struct {
	Name string `json:"n"`
	Size int64  `json:"s"`
	Hash string `json:"h"`
}

// record is an unpacked row.
type record struct {
	row  Row
	head head
	raw  []byte // head and body, as compressed
	body []byte // of raw: new items, then new bytes of files, in the head's order
}

// plain is a record before compression, in pieces.
type plain [][]byte

// join makes a record from a head and a body.
func join(h head, body ...[]byte) (plain, error) {
	doc, err := json.Marshal(h)
	if err != nil {
		return nil, fmt.Errorf("pack checkpoint: %w", err)
	}
	return append(plain{binary.AppendUvarint(nil, uint64(len(doc))), doc}, body...), nil
}

func (p plain) size() (n int) {
	for _, piece := range p {
		n += len(piece)
	}
	return n
}

func (p plain) sum() (sum [sha256.Size]byte) {
	h := sha256.New()
	for _, piece := range p {
		h.Write(piece)
	}
	h.Sum(sum[:0])
	return sum
}

// open checks a record's plain bytes and splits them.
func open(row Row, raw []byte) (*record, error) {
	damaged := func(what string) error {
		return fmt.Errorf("checkpoint %s: %s: %w", row.ID, what, thread.ErrDamaged)
	}
	if string(Seal(sha256.Sum256(raw), row.Seq)) != string(row.Sum) {
		return nil, damaged("content does not match its hash")
	}
	size, n := binary.Uvarint(raw)
	if n <= 0 || size > uint64(len(raw)-n) {
		return nil, damaged("record has no head")
	}
	r := &record{row: row, raw: raw, body: raw[n+int(size):]}
	if err := json.Unmarshal(raw[n:n+int(size)], &r.head); err != nil {
		return nil, damaged(err.Error())
	}
	c := &r.head.Checkpoint
	if c.ID != row.ID || c.Items != row.Items || c.Turn != row.Turn || c.Kind != row.Kind {
		return nil, damaged("row does not match its record")
	}
	c.Seq = row.Seq
	if err := r.check(); err != nil {
		return nil, damaged(err.Error())
	}
	return r, nil
}

// check makes sure that the head's lengths add up to the body, so that readers cannot go out of bounds.
func (r *record) check() error {
	left, items := int64(len(r.body)), r.head.Keep
	take := func(n int64) bool {
		left -= n
		return n >= 0 && left >= 0
	}
	for _, e := range r.head.Items {
		if e.Count < 0 || e.From < 0 || !take(int64(e.Len)) {
			return fmt.Errorf("items and body differ")
		}
		items += max(e.Count, 1)
		if e.Count > 0 && e.Len > 0 {
			return fmt.Errorf("item is new and old")
		}
	}
	if items != r.head.Checkpoint.Items || r.head.Keep < 0 {
		return fmt.Errorf("items do not add up")
	}
	for _, f := range r.head.Files {
		ok := f.At >= 0 && len(f.Runs)%3 == 0 && take(f.Len)
		for i := 0; ok && i < len(f.Runs); i += 3 {
			ok = f.Runs[i+1] >= 0 && f.Runs[i+2] >= 0 && take(f.Runs[i])
		}
		if !ok {
			return fmt.Errorf("file %q and body differ", f.Name)
		}
	}
	if left != 0 {
		return fmt.Errorf("%d bytes belong to nothing", left)
	}
	return nil
}

func (r *record) marks() map[string]fileState {
	out := make(map[string]fileState, len(r.head.Marks))
	for _, m := range r.head.Marks {
		s := fileState{size: m.Size}
		if _, err := hex.Decode(s.sum[:], []byte(m.Hash)); err == nil {
			out[m.Name] = s
		}
	}
	return out
}
