package terminal

import (
	"orchestrator/agent/vterm/input"

	tea "charm.land/bubbletea/v2"
)

// keyCodes has the keys whose names differ.
var keyCodes = map[rune]rune{
	tea.KeyUp: input.KeyUp, tea.KeyDown: input.KeyDown, tea.KeyRight: input.KeyRight, tea.KeyLeft: input.KeyLeft,
	tea.KeyHome: input.KeyHome, tea.KeyEnd: input.KeyEnd, tea.KeyBegin: input.KeyBegin,
	tea.KeyFind: input.KeyHome, tea.KeySelect: input.KeyEnd,
	tea.KeyInsert: input.KeyInsert, tea.KeyDelete: input.KeyDelete,
	tea.KeyPgUp: input.KeyPageUp, tea.KeyPgDown: input.KeyPageDown,
	tea.KeyKpEnter: input.KeyKpEnter, tea.KeyKpEqual: input.KeyKpEqual, tea.KeyKpMultiply: input.KeyKpMultiply,
	tea.KeyKpPlus: input.KeyKpAdd, tea.KeyKpComma: input.KeyKpSep, tea.KeyKpMinus: input.KeyKpSubtract,
	tea.KeyKpDecimal: input.KeyKpDecimal, tea.KeyKpDivide: input.KeyKpDivide, tea.KeyKpSep: input.KeyKpSep,
	tea.KeyKpLeft: input.KeyKpLeft, tea.KeyKpRight: input.KeyKpLeft + 1, tea.KeyKpUp: input.KeyKpLeft + 2,
	tea.KeyKpDown: input.KeyKpLeft + 3, tea.KeyKpPgUp: input.KeyKpLeft + 4, tea.KeyKpPgDown: input.KeyKpLeft + 5,
	tea.KeyKpHome: input.KeyKpLeft + 6, tea.KeyKpEnd: input.KeyKpLeft + 7, tea.KeyKpInsert: input.KeyKpLeft + 8,
	tea.KeyKpDelete: input.KeyKpLeft + 9, tea.KeyKpBegin: input.KeyKpBegin,
	tea.KeyCapsLock: input.KeyCapsLock, tea.KeyScrollLock: input.KeyCapsLock + 1, tea.KeyNumLock: input.KeyCapsLock + 2,
	tea.KeyPrintScreen: input.KeyCapsLock + 3, tea.KeyPause: input.KeyCapsLock + 4, tea.KeyMenu: input.KeyMenu,
	tea.KeyExtended: 0,
}

var modifiers = [...]struct {
	from tea.KeyMod
	to   input.Mod
}{
	{tea.ModShift, input.Shift}, {tea.ModAlt, input.Alt}, {tea.ModCtrl, input.Ctrl}, {tea.ModMeta, input.Meta},
	{tea.ModHyper, input.Hyper}, {tea.ModSuper, input.Super}, {tea.ModCapsLock, input.CapsLock},
	{tea.ModNumLock, input.NumLock},
}

func modsOf(m tea.KeyMod) (out input.Mod) {
	for _, p := range modifiers {
		if m&p.from != 0 {
			out |= p.to
		}
	}
	return out
}

// keyOf translates a key event.
func keyOf(k tea.Key, released bool) input.Key {
	out := input.Key{Code: k.Code, Shifted: k.ShiftedCode, Base: k.BaseCode, Text: k.Text, Mod: modsOf(k.Mod)}
	switch {
	case k.Code >= tea.KeyF1 && k.Code <= tea.KeyF35:
		out.Code = input.KeyFn(int(k.Code-tea.KeyF1) + 1)
	case k.Code >= tea.KeyKp0 && k.Code <= tea.KeyKp9:
		out.Code = input.KeyKp0 + (k.Code - tea.KeyKp0)
	case k.Code >= tea.KeyMediaPlay && k.Code <= tea.KeyIsoLevel5Shift:
		out.Code = 57428 + (k.Code - tea.KeyMediaPlay)
	default:
		if code, ok := keyCodes[k.Code]; ok {
			out.Code = code
		}
	}
	switch {
	case released:
		out.Action = input.Release
	case k.IsRepeat:
		out.Action = input.Repeat
	}
	return out
}

var buttons = map[tea.MouseButton]input.Button{
	tea.MouseNone: input.ButtonNone, tea.MouseLeft: input.ButtonLeft, tea.MouseMiddle: input.ButtonMiddle,
	tea.MouseRight: input.ButtonRight, tea.MouseWheelUp: input.ButtonWheelUp, tea.MouseWheelDown: input.ButtonWheelDown,
	tea.MouseWheelLeft: input.ButtonWheelLeft, tea.MouseWheelRight: input.ButtonWheelRight,
	tea.MouseBackward: input.ButtonBack, tea.MouseForward: input.ButtonForward,
}

// mouseOf translates a mouse event to cells of the pane.
func mouseOf(msg tea.MouseMsg, x, y int) (input.Mouse, bool) {
	m := msg.Mouse()
	button, ok := buttons[m.Button]
	e := input.Mouse{X: m.X - x, Y: m.Y - y, Button: button, Mod: modsOf(m.Mod)}
	switch msg.(type) {
	case tea.MouseReleaseMsg:
		e.Action = input.Release
	case tea.MouseMotionMsg:
		e.Action = input.Motion
	}
	return e, ok
}
