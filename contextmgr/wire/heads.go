package wire

import (
	"encoding/binary"
	"encoding/json"
	"hash/maphash"
	"slices"

	"orchestrator/contextmgr/wire/span"
)

// Tools reads a list of tools, whose names the function appends. A list that the earlier scan knows is not parsed.
func (r *ItemReader) Tools(c *span.Cursor, to *[]string, read func(c *span.Cursor) error) error {
	if !r.listing {
		return read(c)
	}
	if r.earlier != nil {
		was := r.earlier.tools
		same := func(b []byte) bool { return maphash.Bytes(r.seed, b) == was.hash }
		if was.depth == c.Depth() {
			if _, ok := c.Known(was.size, same); ok {
				r.tools = was
				*to = append(*to, was.list...)
				return nil
			}
		}
	}
	before := len(*to)
	raw, err := c.Span(func() error { return read(c) })
	if err != nil {
		return err
	}
	r.tools = names{len(raw), c.Depth(), maphash.Bytes(r.seed, raw), slices.Clone((*to)[before:])}
	return nil
}

// maxDigest is the size limit of what is remembered of the instructions.
const maxDigest = 64 << 10

// Digest returns what the function makes of the agent's instructions. It is not called if the earlier scan knows the
// result for the same ones.
func (r *ItemReader) Digest(instructions []json.RawMessage, read func() string) string {
	if !r.listing {
		return read()
	}
	var h maphash.Hash
	h.SetSeed(r.seed)
	for _, raw := range instructions {
		var size [8]byte
		binary.LittleEndian.PutUint64(size[:], uint64(len(raw)))
		_, _ = h.Write(size[:]) // never fails
		_, _ = h.Write(raw)
	}
	hash := h.Sum64()
	if r.earlier != nil && r.earlier.system.hash == hash {
		r.system = r.earlier.system
		return r.system.text
	}
	text := read()
	if len(text) <= maxDigest {
		r.system = digest{hash, text}
	}
	return text
}
