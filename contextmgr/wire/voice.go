package wire

// Speaker is an Answer that tells its text while it comes. Optional for an Answer.
type Speaker interface {
	// Said returns what was said since it was asked last: the next piece of Result().Text. It belongs to the
	// goroutine that writes.
	Said() string
}

// Voice collects what an answer says until it is asked for.
type Voice struct {
	fresh []byte
	begun bool // a part of the answer has begun
}

// Part begins another part of the answer, which Result().Text has on a line of its own.
func (v *Voice) Part() {
	if v.begun {
		v.fresh = append(v.fresh, '\n')
	}
	v.begun = true
}

// Say adds to the part that is being said.
func (v *Voice) Say(text string) { v.fresh = append(v.fresh, text...) }

// Said implements Speaker.
func (v *Voice) Said() string {
	s := string(v.fresh)
	v.fresh = v.fresh[:0]
	if cap(v.fresh) > maxFresh {
		v.fresh = nil
	}
	return s
}

// maxFresh bounds the buffer that is kept between two pieces.
const maxFresh = 64 << 10
