// Package paint is the writer under Bubble Tea: it forwards what Bubble Tea draws, and draws the live terminal panes
// themselves, immediately, without waiting for the next frame of Bubble Tea's ticker.
//
// It guarantees that a change of the pane reaches the terminal immediately, or 8 ms after its previous frame, 33 ms if
// the pane is only watched; that the
// pane stays correct whatever Bubble Tea erases or scrolls; and that a program's output reaches the user's terminal
// only as printable characters inside the pane's box, with colours and attributes from a fixed list, and links to pages
// that are written anew: no controls, titles or queries.
//
// Install it with tea.WithOutput(w) and tea.WithFilter(w.Filter), and let Bubble Tea read from the terminal, which is in
// raw mode then. Its view must leave the pane's box blank and use the alternate screen; otherwise the pane is not drawn. Suspend the pane while a dialog covers it. A program
// started through tea.ExecProcess must get the real os.Stdout, not this writer.
package paint
