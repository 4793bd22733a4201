package vterm

import (
	"encoding/binary"
	"unicode/utf8"
)

const lineWrapped = 1

// Kinds of characters of a run, the low bits of its header.
const (
	runNarrow    = iota // count characters of one cell each
	runWide             // count characters of two cells
	runCluster          // one grapheme of count bytes, one cell
	runClusterW         // one grapheme of count bytes, two cells
	runKind      = 3
	runSameStyle = 1 << 2
	runAttr      = 1 << 3
	runFg        = 1 << 4
	runBg        = 1 << 5
	runUl        = 1 << 6
	runLink      = 1 << 7
)

func runOf(c cell) int {
	kind := runNarrow
	if c.ch&clusterBit != 0 {
		kind = runCluster
	}
	if c.width() == 2 {
		kind++
	}
	return kind
}

func appendStyle(dst []byte, head byte, s Style) []byte {
	at := len(dst)
	dst = append(dst, 0)
	if s.Attr != 0 {
		head |= runAttr
		dst = binary.LittleEndian.AppendUint16(dst, uint16(s.Attr))
	}
	for i, c := range [3]Color{s.Fg, s.Bg, s.Ul} {
		if c.IsDefault() {
			continue
		}
		head |= runFg << i
		if n, ok := c.Palette(); ok {
			dst = append(dst, 0, n)
		} else {
			dst = append(dst, 1, byte(c>>16), byte(c>>8), byte(c))
		}
	}
	if s.Link != 0 {
		head |= runLink
		dst = binary.LittleEndian.AppendUint16(dst, s.Link)
	}
	dst[at] = head
	return dst
}

// unpacker walks the runs of a packed line.
type unpacker struct {
	b       []byte
	wrapped bool
	cells   int

	style Style
	kind  int
	count int
	text  []byte
}

func newUnpacker(line []byte) unpacker {
	u := unpacker{}
	if len(line) == 0 {
		return u
	}
	u.wrapped = line[0]&lineWrapped != 0
	n, k := binary.Uvarint(line[1:])
	u.cells = int(n)
	u.b = line[1+k:]
	return u
}

// next reads a run. The lines are our own, so they are well formed.
func (u *unpacker) next() bool {
	if len(u.b) == 0 {
		return false
	}
	head := u.b[0]
	u.b = u.b[1:]
	u.kind = int(head & runKind)
	if head&runSameStyle == 0 {
		u.readStyle(head)
	}
	n, k := binary.Uvarint(u.b)
	u.count = int(n)
	u.b = u.b[k:]
	size := u.count
	if u.kind < runCluster {
		size = runeBytes(u.b, u.count)
	}
	u.text, u.b = u.b[:size], u.b[size:]
	return true
}

// runeBytes returns the length of the first n code points.
func runeBytes(b []byte, n int) int {
	i := 0
	for ; n > 0; n-- {
		if b[i] < utf8.RuneSelf {
			i++
			continue
		}
		_, k := utf8.DecodeRune(b[i:])
		i += k
	}
	return i
}

func (u *unpacker) readStyle(head byte) {
	s := Style{}
	if head&runAttr != 0 {
		s.Attr = Attr(binary.LittleEndian.Uint16(u.b))
		u.b = u.b[2:]
	}
	for i, c := range [3]*Color{&s.Fg, &s.Bg, &s.Ul} {
		if head&(runFg<<i) == 0 {
			continue
		}
		if u.b[0] == 0 {
			*c = PaletteColor(u.b[1])
			u.b = u.b[2:]
		} else {
			*c = RGBColor(u.b[1], u.b[2], u.b[3])
			u.b = u.b[4:]
		}
	}
	if head&runLink != 0 {
		s.Link = binary.LittleEndian.Uint16(u.b)
		u.b = u.b[2:]
	}
	u.style = s
}
