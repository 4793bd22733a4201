// Package program is the demo agent as a program: a small terminal agent that takes prompts, sends them
// to a Messages API, runs the tools that are asked for in its working folder, and shows what happens.
//
// It is there to be looked at and to be tested with, and as strict as an agent should be: it stays
// inside its folder, asks before it runs a command unless told otherwise, prints nothing of what a model
// or a command says but plain text, and keeps a transcript that it can go on from after any crash.
package program
