// Package archive exports one thread to one file and imports it on another machine.
//
// The file is a zstd-compressed tar: "format" (a number), "thread" (JSON), "staged/00001" and following (the staged data
// that the thread names), "masks/00001" and following (what is masked of its conversation), "work/00001" and following
// (its executions, in the format of package workfile), "checkpoints/00001" and
// following (records, parents first), "snapshots/00001" and following (a git bundle), and last "manifest": every entry
// with its size and SHA-256. It contains the thread's own checkpoints and all their ancestors, with conversation and
// native transcripts. Staged data, masks, executions and the bundle are streams of the caller's, and may be
// missing.
//
// It does not contain the environment and the arguments that the agent was started with, nor the folders of the machine
// it comes from. An import takes none of these from a file either: an archive is untrusted data, and must not choose
// what is run here, or where.
//
// Secrets of known shapes are redacted in prompts, answers, conversation and transcripts, and the file says so, unless
// the caller includes them; the files in the bundle are unchanged. Secrets are overwritten byte by byte, so that
// offsets into transcripts stay valid and transcripts still match the conversation. An agent's own transcript may
// differ from a redacted one: an import never uses it, and resumes by writing the transcript again.
//
// Import reads the file twice. The first time it checks everything: names, kinds, order, sizes, counts, ratio, hashes,
// JSON depth, that the checkpoints form a consistent tree, and what the callers of the streams check. Only then does it
// write, into a thread that is marked deleted under an Intent, which becomes visible in one step at the end. Repair rolls
// back interrupted imports. Tokens that are in use where the file is imported are replaced by others, as long as they
// are, also where the conversation names them.
package archive

import "orchestrator/checkpoint"

// format is the number of this layout, and oldest the first one that can still be read: 1 cannot say that secrets were
// redacted, and contains them. Others are refused. A file without executions has the number carried, one without staged
// data and masks too the number plain, so that older programs read it.
const (
	format  = 4
	carried = 3
	plain   = 2
	oldest  = 1
)

// Limits of an archive. They are far above real threads and bound what a hostile file can cost.
const (
	maxEntries = 10_000
	maxTotal   = 1 << 30  // plain bytes
	maxRatio   = 100      // plain bytes per compressed byte, after the first ratioFree
	ratioFree  = 16 << 20 // repetitive text compresses well
	maxHead    = 8 << 20  // JSON of one record
	maxSmall   = 1 << 20  // "format", "thread"
	maxList    = 4 << 20  // "manifest"
	maxDepth   = 64       // of JSON
	partSize   = 4 << 20  // of "checkpoints/…" and "snapshots/…" as we write them
	maxPart    = 64 << 20 // as we read them
	window     = 4 << 20  // of zstd as we write it: each export has about as much memory
	maxWindow  = 8 << 20  // as we read it
	maxCells   = 2 << 20  // sizes of transcript files, over all checkpoints
	maxBody    = checkpoint.MaxBody
)

// The entries' names.
const (
	nameFormat     = "format"
	nameThread     = "thread"
	nameManifest   = "manifest"
	dirStaged      = "staged/"
	dirMasks       = "masks/"
	dirWork        = "work/"
	dirCheckpoints = "checkpoints/"
	dirSnapshots   = "snapshots/"
	partName       = "%s%05d"
	intentKind     = "import"
	noteImported   = "imported; its name was %s"
	noteRedacted   = "; secrets were redacted in the file"
)
