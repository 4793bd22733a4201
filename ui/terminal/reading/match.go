package reading

import (
	"bytes"
	"unicode"
	"unicode/utf8"

	"orchestrator/agent/vterm"
)

// maxHits limits how many matches are kept.
const maxHits = 20000

// Hit is a match, from its first to its last cell.
type Hit struct{ From, To vterm.Point }

// search is a search through the whole text.
type search struct {
	query string
	back  bool // n goes up
	hits  []Hit
	all   bool // hits has every match

	origin vterm.Point // where it began
	top    uint64
}

// again finds the matches of the query.
func (s *search) again(t *vterm.Terminal) {
	s.hits, s.all = s.hits[:0], true
	if s.query == "" {
		return
	}
	m := newMatcher(s.query)
	_, rows := t.Size()
	end := t.FirstLine() + uint64(t.History()+rows)
	for n := t.FirstLine(); n < end; {
		n = m.paragraph(t, n, end)
		for _, h := range m.found {
			if len(s.hits) == maxHits {
				s.all = false
				return
			}
			s.hits = append(s.hits, h)
		}
	}
}

// matcher finds a text in paragraphs: lines with what they are wrapped into. It ignores case unless the query has a
// capital letter.
type matcher struct {
	query []byte
	exact bool
	text  []byte        // of the paragraph, in lower case unless exact
	at    []vterm.Point // of each byte of text
	cells []vterm.Cell
	found []Hit
}

func newMatcher(query string) *matcher {
	m := &matcher{}
	for _, r := range query {
		m.exact = m.exact || unicode.IsUpper(r)
	}
	for _, r := range query {
		m.query = utf8.AppendRune(m.query, m.folded(r))
	}
	return m
}

func (m *matcher) folded(r rune) rune {
	if m.exact {
		return r
	}
	return unicode.ToLower(r)
}

// paragraph finds the matches in the paragraph that begins with line n, and returns the number of the line after it.
func (m *matcher) paragraph(t *vterm.Terminal, n, end uint64) uint64 {
	m.found = m.found[:0]
	n = m.collect(t, n, end)
	for from := 0; ; {
		i := bytes.Index(m.text[from:], m.query)
		if i < 0 {
			return n
		}
		i += from
		from = i + len(m.query)
		m.found = append(m.found, Hit{m.at[i], m.at[from-1]})
	}
}

// collect reads the paragraph that begins with line n, and returns the number of the line after it.
func (m *matcher) collect(t *vterm.Terminal, n, end uint64) uint64 {
	m.text, m.at = m.text[:0], m.at[:0]
	for wrapped := true; wrapped && n < end; n++ {
		m.cells, wrapped = t.Line(m.cells[:0], n)
		m.line(n)
	}
	return n
}

// line adds the cells of a line.
func (m *matcher) line(n uint64) {
	for x := range m.cells {
		c := &m.cells[x]
		if c.Width == 0 {
			continue
		}
		if c.Cluster == "" {
			m.text = utf8.AppendRune(m.text, m.folded(c.Rune))
		} else {
			for _, r := range c.Cluster {
				m.text = utf8.AppendRune(m.text, m.folded(r))
			}
		}
		for len(m.at) < len(m.text) {
			m.at = append(m.at, vterm.Point{Line: n, X: x})
		}
	}
}
