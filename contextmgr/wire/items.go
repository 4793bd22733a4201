package wire

import (
	"crypto/sha256"
	"encoding/json"
	"hash/maphash"
	"strings"

	"orchestrator/contextmgr/wire/span"
	"orchestrator/thread"
)

// ItemReader reads the items of a request for a codec. Items that an earlier scan knows, by their place and all their
// bytes, are taken over from it without being parsed.
type ItemReader struct {
	format  string
	listing bool
	earlier *memory // nil if there is none

	items    []thread.Item
	spans    []Span
	facts    []known
	contents []Content
	list     Span
	lists    int // how often a list was there
	depth    int
	seed     maphash.Seed
	calls    callIndex
	scratch  Facts
	tools    names
	system   digest
	prompted int // item with the person's newest text, -1
}

// NewItemReader returns a reader that only reads what a request needs.
func NewItemReader(format string) *ItemReader { return &ItemReader{format: format, prompted: -1} }

// more is how many items more than the one before a request usually has at most.
const more = 8

// NewListing returns a reader that also lists contents; earlier may be nil.
func NewListing(format string, earlier *Scan) *ItemReader {
	r := &ItemReader{format: format, listing: true, prompted: -1}
	if earlier != nil && earlier.known != nil && earlier.known.format == format {
		r.earlier, r.seed = earlier.known, earlier.known.seed
		n := len(r.earlier.items) + more
		r.items, r.spans, r.facts = make([]thread.Item, 0, n), make([]Span, 0, n), make([]known, 0, n)
		r.contents = make([]Content, 0, r.earlier.contents+more)
		r.calls.all = make([]toolCall, 0, r.earlier.calls+more)
	} else {
		r.seed = maphash.MakeSeed()
	}
	return r
}

// Read reads the list of items at the cursor. The function reads one item and says what is in it.
func (r *ItemReader) Read(c *span.Cursor, read func(c *span.Cursor, f *Facts) error) error {
	r.lists++
	isList := c.Kind() == '['
	start := c.Offset() + 1
	r.depth = c.Depth()
	err := c.Array(func(c *span.Cursor) error { return r.item(c, read) })
	if err == nil && isList {
		r.list = Span{start, c.Offset() - 1}
	}
	return err
}

// Single reads a request that has a value in place of the list: its only item is made from it.
func (r *ItemReader) Single(value Value, item json.RawMessage, flags Flags) {
	r.lists++
	r.items = []thread.Item{{Wire: r.format, Raw: item}}
	r.spans = []Span{value.Span()}
	r.facts = []known{{flags: flags}}
	r.contents = nil
}

// item reads one item.
func (r *ItemReader) item(c *span.Cursor, read func(c *span.Cursor, f *Facts) error) error {
	if raw, k, ok := r.again(c); ok {
		r.add(c, raw, k)
		return nil
	}
	f := &r.scratch
	f.reset()
	f.Listing = r.listing
	raw, err := c.Span(func() error { return read(c, f) })
	if err != nil {
		return err
	}
	k := known{flags: f.Flags}
	if r.listing {
		k.size, k.hash = len(raw), maphash.Bytes(r.seed, raw)
		k.facts = r.fixed(f, raw, c.Offset()-len(raw))
	}
	r.add(c, raw, k)
	return nil
}

// again takes over the next item from the earlier scan, if that knows it.
func (r *ItemReader) again(c *span.Cursor) (json.RawMessage, known, bool) {
	at := len(r.items)
	if r.earlier == nil || at >= len(r.earlier.items) || r.depth != r.earlier.depth {
		return nil, known{}, false
	}
	k := r.earlier.items[at]
	raw, ok := c.Known(k.size, func(b []byte) bool { return maphash.Bytes(r.seed, b) == k.hash })
	return raw, k, ok
}

// fixed returns what is kept of an item that was just read; nil if it has neither calls nor contents.
func (r *ItemReader) fixed(f *Facts, raw json.RawMessage, start int) *itemFacts {
	if len(f.calls) == 0 && len(f.contents) == 0 {
		return nil
	}
	own := &itemFacts{calls: f.calls}
	for i := range own.calls {
		own.calls[i].tool = r.calls.intern(own.calls[i].tool)
	}
	own.contents = f.contents[:0]
	end := 0
	for _, c := range f.contents {
		c.content.Start, c.content.End = c.content.Start-start, c.content.End-start
		if c.content.Start < end || c.content.End > len(raw) {
			continue // out of order
		}
		end = c.content.End
		c.content.Sum = sha256.Sum256(c.content.Of(raw))
		c.content.Tool = r.calls.intern(c.content.Tool)
		own.contents = append(own.contents, c)
	}
	return own
}

// add adds an item that ends at the cursor.
func (r *ItemReader) add(c *span.Cursor, raw json.RawMessage, k known) {
	start := c.Offset() - len(raw)
	r.items = append(r.items, thread.Item{Wire: r.format, Raw: raw})
	r.facts = append(r.facts, k)
	if !r.listing {
		return
	}
	r.spans = append(r.spans, Span{start, c.Offset()})
	if k.facts == nil {
		r.calls.next(nil)
		return
	}
	for i := range k.facts.contents {
		f := &k.facts.contents[i]
		r.contents = append(r.contents, f.content)
		content := &r.contents[len(r.contents)-1]
		content.Start, content.End, content.Item = content.Start+start, content.End+start, len(r.items)-1
		if content.Form != FormInput {
			content.Tool, content.Input = r.calls.of(f)
		}
	}
	r.calls.next(k.facts.calls)
}

// Items returns the items.
func (r *ItemReader) Items() []thread.Item { return orNil(r.items) }

// orNil returns nil for a list that was made but not used.
func orNil[T any](list []T) []T {
	if len(list) == 0 {
		return nil
	}
	return list
}

// Has reports whether an item has a flag.
func (r *ItemReader) Has(item int, flag Flags) bool { return r.facts[item].flags&flag != 0 }

// Prompt returns the person's newest text: of the items with the flag, which may contain a person's text, the last that
// does, as reported by the codec's own reader.
func (r *ItemReader) Prompt(flag Flags, person func(json.RawMessage) string) string {
	for i := len(r.facts) - 1; i >= 0; i-- {
		k := &r.facts[i]
		if k.flags&flag == 0 {
			continue
		}
		if k.person == nil {
			text := strings.Clone(person(r.items[i].Raw)) // it may be a small part of a long text
			k.person = &text
		}
		if *k.person != "" {
			r.prompted = i
			return *k.person
		}
	}
	return ""
}

// Fresh reports whether the model has written nothing after the text that Prompt returned.
func (r *ItemReader) Fresh() bool {
	for i := r.prompted; i >= 0 && i < len(r.facts); i++ {
		if r.facts[i].flags&ByModel != 0 {
			return false
		}
	}
	return r.prompted >= 0
}

// Scan returns the scan of a request that was read without an error.
func (r *ItemReader) Scan(request Request) *Scan {
	s := &Scan{Request: request, Items: orNil(r.spans), Prompted: r.prompted}
	if r.lists == 1 {
		s.Contents, s.List = orNil(r.contents), r.list
		s.known = &memory{format: r.format, seed: r.seed, depth: r.depth, items: r.facts,
			contents: len(r.contents), calls: len(r.calls.all), tools: r.tools, system: r.system}
	}
	return s
}
