// Package runlog writes what an agent without a terminal reports as a log for people, in the bytes that an emulator of a
// terminal takes: the prompt, the text as it streams in, a line for each call of a tool, the beginning of its result, and how
// the run ended.
//
// Guarantees: nothing in an agent's text acts on the emulator; what it prints moves down only, and one event makes at most
// about maxText bytes of it. What is left out is counted.
package runlog
