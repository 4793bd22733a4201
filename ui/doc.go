// Package ui is the terminal interface: the root model that composes, routes and lays out what the
// packages below it draw. What can be done with threads is in a folder of its own for each feature: its dialogs, its
// calls of the server and what they lead to. A feature knows neither another one nor the root; what it needs of
// either, addFeatures hands to it.
//
// It is a client. It holds nothing worth keeping: a read model of what the server pushed, and what
// the person is in the middle of choosing. Keys become intents once, by the one table of package
// intent. Update and View do no I/O: every effect is a command that ends in a message (of a feature: a host.Reply,
// which says itself what comes of it), and what arrives late for something no longer on show is dropped by its id and generation.
//
// The chrome is drawn by Bubble Tea. The live pane is not: its cells are left blank here and
// painted by the Pane itself, which is told where it stands and when something stands over it.
package ui
