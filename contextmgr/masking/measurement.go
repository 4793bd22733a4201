package masking

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"

	"orchestrator/contextmgr/policy"
	"orchestrator/contextmgr/wire"
)

// measured is a request as it is measured: its contents, and how large they and the rest are.
type measured struct {
	// results has an entry for each content of the scan.
	results []policy.Result
	uses    []policy.Use
	// sizes are the tokens of each content as it is sent: masked or not.
	sizes    []int64
	estimate int64   // of the whole request as it is sent
	masked   int64   // tokens that masks take out of it
	cost     float64 // of what was masked with this request first, in tokens of input that goes past the cache
	number   numbering
	standing standing
	requests int // the number of this request, from 0
	turn     int // and of the one with which the running turn began
}

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
		n := seen[k]
		seen[k]++
		k.nth = n
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

// described is a content with its key.
type described struct {
	key     key
	content content
}

const (
	mostPlain    = 32 << 10 // the size up to which a message is not searched for pictures
	leastPicture = 4 << 10  // the size in bytes from which on a string without a space may be one
)

// pictured returns how many bytes of a message are pictures and other encoded files, and how many there are.
func pictured(raw []byte) (size, n int) {
	for at := 0; ; {
		from := bytes.IndexByte(raw[at:], '"')
		if from < 0 {
			return size, n
		}
		from += at + 1
		end := bytes.IndexByte(raw[from:], '"')
		if end < 0 {
			return size, n
		}
		if end >= leastPicture && encoded(raw[from:from+end]) {
			size, n = size+end, n+1
		}
		at = from + end // of a string without escapes it is the closing quote; of others the next string begins here
		if at++; at > len(raw) {
			return size, n
		}
	}
}

// encoded reports whether a long string is base64, perhaps behind the beginning of a data URL.
func encoded(s []byte) bool {
	if at := bytes.Index(s[:min(len(s), 200)], []byte("base64,")); at >= 0 {
		s = s[at+len("base64,"):]
	}
	for _, c := range s[:min(len(s), leastPicture/2)] {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '+', c == '/', c == '-', c == '_', c == '=':
		default:
			return false
		}
	}
	return true
}

// numbering has the number of the request that had each item first.
type numbering struct {
	of         []int
	last, turn int
}

// numbers counts the requests of a conversation by the model's answers in it.
func numbers(scan *wire.Scan) numbering {
	n := numbering{of: make([]int, len(scan.Items))}
	model := false
	for i := range scan.Items {
		if scan.ByModel(i) && !model {
			n.last++
		}
		model = scan.ByModel(i)
		n.of[i] = n.last
	}
	if scan.Prompted >= 0 {
		n.turn = n.of[scan.Prompted]
	}
	return n
}

// lines returns how many lines a text has.
func lines(text string) int {
	if text == "" {
		return 0
	}
	n := strings.Count(text, "\n")
	if !strings.HasSuffix(text, "\n") {
		n++
	}
	return n
}
