package turns

import (
	"slices"
	"strings"
	"unicode"
)

// Claim returns the indexes of the prompts that are contained in a text that an agent sent to its model, in their
// order; none if the text is about none of them. Prompts are sorted oldest first: of two equal prompts the older one is
// meant.
//
// A prompt that equals the text except for white space is alone in it. Otherwise each prompt must fill whole lines of
// its own, or be the text with files in place of their names, or be so long that the text is its beginning.
func Claim(said string, prompts []string) []int {
	whole := Fold(said)
	if whole == "" {
		return nil
	}
	for i, p := range prompts {
		if Fold(p) == whole {
			return []int{i}
		}
	}
	if claimed := claimLines(said, prompts); len(claimed) > 0 {
		return claimed
	}
	for i, p := range prompts {
		if cutShort(whole, Fold(p)) || expands(whole, p) {
			return []int{i}
		}
	}
	return nil
}

// Same reports whether two texts are the same prompt, as far as both go: excerpts are cut.
func Same(a, b string) bool {
	x, y := Fold(a), Fold(b)
	return x == y || cutShort(x, y) || cutShort(y, x)
}

// Command reports whether a prompt is for the agent itself: a slash command, a shell line, a note. The model may never
// see it.
func Command(prompt string) bool {
	word, _, _ := strings.Cut(strings.TrimSpace(prompt), "\n")
	word, _, _ = strings.Cut(strings.TrimSpace(word), " ")
	switch {
	case strings.HasPrefix(word, "/"):
		name := word[1:]
		return name != "" && !strings.Contains(name, "/") && !strings.HasSuffix(name, "*")
	case strings.HasPrefix(word, "!"), strings.HasPrefix(word, "#"):
		return len(word) > 1 || len(strings.TrimSpace(prompt)) > 1
	default:
		return false
	}
}

// Fold returns a text with single spaces between words and without invisible characters.
func Fold(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	gap := false
	for _, r := range s {
		switch {
		case unicode.IsSpace(r):
			gap = true
			continue
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r) && r != zwj:
			continue
		}
		if gap && b.Len() > 0 {
			b.WriteByte(' ')
		}
		gap = false
		b.WriteRune(r)
	}
	return b.String()
}

// zwj joins emoji and letters of some scripts: it is part of the text.
const zwj = '\u200d'

// enough is the minimum length in bytes of a text that may stand for a longer one.
const enough = 200

// cutShort reports whether a text is the beginning of another and long enough to tell.
func cutShort(short, long string) bool {
	return len(short) >= enough && len(long) > len(short) && strings.HasPrefix(long, short)
}

// claimLines finds prompts that fill whole lines of a text. A line belongs to one prompt only, and longer prompts are
// matched first: a short one may be part of a longer one's text.
func claimLines(said string, prompts []string) []int {
	var lines []string
	for line := range strings.Lines(said) {
		if f := Fold(line); f != "" {
			lines = append(lines, f)
		}
	}
	if len(lines) < 2 {
		return nil // the whole text was compared already
	}
	taken := make([]bool, len(lines))
	order := make([]int, len(prompts))
	folded := make([]string, len(prompts))
	for i, p := range prompts {
		order[i], folded[i] = i, Fold(p)
	}
	slices.SortStableFunc(order, func(a, b int) int { return len(folded[b]) - len(folded[a]) })
	var claimed []int
	for _, i := range order {
		if folded[i] == "" {
			continue
		}
		for at := range lines {
			if n := fills(lines[at:], taken[at:], folded[i]); n > 0 {
				for k := at; k < at+n; k++ {
					taken[k] = true
				}
				claimed = append(claimed, i)
				break
			}
		}
	}
	slices.Sort(claimed)
	return claimed
}

// fills returns how many lines, from the first one on and none of them taken, make up a prompt; 0 if they do not.
func fills(lines []string, taken []bool, prompt string) int {
	for n, line := range lines {
		rest, ok := strings.CutPrefix(prompt, line)
		if !ok || taken[n] {
			return 0
		}
		if rest == "" {
			return n + 1
		}
		if prompt, ok = strings.CutPrefix(rest, " "); !ok {
			return 0
		}
	}
	return 0
}

// minLiteral is the minimum length in bytes of a prompt's own words, around file names, to recognise it.
const minLiteral = 12

// expands reports whether a text is a prompt with its file names, @path, replaced by something else.
func expands(whole, prompt string) bool {
	var literals []string // between the names
	var words []string
	names, size := 0, 0
	flush := func() {
		literals = append(literals, strings.Join(words, " "))
		words = nil
	}
	for _, w := range strings.Fields(Fold(prompt)) {
		if strings.HasPrefix(w, "@") && len(w) > 1 {
			names++
			flush()
			continue
		}
		size += len(w)
		words = append(words, w)
	}
	flush()
	if names == 0 || size < minLiteral || !strings.HasPrefix(whole, literals[0]) {
		return false
	}
	rest := whole[len(literals[0]):]
	for i, l := range literals[1:] {
		if l == "" {
			continue
		}
		at := strings.Index(rest, l)
		if i == len(literals)-2 { // what follows the last name ends the text
			at = strings.LastIndex(rest, l)
			if at >= 0 && at+len(l) != len(rest) {
				return false
			}
		}
		if at < 0 {
			return false
		}
		rest = rest[at+len(l):]
	}
	return true
}
