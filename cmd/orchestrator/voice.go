package main

import (
	"strings"
	"unicode"

	"orchestrator/thread"
)

// maxHeld bounds what is kept of what was said while the prompt is being typed, in bytes.
const maxHeld = 1 << 20

// voice prints what a model says in answer to one prompt: nothing before the agent has it, each response once, one
// after the other, and at the end what was not heard of it.
type voice struct {
	print   printer
	mode    voiceMode
	held    []thread.Speech // while the prompt is being typed, or another response has not ended
	size    int             // of held
	request int64           // the response that is being printed, 0 between two
	part    strings.Builder // what was printed of it
	whole   strings.Builder // what was printed of those before
	cut     bool            // the last one was cut off
	lost    int64           // a response of which pieces were missed
}

// voiceMode says what becomes of what is said.
type voiceMode int

const (
	isMute   voiceMode = iota // it is in answer to something else
	isHeld                    // it may be in answer to the prompt
	isSpoken                  // it is
)

// mute drops what was held: the agent does not have the prompt.
func (v *voice) mute() { v.mode, v.held, v.size = isMute, nil, 0 }

// hold keeps what is said until it is known that the agent has the prompt.
func (v *voice) hold() {
	if v.mode != isSpoken {
		v.mode = isHeld
	}
}

// speak prints what was held, and what is said from now on.
func (v *voice) speak() {
	v.mode = isSpoken
	v.release()
}

// restart forgets the numbers of responses: another server counts them.
func (v *voice) restart() {
	v.close(true)
	v.request, v.lost, v.held, v.size = 0, 0, nil, 0
}

func (v *voice) release() {
	held := v.held
	v.held, v.size = nil, 0
	for _, s := range held {
		v.hear(s)
	}
}

// hear takes one piece.
func (v *voice) hear(s thread.Speech) {
	switch {
	case v.mode == isMute:
		return
	case v.mode == isHeld, v.request != 0 && s.Request != v.request && !s.Missed:
		if v.size += len(s.Text); v.size <= maxHeld {
			v.held = append(v.held, s)
		}
		return
	case s.Missed:
		v.lost = max(v.lost, s.Request)
		if v.request != 0 {
			v.close(false)
			v.release()
		}
		return
	}
	if s.Text != "" && s.Request > v.lost {
		if v.cut {
			v.print.retry(s.Request)
			v.cut = false
		}
		v.request = s.Request
		v.part.WriteString(s.Text)
		v.print.text(s.Request, s.Text)
	}
	if s.Done {
		v.close(s.Cut)
		v.release()
	}
}

// close ends the response that is being printed. One that was cut off is said again, or does not count.
func (v *voice) close(cut bool) {
	if v.request != 0 {
		v.print.pause()
	}
	if cut {
		v.cut = v.cut || v.part.Len() > 0
	} else {
		v.whole.WriteString(v.part.String())
	}
	v.part.Reset()
	v.request = 0
}

// finish prints what of the turn's answers was not heard as it was said.
func (v *voice) finish(answers []string) {
	if v.request != 0 {
		v.close(false)
	}
	for _, text := range unheard(answers, v.whole.String()) {
		v.print.text(0, text)
		v.print.pause()
	}
}

// unheard returns what is left of answers after what was heard of them, which agents and codecs may have given other
// white space. Where something else was heard, it returns them from there on.
func unheard(answers []string, heard string) []string {
	rest := []rune(bare(heard))
	var out []string
	for _, text := range answers {
		left, n := text, 0
		for i, r := range text {
			if unicode.IsSpace(r) {
				continue
			}
			if n == len(rest) {
				left = text[i:]
				break
			}
			if r != rest[n] {
				left, n = text, len(rest) // something else: all of it, and of what follows
				break
			}
			n++
			left = ""
		}
		rest = rest[min(n, len(rest)):]
		if strings.TrimSpace(left) != "" {
			out = append(out, left)
		}
	}
	return out
}

// bare returns a text without white space.
func bare(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, s)
}
