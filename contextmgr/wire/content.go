package wire

import (
	"crypto/sha256"
	"encoding/json"
)

// Form is the JSON form of a content.
type Form string

// The forms.
const (
	FormText  Form = "text"  // a string
	FormParts Form = "parts" // a list of parts of a message
	FormValue Form = "value" // an object, such as a function's response
	FormInput Form = "input" // the input of a call: an object, or a string that holds one
)

// Content is a piece of a request that may be replaced: the result of a tool call, or the input of one.
type Content struct {
	Span
	// Item is the index of the item that has it.
	Item int
	// Call is the id of the call, "" if the format has none, and Tool the name of its tool, "" if the call is not there.
	Call, Tool string
	// Input is the call's input, a JSON object, also for its result. A text that is no object is the member "input" of
	// one. Of an input of more than MaxInput bytes only the short members and the beginnings of long strings are there, so
	// two such inputs may be the same though the calls are not. It is nil if nothing is kept.
	Input json.RawMessage
	Form  Form
	// Error is set if the agent marked the result as an error.
	Error bool
	// Other is how many parts of the result are no text, such as images.
	Other int
	// Sum is the hash of the content's bytes.
	Sum [sha256.Size]byte
}

// MaxInput is the size up to which a call's input is kept as it is.
const MaxInput = 1 << 10
