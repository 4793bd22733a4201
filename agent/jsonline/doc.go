// Package jsonline is what the dialogues with agents share that print lines of JSON: lines to write, excerpts of what
// tools are given and return, and a Run, which collects what follows from a step.
//
// It guarantees that no text of an event is longer than MaxText, so that a step says at most a few times what it was
// given, that a run ends once, with nothing said after its end, and that each question is answered or withdrawn once, before
// the end at last.
package jsonline
