// Package program is the demo agent as a program: a small terminal agent that takes prompts, sends them to a Messages
// API, runs the tools that the model calls in its working folder, and shows what happens.
//
// It is for trying out and for tests, and as strict as an agent should be: it stays inside its folder, asks before it
// runs a command unless configured otherwise, prints the text of models and commands without control characters, and
// keeps a transcript from which it can resume after any crash.
package program
