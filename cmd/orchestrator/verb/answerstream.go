package verb

import (
	"strings"
	"unicode"

	"orchestrator/thread"
	"orchestrator/thread/turns"
)

// maxHeld is how many bytes of output to hold back while the prompt is being typed.
const maxHeld = 1 << 20

// answerStream prints a model's answer to one prompt as it arrives: nothing before the agent has the prompt, nothing
// that answers something else, each response once and in order, and at the end what it missed.
//
// A response belongs to the prompt if its request has the prompt as what the person said last, or if it continues such
// a turn. Once a piece was missed, all the rest is left to the end, so that what is printed stays the beginning of the
// answer.
type answerStream struct {
	print   printer
	prompt  string // the text of it
	mode    streamMode
	held    []thread.Speech // while the prompt is being typed, or another response is printed
	size    int             // of held, in bytes
	begun   int64           // the newest response that was heard
	ours    bool            // it answers the prompt
	silent  bool            // a piece was missed: the rest is printed at the end
	request int64           // the response being printed, 0 between responses
	part    strings.Builder // the printed part of that response
	whole   []string        // the printed responses before it
	cut     bool            // the last response was cut off
}

// streamMode is what to do with the model's output.
type streamMode int

const (
	isUnrelated streamMode = iota // it answers something else
	isPending                     // it may answer the prompt
	isAnswer                      // it may, and the agent has the prompt
)

// discard drops what was held back: the agent does not have the prompt.
func (s *answerStream) discard() {
	s.mode, s.held, s.size = isUnrelated, nil, 0
	s.begun, s.ours = 0, false
}

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
	s.begun, s.ours, s.held, s.size = 0, false, nil, 0
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
		if s.size += len(piece.Text) + len(piece.Said); s.size <= maxHeld {
			s.held = append(s.held, piece)
		} else {
			s.silent = true
		}
		return
	}
	if piece.Request < s.begun {
		return // of a response that another one has overtaken
	}
	if piece.Request > s.begun {
		s.begun = piece.Request
		if piece.Said != "" {
			s.ours = s.asks(piece.Said)
		}
	}
	if piece.Missed {
		s.silent = true
	}
	if s.ours && !s.silent && piece.Text != "" {
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
		s.ours = s.ours && !piece.Ends
		s.release()
	}
}

// asks reports whether what the person said is the prompt, or contains it.
func (s *answerStream) asks(said string) bool {
	return len(turns.Claim(said, []string{s.prompt})) > 0 || turns.Same(said, s.prompt)
}

// close ends the response being printed. One that was cut off is repeated, or does not count. Of one that was missed in
// part the rest follows at once.
func (s *answerStream) close(cut bool) {
	if s.request == 0 {
		return
	}
	if !s.silent || cut {
		s.print.pause()
	}
	if cut {
		s.cut = s.cut || s.part.Len() > 0
	} else {
		s.whole = append(s.whole, s.part.String())
	}
	s.part.Reset()
	s.request = 0
}

// finish prints what was missed of the turn's answers.
func (s *answerStream) finish(answers []string) {
	if s.request != 0 {
		s.silent = true
		s.close(false)
	}
	for _, text := range remaining(answers, s.whole) {
		s.print.text(0, text)
		s.print.pause()
	}
	s.print.pause()
}

// remaining returns what is left of a turn's answers after the responses that were printed, each of which has one or
// more of them; the last one may be printed in part. White space is ignored, which agents and codecs may change. What
// is not among the answers changes nothing.
func remaining(answers, printed []string) []string {
	at := 0 // the answers before are printed, or returned
	var out []string
	missed := func(until int) {
		for _, text := range answers[at:until] {
			if strings.TrimSpace(text) != "" {
				out = append(out, text)
			}
		}
		at = until
	}
	for i, text := range printed {
		from, to, left := find(answers, at, text, i == len(printed)-1)
		if from < 0 {
			continue
		}
		missed(from)
		at = to
		if strings.TrimSpace(left) != "" {
			out = append(out, left)
		}
	}
	missed(len(answers))
	return out
}

// find returns which answers from at on a printed text consists of. The text may end in the middle of the last of them
// if part is set; left is the rest of that one. from is -1 if there are none.
func find(answers []string, at int, text string, part bool) (from, to int, left string) {
	rest := withoutSpace(text)
	if rest == "" {
		return -1, 0, ""
	}
	for from := at; from < len(answers); from++ {
		rest := rest
		for to := from; to < len(answers); to++ {
			more, ok := strings.CutPrefix(rest, withoutSpace(answers[to]))
			if !ok {
				if part && strings.HasPrefix(withoutSpace(answers[to]), rest) {
					return from, to + 1, after(answers[to], text, len(rest))
				}
				break
			}
			if rest = more; rest == "" {
				return from, to + 1, ""
			}
		}
	}
	return -1, 0, ""
}

// after returns what follows in a text after what was printed of it, the last n bytes of which, white space not
// counted, are its beginning.
func after(text, printed string, n int) string {
	at := 0
	for i, r := range text {
		if n <= 0 {
			break
		}
		at = i + len(string(r))
		if !unicode.IsSpace(r) {
			n -= len(string(r))
		}
	}
	left := text[at:]
	gap := printed[len(strings.TrimRightFunc(printed, unicode.IsSpace)):]
	if rest, ok := strings.CutPrefix(left, gap); ok {
		return rest
	}
	return strings.TrimLeftFunc(left, unicode.IsSpace)
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
