// Package transcript reads and writes agents' native session files: append-only lines of JSON that belong to the agent.
//
// Guarantees: only regular files below the agent's own folder are opened, never through a symbolic link; a mark's
// SHA-256 is verified before anything after it is returned; an incomplete last line is left for the next reading; a
// write never replaces a file that contains more than what is written, keeps a copy of what it replaces, and is atomic.
//
// It knows no agent's format, does not lock the files, and keeps nothing on disk.
package transcript
