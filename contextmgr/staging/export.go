package staging

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"orchestrator/contextmgr/carried"
	"orchestrator/thread"
)

// Limits of an export. What is larger is left out of it; what an import gets beyond them is refused.
const (
	maxCarried = 64 << 20  // an entry
	maxTotal   = 256 << 20 // all of them
	maxEntries = 1000
)

// exported describes an entry of an export. In the stream come the size of its JSON, its JSON and the data.
type exported struct {
	Token   thread.Token    `json:"token"`
	Kind    thread.DataKind `json:"kind"`
	Source  string          `json:"source,omitempty"`
	Labels  []string        `json:"labels,omitempty"`
	Seconds int64           `json:"seconds"` // time to live
	Bytes   int64           `json:"bytes"`
	SHA256  string          `json:"sha256"`
}

// Carried returns which of these tokens an export has, without those that are unknown or expired, and how many entries
// are left out because they are too large or too many.
func (s *Store) Carried(tokens []thread.Token) (carried []thread.Token, leftOut int, err error) {
	var total int64
	for _, t := range tokens {
		d, err := s.lookUp(t)
		switch {
		case errors.Is(err, thread.ErrNotFound), errors.Is(err, thread.ErrExpired), errors.Is(err, thread.ErrDamaged):
			continue
		case err != nil:
			return nil, 0, err
		case d.Bytes > maxCarried || total+d.Bytes > maxTotal || len(carried) == maxEntries:
			leftOut++
			continue
		}
		total += d.Bytes
		carried = append(carried, t)
	}
	return carried, leftOut, nil
}

// Export writes entries, so that Import has them in another store. redact is applied to data that is not binary. What was
// removed since Carried is left out.
func (s *Store) Export(w io.Writer, tokens []thread.Token, redact func([]byte) []byte) error {
	out := bufio.NewWriterSize(w, chunk)
	for _, t := range tokens {
		d, data, err := s.load(t)
		if errors.Is(err, thread.ErrNotFound) || errors.Is(err, thread.ErrExpired) || errors.Is(err, thread.ErrDamaged) {
			continue
		}
		if err == nil {
			err = writeEntry(out, d, data, redact)
		}
		if err != nil {
			return fmt.Errorf("export %s: %w", t, err)
		}
	}
	return out.Flush()
}

// load returns an entry with its data.
func (s *Store) load(t thread.Token) (d document, data []byte, err error) {
	if d, err = s.lookUp(t); err != nil {
		return d, nil, err
	}
	file, err := s.open(d)
	if err != nil {
		return d, nil, err
	}
	defer file.Close()
	var b bytes.Buffer
	r := reading{file: file, name: file.Name(), size: d.Bytes, sum: d.SHA256}
	_, err = r.WriteTo(&b)
	return d, b.Bytes(), err
}

func writeEntry(w io.Writer, d document, data []byte, redact func([]byte) []byte) error {
	if d.Kind != thread.DataBinary {
		data = redact(data)
	}
	sum := sha256.Sum256(data)
	e := exported{
		Token: d.Token, Kind: d.Kind, Source: string(redact([]byte(d.Source))), Seconds: int64(d.TTL.Seconds()),
		Bytes: int64(len(data)), SHA256: hex.EncodeToString(sum[:]),
	}
	for _, l := range d.Labels {
		e.Labels = append(e.Labels, string(redact([]byte(l))))
	}
	head, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("describe it: %w", err)
	}
	return carried.Write(w, head, data)
}
