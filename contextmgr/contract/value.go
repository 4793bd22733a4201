package contract

import (
	"fmt"

	"orchestrator/thread/plaintext"
)

// The validator prints a value into each of its errors, of which it makes one for each alternative. These print what they
// are, and not all of it.
type (
	object map[string]any
	list   []any
	text   string
)

// String says what it is.
func (object) String() string { return "the object" }

// String says what it is.
func (l list) String() string { return fmt.Sprintf("the list of %d", len(l)) }

// String is its beginning.
func (t text) String() string { return fmt.Sprintf("%q", plaintext.Short(string(t), 60)) }

// named returns a decoded value in these types.
func named(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for key, of := range v {
			v[key] = named(of)
		}
		return object(v)
	case []any:
		for i, of := range v {
			v[i] = named(of)
		}
		return list(v)
	case string:
		return text(v)
	}
	return v
}
