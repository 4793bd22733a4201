package plan

import "strings"

// Overlap reports whether two patterns of files can name the same one. ** stands for any folders, * for anything in a name,
// ? and a class in brackets for one character of it. With a slash at its end, a pattern stands for all that is in a folder;
// a folder and all that is in it are the same here.
func Overlap(a, b string) bool {
	a, b = wholePattern(a), wholePattern(b)
	if short := min(literal(a), literal(b)); a[:short] != b[:short] {
		return false
	}
	return (&overlap{a: a, b: b, known: map[[2]int]bool{}}).from(0, 0)
}

// wholePattern is a pattern from the project's root, without what says nothing.
func wholePattern(p string) string {
	p = strings.TrimPrefix(strings.TrimPrefix(p, "./"), "/")
	if strings.HasSuffix(p, "/") {
		p += "**"
	}
	return p
}

// literal is how long the part of a pattern is that stands for itself.
func literal(p string) int {
	if i := strings.IndexAny(p, "*?["); i >= 0 {
		return i
	}
	return len(p)
}

// overlap looks for a path that two patterns match.
type overlap struct {
	a, b  string
	known map[[2]int]bool // what was looked at: it leads nowhere, or is being looked at
}

// from reports whether some path is matched by the rest of a from i and of b from j.
func (o *overlap) from(i, j int) bool {
	if i == len(o.a) && j == len(o.b) {
		return true
	}
	at := [2]int{i, j}
	if o.known[at] {
		return false
	}
	o.known[at] = true
	x, y := nextOf(o.a, i), nextOf(o.b, j)
	switch {
	case x.many && o.from(x.end, j), y.many && o.from(i, y.end): // nothing more of it
		return true
	case i == len(o.a), j == len(o.b):
		// What is left may be all that is in a folder.
		return strings.HasPrefix(o.a[i:]+o.b[j:], "/**")
	case !x.meets(y):
		return false
	}
	ends, other := x.end, y.end
	if x.many {
		ends = i
	}
	if y.many {
		other = j
	}
	if x.many && y.many {
		return o.from(i, y.end) || o.from(x.end, j)
	}
	return o.from(ends, other)
}

// matcher is a part of a pattern: what stands for one character, or for any number of them.
type matcher struct {
	char  byte // of one that is exact: what it stands for
	many  bool
	deep  bool // slashes too
	end   int
	exact bool
}

// nextOf returns the matcher of a pattern at a place.
func nextOf(p string, i int) matcher {
	switch {
	case i == len(p):
		return matcher{end: i}
	case strings.HasPrefix(p[i:], "**/"):
		return matcher{many: true, deep: true, end: i + 3}
	case strings.HasPrefix(p[i:], "**"):
		return matcher{many: true, deep: true, end: i + 2}
	case p[i] == '*':
		return matcher{many: true, end: i + 1}
	case p[i] == '?':
		return matcher{end: i + 1}
	case p[i] == '[':
		if n := strings.IndexByte(p[i:], ']'); n > 1 {
			return matcher{end: i + n + 1}
		}
	}
	return matcher{char: p[i], exact: true, end: i + 1}
}

// meets reports whether one character can be of both.
func (p matcher) meets(q matcher) bool {
	switch {
	case p.exact && q.exact:
		return p.char == q.char
	case p.exact:
		return q.deep || p.char != '/'
	case q.exact:
		return p.deep || q.char != '/'
	}
	return true
}

// BothWrite returns a pattern of files that agents of both plans write, "" for none.
func BothWrite(p, q Plan) string {
	for _, a := range p.Agents {
		for _, pattern := range a.Writes {
			for _, b := range q.Agents {
				for _, other := range b.Writes {
					if Overlap(pattern, other) {
						return pattern
					}
				}
			}
		}
	}
	return ""
}
