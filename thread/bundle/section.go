package bundle

import (
	"fmt"
	"slices"
	"strings"

	"orchestrator/thread"
	"orchestrator/thread/plaintext"
)

// Heading is one of a Markdown text, with what stands below it.
type Heading struct {
	Level int // 1 to 6
	Title string
	Line  int // from 1
	// Start and End are where it and what stands below it, with headings of deeper levels, lie in the text.
	Start, End int
	// Parent is the index of the heading that it stands below, -1 if there is none.
	Parent int
}

// Headings returns those of a Markdown text in their order, of both forms. Lines in fenced code, in comments and in what
// stands before the text between lines of --- are none.
func Headings(text string) []Heading {
	s := scan{text: text}
	s.run()
	var open []int // those that it goes on below, by their levels
	for i := range s.found {
		h := &s.found[i]
		for len(open) > 0 && s.found[open[len(open)-1]].Level >= h.Level {
			s.found[open[len(open)-1]].End = h.Start
			open = open[:len(open)-1]
		}
		if h.Parent = -1; len(open) > 0 {
			h.Parent = open[len(open)-1]
		}
		open = append(open, i)
	}
	for _, i := range open {
		s.found[i].End = len(text)
	}
	return s.found
}

// scan reads a text line by line.
type scan struct {
	text  string
	found []Heading
	// fence is what closes the code that the line is in, "" outside of any.
	fence   string
	comment bool
	// para is where the paragraph begins that the line before is of, -1 if that is of none, and at which line.
	para, paraLine int
}

func (s *scan) run() {
	at, line := s.frontMatter()
	s.para = -1
	for at < len(s.text) {
		end := len(s.text)
		if i := strings.IndexByte(s.text[at:], '\n'); i >= 0 {
			end = at + i + 1
		}
		line++
		s.line(at, end, line)
		at = end
	}
}

// frontMatter returns where the text begins, behind settings between lines of ---, and how many lines these are.
func (s *scan) frontMatter() (at, lines int) {
	for i, line := range strings.SplitAfterN(s.text, "\n", 500) {
		bare := strings.TrimRight(line, " \t\r\n")
		if i == 0 && bare != "---" {
			return 0, 0
		}
		at += len(line)
		if i > 0 && (bare == "---" || bare == "...") {
			return at, i + 1
		}
	}
	return 0, 0
}

// line takes the next line.
func (s *scan) line(at, end, number int) {
	raw := strings.TrimRight(s.text[at:end], " \t\r\n")
	bare := strings.TrimLeft(raw, " ")
	deep := len(raw)-len(bare) > 3 || strings.HasPrefix(raw, "\t")
	switch {
	case s.fence != "":
		if !deep && closes(bare, s.fence) {
			s.fence = ""
		}
		s.para = -1
	case s.comment:
		s.comment, s.para = !strings.Contains(raw, "-->"), -1
	case bare == "":
		s.para = -1
	case deep: // code, or a paragraph that goes on
	case opens(bare) != "":
		s.fence, s.para = opens(bare), -1
	case strings.HasPrefix(bare, "<!--"):
		s.comment, s.para = !strings.Contains(bare, "-->"), -1
	case atx(bare) > 0:
		s.found = append(s.found, Heading{Level: atx(bare), Title: atxTitle(bare), Line: number, Start: at})
		s.para = -1
	case s.para >= 0 && underline(bare) > 0:
		title := strings.Join(strings.Fields(s.text[s.para:at]), " ")
		s.found = append(s.found, Heading{Level: underline(bare), Title: title, Line: s.paraLine, Start: s.para})
		s.para = -1
	case block(bare):
		s.para = -1
	case s.para < 0:
		s.para, s.paraLine = at, number
	}
}

// opens returns the fence that a line opens, "" for none.
func opens(bare string) string {
	for _, c := range []byte{'`', '~'} {
		n := runOf(bare, c)
		if n >= 3 && (c == '~' || !strings.Contains(bare[n:], "`")) {
			return bare[:n]
		}
	}
	return ""
}

// closes reports whether a line closes a fence.
func closes(bare, fence string) bool {
	n := runOf(bare, fence[0])
	return n >= len(fence) && n == len(bare)
}

func runOf(s string, c byte) int {
	n := 0
	for n < len(s) && s[n] == c {
		n++
	}
	return n
}

// atx returns the level of a heading that begins with #, 0 if it is none.
func atx(bare string) int {
	n := runOf(bare, '#')
	if n < 1 || n > 6 || n < len(bare) && bare[n] != ' ' && bare[n] != '\t' {
		return 0
	}
	return n
}

