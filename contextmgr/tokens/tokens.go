// Package tokens counts the tokens of a text as OpenAI's encodings do: exactly, and for the models of other providers as
// an estimate, from which Calibration learns by how much what the provider counts differs.
//
// The encodings are tiktoken-go's, read from what is embedded in the program and never from the network. For those of
// the models that talk, Counter is a fast path: a hand-written splitter produces the pieces that the encoding's regular
// expression would, and each piece is merged by the published ranks. It counts but does not encode. Time is n·log n for
// any text, whereas the library needs quadratic time for a long line without spaces; memory in addition to the ranks is
// a few words per byte of the longest piece, of which at most 256 KB are merged at a time. The library itself counts by
// the encodings of older models. Special tokens are counted as plain text, as providers count them in what people and
// tools write.
//
// Counts remembers counts by the hash of a text, and counts in the background: a request never waits for a count.
package tokens

import (
	"fmt"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/pkoukk/tiktoken-go"
	tiktoken_loader "github.com/pkoukk/tiktoken-go-loader"
)

// Default is the encoding of OpenAI's models since GPT-4o, and what other models are estimated by.
const Default = tiktoken.MODEL_O200K_BASE

// splitter returns the splitter that is equivalent to an encoding's regular expression, nil if there is none.
func splitter(encoding string) func(text string) int {
	switch encoding {
	case tiktoken.MODEL_O200K_BASE:
		return splitO200k
	case tiktoken.MODEL_CL100K_BASE:
		return splitCl100k
	default:
		return nil
	}
}

// Counter counts tokens. It is safe for concurrent use. It loads an encoding on its first use: about 10 MB for Default.
type Counter struct {
	mu    sync.Mutex
	by    map[string]*encoding
	spare sync.Pool // *merger
}

// encoding is loaded once. Either split and ranks are set, or library.
type encoding struct {
	load    sync.Once
	split   func(text string) int
	ranks   map[string]int
	library *tiktoken.Tiktoken
	err     error
}

// New returns a counter.
func New() *Counter {
	return &Counter{by: map[string]*encoding{}, spare: sync.Pool{New: func() any { return &merger{} }}}
}

// Load loads an encoding now, and returns an error if that fails.
func (c *Counter) Load(name string) error { return c.encoding(name).err }

func (c *Counter) encoding(name string) *encoding {
	c.mu.Lock()
	e := c.by[name]
	if e == nil {
		e = &encoding{}
		c.by[name] = e
	}
	c.mu.Unlock()
	e.load.Do(func() {
		if e.err = e.read(name); e.err != nil {
			e.err = fmt.Errorf("load the encoding %s: %w", name, e.err)
		}
	})
	return e
}

func (e *encoding) read(name string) (err error) {
	if e.split = splitter(name); e.split != nil {
		e.ranks, err = tiktoken_loader.NewOfflineLoader().LoadTiktokenBpe(name + ".tiktoken")
		return err
	}
	offline()
	e.library, err = tiktoken.GetEncoding(name)
	return err
}

// offline keeps the library from the network, for the whole process: it can be told in no other way.
var offline = sync.OnceFunc(func() { tiktoken.SetBpeLoader(tiktoken_loader.NewOfflineLoader()) })

// Count returns the number of tokens in a text by Default.
func (c *Counter) Count(text string) int { return c.CountBy(Default, text) }

// libraryPart is the length in bytes of the parts in which the library counts, since it needs quadratic time.
const libraryPart = 4 << 10

// longestPiece is the length in bytes up to which a piece of a text is merged as a whole, since that takes some 50 bytes
// of memory a byte.
const longestPiece = 256 << 10

// CountBy returns the number of tokens in a text by an encoding. More than 256 KB without a space is counted in parts: for
// each the sum may differ by a token or two. By one that the library counts itself, a text of more
// than 4 KB may differ by a token or two for each. For an encoding that cannot be loaded, it returns a quarter of the
// text's length in bytes; those of the library are embedded, so this does not happen.
func (c *Counter) CountBy(name, text string) (n int) {
	e := c.encoding(name)
	if e.err != nil {
		return (len(text) + 3) / 4
	}
	if !utf8.ValidString(text) {
		text = string([]rune(text)) // each invalid byte is one replacement character, as in the library
	}
	if e.split == nil {
		for len(text) > 0 {
			size := cut(text, libraryPart)
			n += len(e.library.EncodeOrdinary(text[:size]))
			text = text[size:]
		}
		return n
	}
	m := c.spare.Get().(*merger)
	defer c.spare.Put(m)
	for len(text) > 0 {
		size := e.split(text)
		for whole := text[:size]; whole != ""; {
			part := cut(whole, longestPiece)
			n += m.count(e.ranks, whole[:part])
			whole = whole[part:]
		}
		text = text[size:]
	}
	return n
}

// cut returns the length of the first part of a text, at most limit: all of a short one, otherwise to the end of a line if
// there is one near, and never to the middle of a character.
func cut(text string, limit int) int {
	if len(text) <= limit {
		return len(text)
	}
	near := limit - limit/16
	if at := strings.LastIndexByte(text[near:limit], '\n'); at >= 0 {
		return near + at + 1
	}
	for at := limit; at > limit-utf8.UTFMax; at-- {
		if utf8.RuneStart(text[at]) {
			return at
		}
	}
	return limit // not UTF-8
}
