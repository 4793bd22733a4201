package vterm

// Event is something a program reports or asks for outside of the screen. Texts hold no control
// characters.
type Event interface{ isEvent() }

// Bell is BEL.
type Bell struct{}

// TitleChanged reports a new window title.
type TitleChanged struct{ Title string }

// Notification is a program's notification for the person (OSC 9 and 777).
type Notification struct{ Title, Body string }

// Status is the agent's own report (OSC 7501). State is idle, working, blocked, done, error or clear, or another word
// of the agent's.
type Status struct{ State, App, Kind, Message string }

// Progress is OSC 9;4: State 0 none, 1 normal, 2 error, 3 busy without a number, 4 paused.
type Progress struct{ State, Percent int }

// ClipboardSet asks to put text on the clipboard (OSC 52). Nothing is done by the emulator.
type ClipboardSet struct {
	Selection string
	Data      []byte
}

// ClipboardQuery asks for the clipboard. It is never answered.
type ClipboardQuery struct{ Selection string }

// WorkingDir reports the folder of the program as a URL (OSC 7).
type WorkingDir struct{ URL string }

// PromptMark is OSC 133: Kind is A, B, C or D, Args what follows it.
type PromptMark struct {
	Kind byte
	Args string
}

// MouseWanted reports that the wanted mouse events have changed.
type MouseWanted struct{ Mode MouseMode }

func (Bell) isEvent()           {}
func (TitleChanged) isEvent()   {}
func (Notification) isEvent()   {}
func (Status) isEvent()         {}
func (Progress) isEvent()       {}
func (ClipboardSet) isEvent()   {}
func (ClipboardQuery) isEvent() {}
func (WorkingDir) isEvent()     {}
func (PromptMark) isEvent()     {}
func (MouseWanted) isEvent()    {}
