package suggest

import (
	"fmt"
	"maps"
	"orchestrator/thread/ground/lexical"
	"strings"
	"unicode"
)

// maxSubject bounds the words that are kept of a thread.
const maxSubject = 4000

// Subject is the subject of a thread so far. The zero value is that of a thread without turns. It is not safe for
// concurrent use.
type Subject struct {
	turns      int
	words      map[string]bool // stems
	complaints int             // prompts in a row that said that it still fails
}

// Clone returns an independent copy.
func (s Subject) Clone() Subject {
	s.words = maps.Clone(s.words)
	return s
}

// Add adds a turn.
func (s *Subject) Add(prompt, answer string) {
	s.AddText(prompt)
	s.turns++
	s.complaints++
	if !vocabulary().find(words(prompt))[fails].said {
		s.complaints = 0
	}
	s.AddText(answer)
}

// AddText adds more words of the running turn: answers, file names.
func (s *Subject) AddText(text string) {
	if s.words == nil {
		s.words = make(map[string]bool)
	}
	for _, w := range content(text) {
		if len(s.words) >= maxSubject {
			return
		}
		s.words[w] = true
	}
}

// Turns returns how many turns were added.
func (s *Subject) Turns() int { return s.turns }

// left returns why a prompt is about something else than the thread so far, "" if it is not, or if that is unclear.
func (s Subject) left(prompt string, list []word, at [features]found) string {
	if s.turns == 0 || s.turns < subjectTurns && !at[leaves].said {
		return ""
	}
	if at[staged].said {
		return ""
	}
	if m := at[leaves]; m.said && (m.word < openingWords || list[m.word].opens) {
		// The person says so; the words must only not contradict it.
		said, shared := s.shares(prompt[m.to:])
		if said < 2 {
			said, shared = s.shares(prompt)
		}
		if said >= 2 && shared*3 <= said {
			return fmt.Sprintf("%q starts another subject: a fork keeps it out of this thread", short(prompt[m.from:m.to]))
		}
		return ""
	}
	if score, need := s.score(prompt, at); score < need {
		return ""
	}
	said, shared := s.shares(prompt)
	return fmt.Sprintf("%d of its %d words are new to this thread: a fork keeps the subjects apart",
		said-shared, said)
}

// score adds up the evidence for another subject in a prompt that does not say so explicitly, and returns how much is
// needed.
func (s Subject) score(prompt string, at [features]found) (score, need int) {
	need = far
	if len(s.words) < subjectWords {
		need++
	}
	said, shared := s.shares(prompt)
	if len(s.words) < fewWords || shared*4 > said {
		return 0, need
	}
	for _, c := range []struct {
		holds  bool
		weight int
	}{
		{shared == 0, 2}, {shared == 1 && said > promptWords, 1},
		{said >= promptWords-1, 1}, {said >= promptWords, 1}, {said >= promptWords+3, 1},
		{at[turns].said, 1}, {at[task].said, 1},
		{at[leans].said, -2},
		{at[extends].said && !at[task].said && said < promptWords+3, -1},
		{at[refersTo].said && said < promptWords+2, -1},
	} {
		if c.holds {
			score += c.weight
		}
	}
	return score, need
}

// shares returns the number of content words of a text, and how many of them are known from the thread.
func (s Subject) shares(text string) (said, shared int) {
	for _, w := range content(text) {
		said++
		if s.words[w] {
			shared++
		}
	}
	return said, shared
}

// content returns the stems of the content words of a text, each once.
func content(text string) []string {
	var out []string
	seen := make(map[string]bool)
	for _, w := range tokens(text) {
		if len(w) < 3 || lexical.Stop(w) || fillers()[w] || allDigits(w) {
			continue
		}
		w = lexical.Stem(w)
		if !seen[w] {
			seen[w] = true
			out = append(out, w)
		}
	}
	return out
}

// tokens returns the lower-case words of a text. Names of files and functions are split into words; don't is one word.
func tokens(text string) []string {
	var out []string
	for _, w := range lexical.Split(apostrophes.Replace(text)) {
		out = append(out, w.Text)
	}
	return out
}

var apostrophes = strings.NewReplacer("'", "", "’", "")

func allDigits(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return !unicode.IsDigit(r) }) < 0
}

// fillers are programming words that occur in every thread.
var fillers = set("fillers")

// Limits of the rules.
const (
	bandShare    = 90 // percent of the context
	sameFailures = 4  // similar tool failures in a row
	complaints   = 3  // prompts in a row that say that it still fails
	subjectTurns = 2  // turns that a thread has before its subject can be left
	subjectWords = 30 // words that identify a thread's subject well
	fewWords     = 20 // fewer are not enough to tell
	promptWords  = 5  // words that a prompt needs to be about something else
	openingWords = 8  // words within which people say that the subject changes, unless it begins a sentence
	far          = 4  // the evidence for another subject needed to offer a fork
	maxLabel     = 40 // bytes of a label
)
