package input

import (
	"strconv"
	"unicode/utf8"

	"orchestrator/agent/vterm"
)

// Button is a mouse button, with the numbers of the X11 protocol.
type Button uint8

// The buttons.
const (
	ButtonLeft       Button = 0
	ButtonMiddle     Button = 1
	ButtonRight      Button = 2
	ButtonNone       Button = 3
	ButtonWheelUp    Button = 64
	ButtonWheelDown  Button = 65
	ButtonWheelLeft  Button = 66
	ButtonWheelRight Button = 67
	ButtonBack       Button = 128
	ButtonForward    Button = 129
)

// Wheel reports whether the button is a step of the wheel.
func (b Button) Wheel() bool { return b >= ButtonWheelUp && b <= ButtonWheelRight }

// Mouse is one event at a cell, counted from 0 inside of the program's screen.
type Mouse struct {
	X, Y   int
	Button Button
	Mod    Mod
	Action Action
}

// Wants reports whether a program in these modes has asked for the event.
func Wants(e Mouse, m vterm.Modes) bool {
	switch m.Mouse {
	case vterm.MouseX10:
		return e.Action == Press && e.Button <= ButtonRight
	case vterm.MouseNormal:
		return e.Action != Motion
	case vterm.MouseButton:
		return e.Action != Motion || e.Button != ButtonNone
	case vterm.MouseAny:
		return true
	default:
		return false
	}
}

// AppendMouse appends a mouse report; nothing if the program does not want it or cannot be told.
func AppendMouse(dst []byte, e Mouse, m vterm.Modes) []byte {
	if !Wants(e, m) || e.X < 0 || e.Y < 0 || e.Button.Wheel() && e.Action == Release {
		return dst
	}
	b := int(e.Button)
	if m.Mouse != vterm.MouseX10 {
		b |= int(e.Mod&Shift) << 2
		if e.Mod&(Alt|Meta) != 0 {
			b |= 8
		}
		if e.Mod&Ctrl != 0 {
			b |= 16
		}
	}
	if e.Action == Motion {
		b |= 32
	}
	if m.MouseEncoding != vterm.MouseSGR && e.Action == Release {
		b |= 3
	}
	switch m.MouseEncoding {
	case vterm.MouseSGR:
		dst = append(dst, "\x1b[<"...)
		dst = appendNumbers(dst, b, e.X+1, e.Y+1)
		if e.Action == Release {
			return append(dst, 'm')
		}
		return append(dst, 'M')
	case vterm.MouseURXVT:
		dst = append(dst, "\x1b["...)
		return append(appendNumbers(dst, b+32, e.X+1, e.Y+1), 'M')
	case vterm.MouseUTF8:
		if e.X >= 2015 || e.Y >= 2015 {
			return dst
		}
		dst = append(dst, "\x1b[M"...)
		for _, v := range [3]int{b, e.X + 1, e.Y + 1} {
			dst = utf8.AppendRune(dst, rune(v+32))
		}
		return dst
	default:
		if e.X >= 223 || e.Y >= 223 || b > 223 {
			return dst
		}
		return append(dst, 0x1b, '[', 'M', byte(b+32), byte(e.X+33), byte(e.Y+33))
	}
}

func appendNumbers(dst []byte, a, b, c int) []byte {
	dst = append(strconv.AppendInt(dst, int64(a), 10), ';')
	dst = append(strconv.AppendInt(dst, int64(b), 10), ';')
	return strconv.AppendInt(dst, int64(c), 10)
}
