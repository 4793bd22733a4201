package main

import (
	"strings"
	"unicode"

	"orchestrator/thread"
)

// maxHeld is how many bytes of output to hold back while the prompt is being typed.
const maxHeld = 1 << 20

// answerStream prints a model's answer to one prompt as it arrives: nothing before the agent has the prompt, each
// response once and in order, and at the end what it missed.
type answerStream struct {
	print   printer
	mode    streamMode
	held    []thread.Speech // while the prompt is being typed, or another response is printed
	size    int             // of held, in bytes
	request int64           // the response being printed, 0 between responses
	part    strings.Builder // the printed part of that response
	whole   strings.Builder // the printed responses before it
	cut     bool            // the last response was cut off
	lost    int64           // a response of which pieces were missed
}

// streamMode is what to do with the model's output.
type streamMode int

const (
	isUnrelated streamMode = iota // it answers something else
	isPending                     // it may answer the prompt
	isAnswer                      // it answers the prompt
)

// discard drops what was held back: the agent does not have the prompt.
func (s *answerStream) discard() { s.mode, s.held, s.size = isUnrelated, nil, 0 }

// hold holds output back until it is known whether the agent has the prompt.
func (s *answerStream) hold() {
	if s.mode != isAnswer {
		s.mode = isPending
	}
}

// accept prints what was held back and all further output.
func (s *answerStream) accept() {
	s.mode = isAnswer
	s.release()
}

// restart forgets the numbers of responses, which another server counts from the start.
func (s *answerStream) restart() {
	s.close(true)
	s.request, s.lost, s.held, s.size = 0, 0, nil, 0
}

func (s *answerStream) release() {
	held := s.held
	s.held, s.size = nil, 0
	for _, piece := range held {
		s.add(piece)
	}
}

// add handles one piece of output.
func (s *answerStream) add(piece thread.Speech) {
	switch {
	case s.mode == isUnrelated:
		return
	case s.mode == isPending, s.request != 0 && piece.Request != s.request && !piece.Missed:
		if s.size += len(piece.Text); s.size <= maxHeld {
			s.held = append(s.held, piece)
		}
		return
	case piece.Missed:
		s.lost = max(s.lost, piece.Request)
		if s.request != 0 {
			s.close(false)
			s.release()
		}
		return
	}
	if piece.Text != "" && piece.Request > s.lost {
		if s.cut {
			s.print.retry(piece.Request)
			s.cut = false
		}
		s.request = piece.Request
		s.part.WriteString(piece.Text)
		s.print.text(piece.Request, piece.Text)
	}
	if piece.Done {
		s.close(piece.Cut)
		s.release()
	}
}

// close ends the response being printed. One that was cut off is repeated, or does not count.
func (s *answerStream) close(cut bool) {
	if s.request != 0 {
		s.print.pause()
	}
	if cut {
		s.cut = s.cut || s.part.Len() > 0
	} else {
		s.whole.WriteString(s.part.String())
	}
	s.part.Reset()
	s.request = 0
}

// finish prints what was missed of the turn's answers.
func (s *answerStream) finish(answers []string) {
	if s.request != 0 {
		s.close(false)
	}
	for _, text := range remaining(answers, s.whole.String()) {
		s.print.text(0, text)
		s.print.pause()
	}
}

// remaining returns what is left of answers after what was printed of them, ignoring white space, which agents and
// codecs may change. From the first difference on it returns everything.
func remaining(answers []string, heard string) []string {
	rest := []rune(withoutSpace(heard))
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
				left, n = text, len(rest) // a difference: all of it, and of what follows
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

// withoutSpace returns a text without white space.
func withoutSpace(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, s)
}