func atxTitle(bare string) string {
	title := strings.Trim(strings.TrimLeft(bare, "#"), " \t")
	if cut := strings.TrimRight(title, "#"); cut == "" || strings.HasSuffix(cut, " ") || strings.HasSuffix(cut, "\t") {
		title = cut
	}
	return strings.Join(strings.Fields(title), " ")
}

// underline returns the level of a heading that the line stands below, 0 if it is no such line.
func underline(bare string) int {
	switch n := len(bare); {
	case runOf(bare, '=') == n:
		return 1
	case runOf(bare, '-') == n:
		return 2
	}
	return 0
}

// block reports whether a line begins something that is no paragraph: a list, a quotation, a table, a rule.
func block(bare string) bool {
	switch bare[0] {
	case '>', '|', '<':
		return true
	case '-', '*', '+':
		return len(bare) == 1 || bare[1] == ' ' || bare[1] == '\t' || runOf(bare, bare[0]) == len(bare)
	}
	digits := strings.TrimLeft(bare, "0123456789")
	return len(digits) < len(bare) && (strings.HasPrefix(digits, ". ") || strings.HasPrefix(digits, ") "))
}

// Above separates a heading from one that stands above it, where a heading alone is not enough: "Install > Linux".
const Above = " > "

// mostNamed is how many headings an error names.
const mostNamed = 12

// Sections returns the parts of a Markdown text below headings, with their subsections, in their order in the text and each
// once. A heading that is not there, or there several times, is an error that names what there is.
func Sections(source, text string, titles []string) (string, error) {
	all := Headings(text)
	if len(all) == 0 {
		return "", thread.Kindf(thread.ErrInvalid, "%s: no headings, so no sections of it can be taken. Leave the sections out", source)
	}
	taken := make([]Heading, 0, len(titles))
	for _, title := range titles {
		i, err := find(source, all, title)
		if err != nil {
			return "", err
		}
		taken = append(taken, all[i])
	}
	slices.SortStableFunc(taken, func(a, b Heading) int { return a.Start - b.Start })
	var out strings.Builder
	at := 0
	for _, h := range taken {
		if h.End <= at { // within one that is taken
			continue
		}
		part := text[max(at, h.Start):h.End]
		out.WriteString(part)
		if !strings.HasSuffix(part, "\n") {
			out.WriteByte('\n')
		}
		at = h.End
	}
	return out.String(), nil
}

// find returns the heading of a title: as it is written, or else without marks and large letters.
func find(source string, all []Heading, title string) (int, error) {
	for _, same := range []func(string) string{collapsed, plain} {
		found := below(all, title, same)
		switch {
		case len(found) == 1:
			return found[0], nil
		case len(found) > 1:
			lines := make([]string, min(len(found), mostNamed))
			for i := range lines {
				lines[i] = fmt.Sprint(all[found[i]].Line)
			}
			if len(found) > mostNamed {
				lines[mostNamed-1] = "\u2026"
			}
			return 0, thread.Hint(thread.Kindf(thread.ErrInvalid, "%s: the heading %q occurs %d times, in the lines %s", source,
				plaintext.Short(title, 80), len(found), strings.Join(lines, ", ")), `write the one above it too: "Above > `+plaintext.Short(title, 80)+`"`)
		}
	}
	var names []string
	for _, h := range all[:min(len(all), mostNamed)] {
		names = append(names, fmt.Sprintf("%q", plaintext.Short(h.Title, 60)))
	}
	more := ""
	if n := len(all) - mostNamed; n > 0 {
		more = fmt.Sprintf(" and %d more", n)
	}
	return 0, thread.Kindf(thread.ErrInvalid, "%s: no heading %q. There are %s%s", source, plaintext.Short(title, 80), strings.Join(names, ", "), more)
}

// below returns the headings with a title, or with the last of several below the others.
func below(all []Heading, title string, same func(string) string) []int {
	whole, path := same(title), strings.Split(title, Above)
	for i := range path {
		path[i] = same(path[i])
	}
	var found []int
	for i, h := range all {
		if is := same(h.Title); is == whole || len(path) > 1 && is == path[len(path)-1] && under(all, h, path[:len(path)-1], same) {
			found = append(found, i)
		}
	}
	return found
}

// under reports whether a heading stands below others, in their order.
func under(all []Heading, h Heading, path []string, same func(string) string) bool {
	for h.Parent >= 0 && len(path) > 0 {
		h = all[h.Parent]
		if same(h.Title) == path[len(path)-1] {
			path = path[:len(path)-1]
		}
	}
	return len(path) == 0
}

func collapsed(s string) string { return strings.Join(strings.Fields(s), " ") }

func plain(s string) string {
	return strings.ToLower(collapsed(strings.Map(func(r rune) rune {
		if strings.ContainsRune("`*_", r) {
			return -1
		}
		return r
	}, s)))
}
