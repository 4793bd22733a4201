package plan

// Readable returns what is handed over as people and agents read it, and the ending of a file's name for it: JSON indented by
// two, or text. JSON that cannot be indented within bounds is as it was given.
func (h HandOver) Readable() (text, end string) {
	if text, ok := textOf(h); ok {
		return text, "txt"
	}
	if text, ok := indented(h.Data, 4*MaxData); ok {
		return text, "json"
	}
	return h.Data, "json"
}
