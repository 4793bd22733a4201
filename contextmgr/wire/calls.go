package wire

import "encoding/json"

// callIndex finds the calls that results answer, among those of the items that have been read.
type callIndex struct {
	all     []toolCall
	indexed int            // how many of them are in newest
	newest  map[string]int // by id
	before  []toolCall     // of the item before
}

// lookBack is how many calls are compared one by one. Results follow their calls closely.
const lookBack = 32

// next adds the calls of an item that has been read.
func (x *callIndex) next(calls []toolCall) {
	x.all = append(x.all, calls...)
	x.before = calls
}

// of returns the tool and the input of the call that a result answers: the newest with its id, or the one at its place
// in the item before. They are empty if there is none.
func (x *callIndex) of(f *fact) (tool string, input json.RawMessage) {
	if f.content.Call == "" {
		if f.nth < len(x.before) && x.before[f.nth].tool == f.content.Tool {
			return x.before[f.nth].tool, x.before[f.nth].input
		}
		return "", nil
	}
	last := max(0, len(x.all)-lookBack)
	for i := len(x.all) - 1; i >= last; i-- {
		if x.all[i].id == f.content.Call {
			return x.all[i].tool, x.all[i].input
		}
	}
	if x.newest == nil {
		x.newest = make(map[string]int, len(x.all))
	}
	for ; x.indexed < len(x.all); x.indexed++ {
		x.newest[x.all[x.indexed].id] = x.indexed
	}
	if i, ok := x.newest[f.content.Call]; ok {
		return x.all[i].tool, x.all[i].input
	}
	return "", nil
}

// intern returns the same string for the same name of a tool, if it was called lately.
func (x *callIndex) intern(name string) string {
	last := max(0, len(x.all)-lookBack)
	for i := len(x.all) - 1; i >= last; i-- {
		if x.all[i].tool == name {
			return x.all[i].tool
		}
	}
	return name
}
