// Package tokens counts the tokens of a text exactly as OpenAI's o200k encoding does (GPT-4o and later).
//
// It counts but does not encode: a hand-written splitter produces the pieces that the encoding's regular expression
// would, and each piece is merged by the published ranks. Time is n·log n for any text, whereas the usual libraries
// need quadratic time for a long line without spaces; memory in addition to the ranks is a few words per byte of the
// longest piece. Special tokens are counted as plain text. The tokenizers of other providers are not implemented: for
// their models the count is an estimate, and Calibration learns from what providers count by how much it is off.
//
// Counts remembers counts by the hash of a text, and counts in the background: a request never waits for a count.
package tokens

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/pkoukk/tiktoken-go-loader/assets"
)

// Counter counts tokens. It is safe for concurrent use; it loads the ranks, about 10 MB, on first use.
type Counter struct {
	load  sync.Once
	ranks map[string]uint32
	err   error

	spare sync.Pool // *merger
}

// New returns a counter.
func New() *Counter {
	c := &Counter{}
	c.spare.New = func() any { return &merger{} }
	return c
}

// Load loads the ranks now, and returns an error if that fails.
func (c *Counter) Load() error {
	c.load.Do(func() { c.ranks, c.err = loadRanks() })
	return c.err
}

// Count returns the number of tokens in a text. Without ranks (they are embedded, so this does not happen) it returns a
// quarter of the text's length in bytes.
func (c *Counter) Count(text string) int {
	if c.Load() != nil {
		return (len(text) + 3) / 4
	}
	if !utf8.ValidString(text) {
		text = string([]rune(text)) // each invalid byte is one replacement character, as in the encoding
	}
	m := c.spare.Get().(*merger)
	defer c.spare.Put(m)
	n := 0
	for len(text) > 0 {
		size := split(text)
		n += m.count(c.ranks, text[:size])
		text = text[size:]
	}
	return n
}

// loadRanks reads the encoding's published file: on each line, a token in base64 and its rank.
func loadRanks() (map[string]uint32, error) {
	file, err := assets.Assets.ReadFile("o200k_base.tiktoken")
	if err != nil {
		return nil, fmt.Errorf("load token ranks: %w", err)
	}
	ranks := make(map[string]uint32, bytes.Count(file, []byte("\n"))+1)
	// All tokens are slices of one string, so that the map costs one allocation for them.
	var all strings.Builder
	all.Grow(len(file) / 2)
	type entry struct {
		end  int
		rank uint32
	}
	entries := make([]entry, 0, bytes.Count(file, []byte("\n"))+1)
	buf := make([]byte, 1024)
	for line := range bytes.Lines(file) {
		token, number, ok := bytes.Cut(bytes.TrimSpace(line), []byte(" "))
		if !ok {
			continue
		}
		n, err := base64.StdEncoding.Decode(buf, token)
		if err != nil {
			return nil, fmt.Errorf("load token ranks: %w", err)
		}
		rank, err := strconv.ParseUint(string(number), 10, 32)
		if err != nil {
			return nil, fmt.Errorf("load token ranks: %w", err)
		}
		all.Write(buf[:n])
		entries = append(entries, entry{all.Len(), uint32(rank)})
	}
	text, start := all.String(), 0
	for _, en := range entries {
		ranks[text[start:en.end]] = en.rank
		start = en.end
	}
	return ranks, nil
}
