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
type Status struct{ State, Kind, Message string }

// Progress is OSC 9;4: State 0 none, 1 normal, 2 error, 3 busy without a number, 4 paused. Percent is from 0 to 100.
type Progress struct{ State, Percent int }

// Clipboard is a program's wish to put a text on the person's clipboard (OSC 52). What is on it is never told. It may
// have newlines and tabs.
type Clipboard struct{ Text string }

func (Clipboard) isEvent()    {}
func (Bell) isEvent()         {}
func (TitleChanged) isEvent() {}
func (Notification) isEvent() {}
func (Status) isEvent()       {}
func (Progress) isEvent()     {}
