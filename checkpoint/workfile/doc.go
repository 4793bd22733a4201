// Package workfile carries the record of work from one store to another in a file: work sessions with their tasks, bundles
// with the content of their pieces, and executions of all kinds with their events, allocations and outputs; of plans their
// tasks with agents and history, what was handed over, and which were armed, none of which goes on by itself elsewhere.
//
// The file is lines. The first says what it is; each other has the hash of its rest, what it is, and a JSON object, a
// work.Whole. They come newest first. What refers to others comes before them, so that all of a store in use is in the
// file that anything in it names.
//
// A line that does not match its hash is lost, and said; all others are taken. What is there already stays as it is. A name
// that something else has here stays with that: what comes takes another, what refers to it follows, and that is said too.
// To read a file twice changes nothing the second time.
//
// A file is the word of whoever wrote it. All of it is checked, and hashes of bundles are made again. A backup is trusted for
// what it says to have seen. An archive (As) is not: see there.
//
// Without secrets, texts are redacted, and a piece that has one is left out: its hash would not hold any more.
package workfile

// head is the first line.
const head = "orchestrator-record 1"

// The kinds of lines.
const (
	lineExecution = 'X'
	lineBundle    = 'B'
	lineSession   = 'S'
	lineTask      = 'T' // of a plan, a plan.Whole as the next two
	lineHanded    = 'H'
	lineArmed     = 'A'
)

const (
	sumSize = 16       // hex digits of the hash
	maxLine = 64 << 20 // of a line
	maxRows = 4_000_000
	// An object counts for as much as so many values: of 8 MB of them, "{}," makes 1 GB.
	heavy    = 12
	maxParts = 3_000_000 // of a line: objects and lists, and values
	maxDepth = 64
	maxText  = 24 << 20 // of all events of an execution, and of all pieces of a bundle
	page     = 1000
	events   = 10_000
	batch    = 200     // items of one transaction
	weight   = 8 << 20 // and about their bytes
)
