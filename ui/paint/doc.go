// Package paint is the writer under Bubble Tea: it passes on what Bubble Tea draws and draws the one live
// terminal pane itself, at once, without the wait for the next frame of Bubble Tea's ticker.
//
// It guarantees that a change of the pane reaches the terminal at once, or within the frame cap of 8 ms
// after the frame before; that the pane stays right whatever Bubble Tea erases or scrolls; and that nothing
// a program wrote reaches the person's terminal but printable characters inside of the pane's box, with
// colours and attributes from a fixed list: no control, no link, no title, no query.
//
// It is put in place with tea.WithOutput(w) and tea.WithFilter(w.Filter). Bubble Tea's view must leave the
// box of the pane blank, and be in the alternate screen; otherwise the pane is not drawn. While a dialog
// lies over the pane the pane must be suspended. A program started through tea.ExecProcess must be given
// the real os.Stdout, not this writer.
package paint
