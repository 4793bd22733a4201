package masking

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"orchestrator/contextmgr/policy"
	"orchestrator/contextmgr/wire"
)

// instructionsTool is what stands for a tool where people see a file of instructions that is sent once.
const instructionsTool = "instructions"

// repeat is a file of instructions in a request that stands there already, in front of it.
type repeat struct {
	wire.Span // of its text in the body
	id        policy.ID
	item      int
	file      wire.Instructions
	first     string // the path of the copy in front
	tokens    int64
	known     bool   // it is masked, or the person wants it sent all the same
	with      []byte // what is sent in place of the text, nil if that is sent
	size      int64  // of what is sent, in tokens
}

// Reference returns the text that stands in place of a file of instructions that is the same as one in front of it but for
// its path.
func Reference(path, first string) string {
	return fmt.Sprintf("The instructions of %s are those of %s above, unchanged; they hold here, also if %[2]s is said to be no longer present.",
		path, first)
}

// copyOf returns which of the files that are sent whole is the same, -1 if none is. headings returns how many files with a
// path there are in front.
func copyOf(f wire.Instructions, whole []wire.Instructions, headings func(path string) int) int {
	for i, w := range whole {
		own := 0 // its own heading is in front, too
		if w.Path == f.Path {
			own = 1
		}
		if w.Text == f.Text && w.Kind == f.Kind && headings(w.Path) == 1+own {
			return i
		}
	}
	return -1
}

// idOf returns the id of a file that is a copy of the one with a path.
func idOf(f wire.Instructions, first string) policy.ID {
	sum := sha256.Sum256([]byte(strings.Join([]string{f.Path, first, f.Kind, f.Text}, "\x00")))
	return policy.ID(hex.EncodeToString(sum[:8]))
}

// entry returns what people see of a file that an item of a request has.
func (r repeat) entry(request int) entry {
	return entry{Result: policy.Result{
		ID: r.id, Tool: instructionsTool, Reads: r.file.Path, Tokens: r.tokens, Request: request, Masked: r.with != nil,
	}, Size: r.size}
}
