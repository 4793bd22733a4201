// Package terminal is the live pane of the user interface: a thread's terminal, shown, scrolled, selected
// from and typed into.
//
// Model is a sub-model for Bubble Tea: the root routes keys, pastes and mouse events to Update while the
// pane has the focus, and says by Place, Suspend and Focus where it is and how it is shown. It draws nothing
// itself: the painter does, and the root leaves its box blank. Update does no I/O: keys go into a queue that
// a goroutine of the attachment empties in order.
//
// What the program in the terminal asks of the outside (clipboard, title, notifications) is not done here:
// the title can be read, the rest is the server's to report. What a person pastes is sent as text only.
package terminal
