// Package ui is the terminal interface: the root model that composes, routes and lays out what the
// packages below it draw.
//
// It is a client. It holds nothing worth keeping: a read model of what the server pushed, and what
// the person is in the middle of choosing. Keys become intents once, by the one table of package
// intent. Update and View do no I/O: every effect is a command that ends in a typed message, and
// what arrives late for something no longer on show is dropped by its id and generation.
//
// The chrome is drawn by Bubble Tea. The live pane is not: its cells are left blank here and
// painted by the Pane itself, which is told where it stands and when something stands over it.
package ui
