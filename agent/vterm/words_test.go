package vterm

import (
	"strconv"
	"strings"
)

// String is the form of the conformance cases: "", "7" or "#0a0b0c".
func (c Color) String() string {
	if n, ok := c.Palette(); ok {
		return strconv.Itoa(int(n))
	}
	if r, g, b, ok := c.RGB(); ok {
		const hex = "0123456789abcdef"
		return string([]byte{'#', hex[r>>4], hex[r&15], hex[g>>4], hex[g&15], hex[b>>4], hex[b&15]})
	}
	return ""
}

// String names the underline.
func (u Underline) String() string {
	switch u {
	case UnderlineSingle:
		return "single"
	case UnderlineDouble:
		return "double"
	case UnderlineCurly:
		return "curly"
	case UnderlineDotted:
		return "dotted"
	case UnderlineDashed:
		return "dashed"
	default:
		return "none"
	}
}

// String names the shape.
func (c CursorStyle) String() string {
	switch c {
	case CursorBlinkingBlock:
		return "blinking block"
	case CursorSteadyBlock:
		return "block"
	case CursorBlinkingUnderline:
		return "blinking underline"
	case CursorSteadyUnderline:
		return "underline"
	case CursorBlinkingBar:
		return "blinking bar"
	case CursorSteadyBar:
		return "bar"
	default:
		return "default"
	}
}

// String names the mode.
func (m MouseMode) String() string {
	return [...]string{"none", "x10", "normal", "button", "any"}[min(m, MouseAny)]
}

// String names the encoding.
func (m MouseEncoding) String() string {
	return [...]string{"bytes", "utf8", "urxvt", "sgr"}[min(m, MouseSGR)]
}

// LineText returns line n, in the numbering of FirstLine, without trailing blanks.
func (t *Terminal) LineText(n uint64) string {
	cells, _ := t.Line(nil, n)
	return strings.TrimRight(string(appendCells(nil, cells)), " ")
}
