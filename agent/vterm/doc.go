// Package vterm is a terminal emulator without a window: it turns the bytes a program writes to its
// terminal into a screen of cells, a history, modes and events.
//
// It guarantees that Write accepts any bytes, split anywhere, without panic, without blocking and within
// bounded memory: every table is reclaimed, every string and every history is capped, and answers to
// queries are limited in rate. The same bytes give the same screen however they are cut.
//
// It does not lock: one Terminal belongs to one goroutine at a time, the caller holds the lock. It draws
// nothing, starts nothing, and never acts on what a program asks of the outside (clipboard, notification,
// title): it reports such wishes as events. Pictures (sixel, kitty, iTerm) are swallowed.
package vterm
