package suggest

import (
	"strings"
)

// element is a part of a phrase.
type element struct {
	words    map[string]bool // one of them; nil for any word
	none     bool            // none of them
	optional bool
	repeated bool // up to three times or not at all
	last     bool // no word, but the end of the clause
}

// phrase is a way to express a feature. It is written as words separated by spaces: a|b is one of two, @name one of a
// class, * any word, "x?" an optional word, "!x" any but x, ".." up to three words, "^" the beginning and "$" the end
// of a clause. It never crosses the end of a clause.
type phrase struct {
	feature  feature
	first    bool
	elements []element
}

// match returns the index after the phrase, if it begins at words[i].
func (p *phrase) match(list []word, i int) (int, bool) {
	if p.first && !list[i].first && (i == 0 || !joins()[list[i-1].text]) {
		return 0, false
	}
	return match(p.elements[1:], list, i+1, list[i].last) // the lexicon found it by its first word
}

// joins are words after which something begins as at the beginning of a clause.
var joins = set("joins")

func match(elements []element, list []word, i int, ended bool) (int, bool) {
	if len(elements) == 0 {
		return i, true
	}
	e, rest := elements[0], elements[1:]
	if e.last {
		if !ended {
			return 0, false
		}
		return match(rest, list, i, ended)
	}
	if !ended && i < len(list) && (e.words == nil || e.words[list[i].text] != e.none) && !e.repeated {
		if end, ok := match(rest, list, i+1, list[i].last); ok {
			return end, true
		}
	}
	if e.optional {
		return match(rest, list, i, ended)
	}
	for n := 0; e.repeated && n <= 3; n++ {
		if end, ok := match(rest, list, i, ended); ok {
			return end, true
		}
		if ended || i >= len(list) {
			break
		}
		ended = list[i].last
		i++
	}
	return 0, false
}

// lexicon finds phrases by their first words.
type lexicon map[string][]*phrase

// learn adds phrases, separated by lines or commas.
func (l lexicon) learn(f feature, phrases string) {
	for text := range strings.FieldsFuncSeq(phrases, func(r rune) bool { return r == ',' || r == '\n' }) {
		fields := strings.Fields(text)
		if len(fields) == 0 {
			continue
		}
		p := &phrase{feature: f}
		if fields[0] == "^" {
			p.first, fields = true, fields[1:]
		}
		for _, field := range fields {
			p.elements = append(p.elements, elementOf(field))
		}
		for {
			for w := range p.elements[0].words {
				l[w] = append(l[w], p)
			}
			if !p.elements[0].optional {
				break
			}
			p = &phrase{p.feature, p.first, p.elements[1:]}
		}
	}
}

func elementOf(field string) element {
	switch field {
	case "*":
		return element{}
	case "..":
		return element{repeated: true}
	case "$":
		return element{last: true}
	}
	name, optional := strings.CutSuffix(field, "?")
	name, none := strings.CutPrefix(name, "!")
	e := element{words: make(map[string]bool), none: none, optional: optional}
	for w := range strings.SplitSeq(name, "|") {
		if class, ok := strings.CutPrefix(w, "@"); ok {
			for w := range classes()[class] {
				e.words[w] = true
			}
			continue
		}
		e.words[w] = true
	}
	return e
}

// found is the first place where a phrase of a feature occurs.
type found struct {
	said     bool
	from, to int // bytes of the prompt
	word     int // its first word
}

// find finds the features of a prompt.
func (l lexicon) find(list []word) (at [features]found) {
	for i, w := range list {
		if w.name {
			continue
		}
		for _, p := range l[w.text] {
			if at[p.feature].said || p.feature.wish() && refers(list, i) {
				continue
			}
			if end, ok := p.match(list, i); ok && (p.feature != givenUp || !detail(list[i:end])) {
				at[p.feature] = found{true, w.from, list[end-1].to, i}
			}
		}
	}
	return at
}
