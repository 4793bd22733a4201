package wire

// Replacement is what stands in place of a span.
type Replacement struct {
	Span
	With []byte
}

// Splice returns a body with replacements, which are in order and do not overlap. All other bytes stay as they are.
func Splice(body []byte, with []Replacement) []byte {
	size := len(body)
	for _, r := range with {
		size += len(r.With) - (r.End - r.Start)
	}
	out := make([]byte, 0, size)
	at := 0
	for _, r := range with {
		out = append(append(out, body[at:r.Start]...), r.With...)
		at = r.End
	}
	return append(out, body[at:]...)
}
