package masks

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"orchestrator/thread"
)

// Draw makes a store use the tokens of a test.
func (s *Store) Draw(draw func() thread.Token) { s.shelf.tokens.draw = draw }

// Loaded returns how many sets are in memory.
func (s *Store) Loaded() int { return len(s.loaded()) }

// Keep is how many sets stay in memory that nothing uses.
const Keep = keep

// Line returns a line of a log with a JSON.
func Line(text string) []byte {
	var sum [crc32.Size]byte
	binary.BigEndian.PutUint32(sum[:], crc32.Checksum([]byte(text), table()))
	return fmt.Appendf(nil, "%x %s\n", sum, text)
}
