// Package transcript reads and writes agents' native session files: append-only lines of JSON
// that belong to the agent, not to us.
//
// Guarantees: only regular files below the agent's own folder are opened, never through a symbolic
// link; a mark's SHA-256 is checked before anything after it is taken; a half-written last line
// is left for the next reading; a write never replaces a file that holds more than what is
// written, keeps a copy of what it replaces, and is whole or not at all.
//
// It does not know any agent's format, it does not lock the files, and it keeps nothing on disk.
package transcript
