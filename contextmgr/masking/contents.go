package masking

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"

	"orchestrator/contextmgr/policy"
	"orchestrator/contextmgr/wire"
)

// key is what a content is: of which call and tool, and its bytes. Contents without a call are told apart by their order
// among the same ones.
type key struct {
	call, tool string
	form       wire.Form
	sum        [sha256.Size]byte
	nth        int
}

// keyOf returns the key of a content; seen counts those without a call.
func keyOf(c wire.Content, seen map[key]int) key {
	k := key{call: c.Call, tool: c.Tool, form: c.Form, sum: c.Sum}
	if c.Call == "" {
		k.nth, seen[k] = seen[k], seen[k]+1
	}
	return k
}

// id returns the name of a content for good.
func (k key) id() policy.ID {
	h := sha256.New()
	for _, s := range []string{k.call, k.tool, string(k.form)} {
		h.Write([]byte(strconv.Itoa(len(s)) + ":" + s))
	}
	h.Write(k.sum[:])
	id := policy.ID(hex.EncodeToString(h.Sum(nil)[:16]))
	if k.nth > 0 {
		id += policy.ID("-" + strconv.Itoa(k.nth))
	}
	return id
}

// content is what never changes about a content.
type content struct {
	id        policy.ID
	use       policy.Use
	retrieval bool // it is what was masked, read again
}

// contents remembers the contents of a conversation, so that each is described once.
type contents struct {
	known map[key]content
	last  []described // those of the last request: the next one mostly has them at the same places
}

// described is a content with its key.
type described struct {
	key     key
	content content
}

// get returns what never changes about the nth of so many contents of a request.
func (c *contents) get(nth, of int, k key, describe func() content) content {
	if nth < len(c.last) && c.last[nth].key == k {
		return c.last[nth].content
	}
	c.last = c.last[:min(nth, len(c.last))]
	found, ok := c.known[k]
	if !ok {
		if c.known == nil || len(c.known) > 4*of+1000 { // most are of what is not sent any more
			c.known = map[key]content{}
		}
		found = describe()
		c.known[k] = found
	}
	if nth == len(c.last) {
		c.last = append(c.last, described{k, found})
	}
	return found
}
