package tokens

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"math"
)

// The file of the counts: a line that names the format and the encoding, the bytes and tokens of the ratio, the counts
// from the oldest to the newest, and the SHA-256 of all that.
const (
	countsMagic = "counts 1 o200k\n"
	entrySize   = len(key{}) + 4
	countsHead  = len(countsMagic) + 16
)

// errCounts means that the content is not what encodeCounts returned.
var errCounts = errors.New("damaged, or of another version")

// encodeCounts returns the content of the file.
func encodeCounts(lists [2][]entry, r ratio) []byte {
	out := make([]byte, 0, countsHead+(len(lists[0])+len(lists[1]))*entrySize+sha256.Size)
	out = append(out, countsMagic...)
	out = binary.LittleEndian.AppendUint64(out, math.Float64bits(r.bytes))
	out = binary.LittleEndian.AppendUint64(out, math.Float64bits(r.tokens))
	for _, list := range lists {
		for _, e := range list {
			out = append(out, e.key[:]...)
			out = binary.LittleEndian.AppendUint32(out, e.n)
		}
	}
	sum := sha256.Sum256(out)
	return append(out, sum[:]...)
}

// decodeCounts reads the content of the file, and calls take for each count, from the oldest to the newest. With an
// error it has called nothing.
func decodeCounts(b []byte, take func(entry)) (ratio, error) {
	end := len(b) - sha256.Size
	if end < countsHead || (end-countsHead)%entrySize != 0 || !bytes.HasPrefix(b, []byte(countsMagic)) {
		return ratio{}, errCounts
	}
	if sum := sha256.Sum256(b[:end]); !bytes.Equal(sum[:], b[end:]) {
		return ratio{}, errCounts
	}
	float := func(at int) float64 { return math.Float64frombits(binary.LittleEndian.Uint64(b[at:])) }
	r := ratio{bytes: float(len(countsMagic)), tokens: float(len(countsMagic) + 8)}
	if !r.sane() {
		return ratio{}, errCounts
	}
	for at := countsHead; at < end; at += entrySize {
		take(entry{key(b[at : at+len(key{})]), binary.LittleEndian.Uint32(b[at+len(key{}):])})
	}
	return r, nil
}
