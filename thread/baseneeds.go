package thread

import (
	"iter"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// maxAsks is how much of a prompt is looked at: what follows is pasted.
const maxAsks = 64 << 10

// AskedFor returns the levers among those left out that a prompt's words ask for, each with the words that do. Words in
// blocks of code, in quotations and in paths ask for nothing, nor do parts of words. A number in Lever.Words stands for
// any number, a word also for its plural. ".png" there stands for each file that ends so, "settings.json" for each file of
// this name, "https://" for each address.
func (l Levers) AskedFor(left []string, prompt string) (levers []Lever, words []string) {
	if len(left) == 0 {
		return nil, nil
	}
	said := speechOf(prompt)
	for _, lever := range l.Named(left) {
		if i := slices.IndexFunc(lever.Words, said.asks); i >= 0 {
			levers, words = append(levers, lever), append(words, lever.Words[i])
		}
	}
	return levers, words
}

// Wanted returns the names of the levers that a task needs: those whose tools it names, and those whose words it has, of
// which it is stricter than AskedFor is. A word that the task may be about, such as "workflow", says so only if it is to
// be used: "use a workflow". Of a lever that Acts, words say nothing: that a bug is to be fixed is no reason to give tools
// for editing to an agent from which the person takes them.
func (l Levers) Wanted(task string) []string {
	task = task[:min(len(task), maxAsks)]
	said, text := speechOf(task), prose(task)
	var names []string
	for _, lever := range l.Levers {
		if slices.ContainsFunc(lever.Tools, func(t string) bool { return namesTool(text, t) }) ||
			!lever.Acts() && slices.ContainsFunc(lever.Words, said.needs) {
			names = append(names, lever.Name)
		}
	}
	return names
}

// prose returns a text without blocks of code and quotations.
func prose(text string) string {
	var b strings.Builder
	for line, own := range ownLines(text) {
		if own {
			b.WriteString(line)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// namesTool reports whether a text names a tool. A name that is an ordinary word too, as Monitor and task are, counts
// only if the text marks it as a name.
func namesTool(text, tool string) bool {
	if !PlainTool(tool) {
		return false
	}
	q := regexp.QuoteMeta(tool)
	patterns := []string{"[`\"'\u201c]" + q + "[`\"'\u201d]", `(?:^|\s)` + q + `(?:\(\)| tools?\b)`, `\btools? ` + q + `(?:$|[\s.,;:!?)])`}
	if !ordinary(tool) { // not as a part of a path, of an address or of another name
		patterns = append(patterns, `(?:^|[\s(\[*,;:])`+q+`(?:$|[\s)\],;:!?*(]|\.(?:\s|$))`)
	}
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		ok, err := regexp.MatchString(pattern, text)
		return err == nil && ok
	})
}

// ordinary reports whether a name looks like a word of a sentence: letters, of which only the first may be a capital.
func ordinary(name string) bool {
	first := true
	for _, r := range name {
		if !unicode.IsLetter(r) || !first && unicode.IsUpper(r) {
			return false
		}
		first = false
	}
	return true
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

// speech is what a person says in a prompt, in lower case: its words, and what stands between two spaces.
type speech struct {
	words  spokenWords
	fields []string
}

func speechOf(prompt string) speech {
	text := strings.ToLower(prompt[:min(len(prompt), maxAsks)])
	s := speech{words: spoken(text)}
	for line, own := range ownLines(text) {
		if own {
			for field := range strings.FieldsSeq(uncoded(line)) {
				s.fields = append(s.fields, strings.Trim(field, around))
			}
		}
	}
	return s
}

// asks reports whether a word of a lever is said.
func (s speech) asks(word string) bool {
	word = strings.ToLower(word)
	switch {
	case strings.Contains(word, "://"):
		return slices.ContainsFunc(s.fields, func(f string) bool { return strings.HasPrefix(f, word) })
	case strings.Contains(word, "."): // a file, or how its name ends
		return slices.ContainsFunc(s.fields, func(f string) bool {
			before, ok := strings.CutSuffix(f, word)
			return ok && (before != "" && word[0] == '.' || word[0] != '.' && (before == "" || strings.ContainsAny(before[len(before)-1:], `/\`)))
		})
	case strings.Contains(word, "_"): // the name of a tool
		return slices.Contains(s.fields, word)
	}
	return s.words.has(spoken(word).bare())
}

// needs is asks where a single word of the language is said of what is to be used only.
func (s speech) needs(word string) bool {
	phrase := spoken(strings.ToLower(word)).bare()
	if len(phrase) != 1 || phrase[0] != strings.TrimSpace(word) || !ordinary(phrase[0]) {
		return s.asks(word)
	}
	used := []string{"use", "using", "with", "start", "spawn", "launch"}
	for i, said := range s.words {
		if !sameWord(said, phrase[0]) {
			continue
		}
		for at := i - 1; at >= max(0, i-3) && s.words[at] != ""; at-- { // "use a new workflow"
			if slices.Contains(used, s.words[at]) {
				return true
			}
		}
	}
	return false
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
	for line, own := range ownLines(text) {
		if !own {
			all = append(all, "")
			continue
		}
		for field := range strings.FieldsSeq(uncoded(line)) {
			all = append(all, wordsOf(field)...)
		}
	}
	return all
}

// ownLines yields the lines of a prompt, without their ends, and whether they are its person's: not of a block of code,
// nor of a quotation.
func ownLines(text string) iter.Seq2[string, bool] {
	return func(yield func(string, bool) bool) {
		fence, blank := "", true
		for line := range strings.Lines(text) {
			line = strings.TrimRight(line, "\r\n")
			bare := strings.TrimSpace(line)
			own := false
			switch mark := fenceOf(bare); {
			case fence != "":
				if strings.HasPrefix(mark, fence) && strings.Trim(bare, fence[:1]) == "" {
					fence = ""
				}
			case mark != "":
				fence = mark
			case strings.HasPrefix(bare, ">"), blank && bare != "" && indented(line): // what follows in such a block stays code
			default:
				blank, own = bare == "", true
			}
			if !yield(line, own) {
				return
			}
		}
	}
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

// around are the marks that may stand around a word.
const around = "\"'\u201c\u201d\u2018\u2019\u00ab\u00bb()[]{}<>,.;:!?*_\u2026\u2014\u2013-"

// wordsOf returns the words of what stands between two spaces. What looks like a path, an address or code is none.
func wordsOf(field string) spokenWords {
	inner := strings.Trim(field, around)
	if i := strings.IndexByte(field, '('); i > 0 && isWord(strings.TrimLeft(field[:i], around)) && strings.Trim(field[:i], around) != "" {
		return spokenWords{""} // a call
	}
	if strings.HasPrefix(inner, "/") && !strings.HasPrefix(strings.TrimLeft(field, "\"'\u201c\u2018\u00ab([{*"), "/") {
		return spokenWords{""} // ./loop
	}
	var all spokenWords
	for _, w := range strings.FieldsFunc(inner, func(r rune) bool { return strings.ContainsRune(",;!?\u2026\u2014\u2013\"\u201c\u201d", r) }) {
		if w = strings.Trim(w, around); !isWord(w) {
			w = ""
		}
		all = append(all, w)
	}
	if strings.HasSuffix(field, "/") || strings.HasPrefix(field, "-") && len(inner) < len(field) && inner != "" {
		return spokenWords{""} // a folder, an option
	}
	if ends := strings.TrimRight(field, "\"'\u201d\u2019\u00bb)]}*_"); len(all) > 0 && strings.ContainsAny(ends[max(0, len(ends)-1):], ".,;:!?\u2026") {
		all = append(all, "") // a phrase does not go on after it
	}
	return all
}

// isWord reports whether a text is a word, or what agents take for a command or a name: /loop, $imagegen, @general.
func isWord(s string) bool {
	if s != "" && strings.ContainsRune("/$@", rune(s[0])) {
		s = s[1:]
	}
	return !strings.ContainsFunc(s, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) && r != '-' && r != '\'' && r != '\u2019'
	})
}
