package thread

import (
	"slices"
	"strings"
	"unicode"
)

// maxAsks is how much of a prompt is looked at: what follows is pasted.
const maxAsks = 64 << 10

// AskedFor returns the levers among those left out that a prompt's words ask for, each with the words that do. Words in
// blocks of code, in quotations and in paths ask for nothing, nor do parts of words. A number in Lever.Words stands for
// any number, a word also for its plural.
func (l Levers) AskedFor(left []string, prompt string) (levers []Lever, words []string) {
	if len(left) == 0 {
		return nil, nil
	}
	said := spoken(strings.ToLower(prompt[:min(len(prompt), maxAsks)]))
	for _, lever := range l.Named(left) {
		for _, w := range lever.Words {
			if said.has(spoken(strings.ToLower(w)).bare()) {
				levers, words = append(levers, lever), append(words, w)
				break
			}
		}
	}
	return levers, words
}

// LeavingOut returns the lever among those left out with which a tool goes.
func (l Levers) LeavingOut(left []string, tool string) (Lever, bool) {
	for _, lever := range l.Named(left) {
		if lever.LeavesOut(tool) {
			return lever, true
		}
	}
	return Lever{}, false
}

// spokenWords are the words of a text in their order. An empty one stands where something is no word.
type spokenWords []string

// has reports whether words follow one another in a text.
func (w spokenWords) has(phrase []string) bool {
	if len(phrase) == 0 {
		return false
	}
	for i := 0; i+len(phrase) <= len(w); i++ {
		if slices.EqualFunc(w[i:i+len(phrase)], phrase, sameWord) {
			return true
		}
	}
	return false
}

// bare returns the words alone.
func (w spokenWords) bare() []string {
	return slices.DeleteFunc(slices.Clone(w), func(s string) bool { return s == "" })
}

func sameWord(said, asks string) bool {
	return said == asks || said == asks+"s" || number(said) && number(asks)
}

func number(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// spoken returns the words of a prompt that are its person's: without blocks of code, quotations and paths.
func spoken(text string) spokenWords {
	var all spokenWords
	fence, blank := "", true
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		bare := strings.TrimSpace(line)
		switch mark := fenceOf(bare); {
		case fence != "":
			if strings.HasPrefix(mark, fence) && strings.Trim(bare, fence[:1]) == "" {
				fence = ""
			}
			continue
		case mark != "":
			fence = mark
			all = append(all, "")
			continue
		case strings.HasPrefix(bare, ">"), blank && bare != "" && indented(line): // what follows in such a block stays code
			all = append(all, "")
			continue
		}
		blank = bare == ""
		for field := range strings.FieldsSeq(uncoded(line)) {
			all = append(all, wordsOf(field)...)
		}
	}
	return all
}

// fenceOf returns the marks with which a line opens or closes a block of code, "" if it does not.
func fenceOf(line string) string {
	for _, c := range []string{"`", "~"} {
		if n := len(line) - len(strings.TrimLeft(line, c)); n >= 3 && (c == "~" || !strings.Contains(line[n:], c)) {
			return line[:n]
		}
	}
	return ""
}

func indented(line string) bool {
	return strings.HasPrefix(line, "\t") || strings.HasPrefix(line, "    ")
}

// uncoded returns a line without what is in backticks.
func uncoded(line string) string {
	var b strings.Builder
	for {
		from := strings.IndexByte(line, '`')
		if from < 0 {
			break
		}
		marks := line[from : from+len(line[from:])-len(strings.TrimLeft(line[from:], "`"))]
		to := strings.Index(line[from+len(marks):], marks)
		if to < 0 {
			break
		}
		b.WriteString(line[:from] + " \x00 ")
		line = line[from+len(marks)+to+len(marks):]
	}
	return b.String() + line
}

// wordsOf returns the words of what stands between two spaces. What looks like a path, an address or code is none.
func wordsOf(field string) spokenWords {
	const around = "\"'“”\u2018\u2019\u00ab\u00bb()[]{}<>,.;:!?*_…\u2014–-"
	inner := strings.Trim(field, around)
	if i := strings.IndexByte(field, '('); i > 0 && isWord(strings.TrimLeft(field[:i], around)) && strings.Trim(field[:i], around) != "" {
		return spokenWords{""} // a call
	}
	if strings.HasPrefix(inner, "/") && !strings.HasPrefix(strings.TrimLeft(field, "\"'“\u2018\u00ab([{*"), "/") {
		return spokenWords{""} // ./loop
	}
	var all spokenWords
	for _, w := range strings.FieldsFunc(inner, func(r rune) bool { return strings.ContainsRune(",;!?…\u2014–\"“”", r) }) {
		if w = strings.Trim(w, around); !isWord(w) {
			w = ""
		}
		all = append(all, w)
	}
	if strings.HasSuffix(field, "/") || strings.HasPrefix(field, "-") && len(inner) < len(field) && inner != "" {
		return spokenWords{""} // a folder, an option
	}
	if ends := strings.TrimRight(field, "\"'”\u2019\u00bb)]}*_"); len(all) > 0 && strings.ContainsAny(ends[max(0, len(ends)-1):], ".,;:!?…") {
		all = append(all, "") // a phrase does not go on after it
	}
	return all
}

// isWord reports whether a text is a word, or a command such as /loop.
func isWord(s string) bool {
	return !strings.ContainsFunc(strings.TrimPrefix(s, "/"), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) && r != '-' && r != '\'' && r != '\u2019'
	})
}
