// Package archive writes one thread into one file and reads it back on another machine.
//
// The file is a zstd-compressed tar: "format" (a number), "thread" (JSON), "checkpoints/00001" and on (records,
// parents first), "snapshots/00001" and on (a git bundle, when the caller has one), and last "manifest": every
// entry with its size and SHA-256. It holds the thread's own checkpoints and all that they stand on, with
// conversation and native transcripts.
//
// What it does not hold: the environment and the arguments that the agent was started with, and the folders of
// the machine it comes from. An import takes none of these from a file either: an archive is data from
// somebody, and must not choose what is run here, or where.
//
// Secrets of known shapes are left out of prompts, answers, conversation and transcripts, and the file says so, unless
// the caller wants them in; the bundle's files are as they are. They are overwritten byte by byte, so that what is
// known of transcripts by offset goes on to fit, and transcripts and conversation to be alike. An agent's own transcript can differ from such a
// one: an import never looks for it, and resumes by writing the transcript again.
//
// Import reads the file twice. The first time it checks everything: names, kinds, order, sizes, counts, ratio,
// hashes, JSON depth, and that the checkpoints form a tree whose parts fit. Only then does it write, into a
// thread that is marked deleted under an Intent, which becomes visible in one step at the end. Repair takes back
// what was cut off.
package archive

import "orchestrator/checkpoint"

// format is the number of this layout, and oldest the first that is read, too: 1 cannot say that secrets were left
// out, and holds them. Others are refused.
const (
	format = 2
	oldest = 1
)

// Limits of an archive. They are far above real threads and bound what a hostile file can cost.
const (
	maxEntries = 10_000
	maxTotal   = 1 << 30  // plain bytes
	maxRatio   = 100      // plain bytes for one compressed, beyond the first ratioFree
	ratioFree  = 16 << 20 // text that repeats compresses well
	maxHead    = 8 << 20  // JSON of one record
	maxSmall   = 1 << 20  // "format", "thread"
	maxList    = 4 << 20  // "manifest"
	maxDepth   = 64       // of JSON
	partSize   = 4 << 20  // of "checkpoints/…" and "snapshots/…" as we write them
	maxPart    = 64 << 20 // as we read them
	maxWindow  = 8 << 20  // of zstd
	maxCells   = 2 << 20  // sizes of transcript files, of all checkpoints together
	maxBody    = checkpoint.MaxBody
)

// The entries' names.
const (
	nameFormat     = "format"
	nameThread     = "thread"
	nameManifest   = "manifest"
	dirCheckpoints = "checkpoints/"
	dirSnapshots   = "snapshots/"
	partName       = "%s%05d"
	intentKind     = "import"
	noteImported   = "imported; it was called %s"
	noteRedacted   = "; secrets were left out of the file"
)
