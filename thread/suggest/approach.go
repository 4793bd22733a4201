package suggest

import (
	"fmt"
	"sync"
)

// vocabulary has all phrases of the rules. Most runs of the program need none.
var vocabulary = sync.OnceValue(func() lexicon {
	l, named := make(lexicon), make(map[string]feature)
	for f, name := range featureNames {
		named[name] = feature(f)
	}
	for name, line := range sections(phraseList) {
		f, known := named[name]
		if !known {
			panic(fmt.Sprintf("phrases.txt: no feature is called %q", name)) // a test reads it
		}
		l.learn(f, line)
	}
	return l
})

// wants reports whether a prompt asks for another approach, and the strongest place. People say so at the beginning, or
// after what they explain or paste.
func wants(list []word) (found, bool) {
	head := list[:min(len(list), headWords)]
	if said, ok := weighs(head, vocabulary().find(head)); ok || len(list) == len(head) {
		return said, ok
	}
	tail := list[max(len(list)-tailWords, len(head)):]
	return weighs(tail, vocabulary().find(tail))
}

// How many words of a prompt are weighed together, at its beginning and at its end.
const (
	headWords = 45
	tailWords = 25
)

// weighs adds up the evidence for another approach.
func weighs(list []word, at [features]found) (found, bool) {
	if at[asks].word > 2 {
		at[asks].said = false // not at the beginning of the prompt
	}
	if at[givenUp].said {
		at[removed].said = false
	}
	sum, best := 0, request
	if at[verdict].said && !at[request].said && !at[contrast].said && goesOn(list, at[verdict].word) {
		sum += weights[request]
	}
	for f, w := range weights {
		if at[f].said {
			sum += w
			if w > weights[best] {
				best = feature(f)
			}
		}
	}
	if !at[asks].said && question(list, at[best].word) {
		sum += weights[asks]
	}
	return at[best], sum >= enough && weights[best] > 1
}

// goesOn reports whether more is said than the clause around a word.
func goesOn(list []word, i int) bool {
	from, to := i, i
	for from > 0 && !list[from].first {
		from--
	}
	for to < len(list)-1 && !list[to].last {
		to++
	}
	return from+len(list)-1-to >= 2
}

// question reports whether the sentence around a word asks how things are.
func question(list []word, i int) bool {
	for i > 0 && i < len(list) && !list[i].opens {
		i--
	}
	for i+1 < len(list) && joins()[list[i].text] {
		i++
	}
	if i+1 >= len(list) {
		return false
	}
	asked := false
	for n := i; n < len(list) && (n == i || !list[n].opens) && !asked; n++ {
		asked = list[n].asked
	}
	switch list[i+1].text {
	case "about", "if", "not", "dont": // what about, why not
		return false
	}
	switch list[i].text {
	case "why":
		for _, w := range list[i+1:] {
			if w.text == "even" || w.text == "ourselves" || w.text == "bother" || w.opens {
				return w.opens // or the approach itself is in doubt
			}
		}
		return true
	case "which", "when", "where", "who", "how", "what":
		return true
	case "is", "are", "was", "were", "did", "do", "does", "has", "have", "had", "should":
		return asked
	case "would":
		return asked && list[i+1].text != "it" && list[i+1].text != "that"
	}
	return false
}
