// Package tokens counts the tokens of a text exactly as OpenAI's o200k and cl100k encodings do.
//
// It counts and does not encode: a splitter written by hand takes the pieces that the encodings'
// regular expressions would, and each piece is merged over the published ranks. Time is bounded
// by n·log n for any text, where the usual libraries need quadratic time for a long line without
// spaces; memory beyond the ranks is a few words a byte of the longest piece. Special tokens are
// counted as the text they are. Other providers' tokenizers are not known here: for their models
// the count is an estimate.
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

// Encoding names a set of ranks and a way to split.
type Encoding string

// The encodings.
const (
	O200K  Encoding = "o200k_base"  // GPT-4o and later
	CL100K Encoding = "cl100k_base" // GPT-4, GPT-3.5
)

// String returns the encoding's published name.
func (e Encoding) String() string { return string(e) }

// For returns the encoding of a model. Those of other providers get the newest, which is nearest
// to all of them.
func For(model string) Encoding {
	model = strings.ToLower(model[strings.LastIndexByte(model, '/')+1:])
	if strings.HasPrefix(model, "gpt-3.5") || model == "gpt-4" || strings.HasPrefix(model, "gpt-4-") || strings.HasPrefix(model, "text-embedding") {
		return CL100K
	}
	return O200K
}

// Counter counts tokens in one encoding. It is safe for concurrent use; the ranks are loaded when
// it is first asked, some 10 MB.
type Counter struct {
	encoding Encoding
	split    func(text string) int

	load  sync.Once
	ranks map[string]uint32
	err   error

	spare sync.Pool // *merger
}

// New returns a counter.
func New(e Encoding) *Counter {
	c := &Counter{encoding: e, split: splitO200K}
	if e == CL100K {
		c.split = splitCL100K
	}
	c.spare.New = func() any { return &merger{} }
	return c
}

// Load loads the ranks now and says whether that works.
func (c *Counter) Load() error {
	c.load.Do(func() { c.ranks, c.err = loadRanks(c.encoding) })
	return c.err
}

// Count returns the number of tokens of a text. Without ranks, which come with the program, it
// would return a quarter of the text's bytes.
func (c *Counter) Count(text string) int {
	if c.Load() != nil {
		return (len(text) + 3) / 4
	}
	if !utf8.ValidString(text) {
		text = string([]rune(text)) // each bad byte is one replacement character, as in the encodings
	}
	m := c.spare.Get().(*merger)
	defer c.spare.Put(m)
	n := 0
	for len(text) > 0 {
		size := c.split(text)
		n += m.count(c.ranks, text[:size])
		text = text[size:]
	}
	return n
}

// loadRanks reads the published file of an encoding: a token in base64 and its rank on each line.
func loadRanks(e Encoding) (map[string]uint32, error) {
	file, err := assets.Assets.ReadFile(string(e) + ".tiktoken")
	if err != nil {
		return nil, fmt.Errorf("load ranks of %s: %w", e, err)
	}
	ranks := make(map[string]uint32, bytes.Count(file, []byte("\n"))+1)
	// All tokens stand in one string, so that the map costs one allocation for them.
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
			return nil, fmt.Errorf("load ranks of %s: %w", e, err)
		}
		rank, err := strconv.ParseUint(string(number), 10, 32)
		if err != nil {
			return nil, fmt.Errorf("load ranks of %s: %w", e, err)
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
