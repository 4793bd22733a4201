package wire

import (
	"encoding/json"
	"hash/maphash"
)

// Flags are what a codec wants to know of each item; their meaning is its own, but for ByModel.
type Flags uint8

// ByModel marks the items that the model wrote.
const ByModel Flags = 1 << 7

// Facts are what a codec reads in one item.
type Facts struct {
	// Listing is set if contents and calls are wanted, and not only flags.
	Listing bool
	Flags   Flags

	calls    []toolCall
	contents []fact
}

// toolCall is a call of a tool.
type toolCall struct {
	id, tool string
	input    json.RawMessage
}

// fact is a content whose span begins at the item's start once the item has been read. Its call is looked up at each
// scan, since another item has it.
type fact struct {
	content Content
	nth     int // of the results of its item
}

// AddResult adds the result of a call, of a form that FormOf returned or of another that can be replaced. Without the
// call's id, the nth result of an item answers the nth call of the item before it, if that is one of the named tool.
func (f *Facts) AddResult(c Content, nth int) {
	if c.Form != "" && c.Start < c.End {
		f.contents = append(f.contents, fact{c, nth})
	}
}

// AddCall adds a call. Its input is also a content if the place of it is given.
func (f *Facts) AddCall(id, tool string, input json.RawMessage, place *Span) {
	input = kept(input)
	f.calls = append(f.calls, toolCall{id, tool, input})
	if place != nil {
		f.contents = append(f.contents, fact{Content{Span: *place, Call: id, Tool: tool, Input: input, Form: FormInput}, 0})
	}
}

// reset forgets everything for the next item.
func (f *Facts) reset() {
	f.Flags, f.calls, f.contents = 0, nil, nil
}

// memory is what a scan knows of a conversation. It is not changed after the scan was made, so that scans share it.
type memory struct {
	format string
	seed   maphash.Seed
	depth  int // of the list of items
	items  []known
	// contents and calls are how many there are in all.
	contents, calls int
	tools           names
	system          digest
}

// names are the names in a list that has been read.
type names struct {
	size, depth int
	hash        uint64
	list        []string
}

// digest is what was made of the texts with a hash.
type digest struct {
	hash uint64
	text string
}

// known is an item that has been read.
type known struct {
	size  int
	hash  uint64
	flags Flags
	// person is the text of the person in it, nil if nobody asked for it.
	person *string
	facts  *itemFacts
}

// itemFacts are the calls and contents of an item, with spans that begin at its start.
type itemFacts struct {
	calls    []toolCall
	contents []fact
}
