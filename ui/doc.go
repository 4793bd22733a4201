// Package ui is the terminal interface: the root model that composes, routes and lays out what the packages below it
// draw. Each feature has a folder of its own, with its dialogs, its calls to the server and what happens with their
// results. A feature knows neither other features nor the root; addFeatures passes it what it needs of either.
//
// It is a client without durable state: it has a read model of what the server pushed, and what the user is currently
// choosing. The table in package intent turns keys into intents. Update and View do no I/O: every effect is a command
// that ends in a message (for features a host.Reply, a function to run in Update), and late messages about something
// that is no longer shown are dropped by id and generation.
//
// Bubble Tea draws the chrome, but not the live pane: its cells are left blank here and painted by the Pane itself,
// which is told its place and when something covers it.
package ui
