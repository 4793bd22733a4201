// Package terminal is the live pane of the user interface: a thread's terminal, which can be scrolled, selected from
// and typed into.
//
// Model is a sub-model for Bubble Tea. The root routes keys, pastes and mouse events to Update while the pane is
// focused, and sets its place and how it is shown with Place, Suspend and Focus. It draws nothing itself: the painter
// does, and the root leaves its box blank. Update does no I/O: keys go into a queue that a goroutine of the attachment
// sends in order.
//
// Requests of the program to the outside (clipboard, title, notifications) are not handled here: the title can be read,
// and the server reports the rest. Pasted content is sent as text only.
package terminal
