// Package vterm is a terminal emulator without a window: it turns the bytes a program writes to its
// terminal into a screen of cells, a history, modes and events.
//
// It guarantees that Write accepts any bytes, split anywhere, without panic, without blocking and within
// bounded memory: every table is reclaimed, every string and every history is capped, and answers to
// queries are limited in rate. The same bytes give the same screen however they are cut.
//
// It does not lock: one Terminal belongs to one goroutine at a time, and the caller holds the lock. It draws nothing,
// starts nothing, and never acts on a program's requests to the outside: it reports
// notifications and titles as events and ignores what is for the clipboard. Images (sixel, kitty, iTerm) are ignored.
package vterm
