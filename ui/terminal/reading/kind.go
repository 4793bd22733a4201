package reading

// Kind is how the text between two points is selected.
type Kind uint8

// The kinds.
const (
	None  Kind = iota
	Cells      // as one reads
	Lines      // whole lines
	Block      // a rectangle
)

// String returns the name of the kind.
func (k Kind) String() string { return [...]string{"", "text", "lines", "block"}[k&3] }
