package wire

// TextStreamer is an Answer that returns its text as it arrives. Optional for an Answer.
type TextStreamer interface {
	// NewText returns the text that arrived since the last call: the next piece of Result().Text. It is called by the
	// goroutine that writes.
	NewText() string
}

// TextBuffer collects the text of an answer until NewText is called.
type TextBuffer struct {
	fresh []byte
	begun bool // a part of the answer has begun
}

// BeginPart begins another part of the answer, which is a new line in Result().Text.
func (t *TextBuffer) BeginPart() {
	if t.begun {
		t.fresh = append(t.fresh, '\n')
	}
	t.begun = true
}

// AddText adds to the current part.
func (t *TextBuffer) AddText(text string) { t.fresh = append(t.fresh, text...) }

// NewText implements TextStreamer.
func (t *TextBuffer) NewText() string {
	s := string(t.fresh)
	t.fresh = t.fresh[:0]
	if cap(t.fresh) > maxFresh {
		t.fresh = nil
	}
	return s
}

// maxFresh is the size limit of the buffer that is kept between two pieces.
const maxFresh = 64 << 10
