package runs

import (
	"path/filepath"

	"orchestrator/thread"
)

// maxRead is how many files are remembered as read.
const maxRead = 10_000

// Calls counts the calls of tools that an agent reports, with those of its sub-agents. The zero value has none.
type Calls struct {
	// Dir is where a relative path begins.
	Dir string
	// Made is how many calls have begun, Rereads how many of them read a file that was read before.
	Made, Rereads int

	open map[string]bool // calls that have not returned
	read map[string]bool // files that were read
}

// Add takes an event, in order.
func (c *Calls) Add(e thread.RunEvent) {
	key := e.Sub + "\x00" + e.Call
	switch e.Kind {
	case thread.RunTool:
		c.Made++
		if c.open == nil {
			c.open, c.read = map[string]bool{}, map[string]bool{}
		}
		c.open[key] = true
		c.reads(e.Reads)
	case thread.RunResult:
		delete(c.open, key)
	default:
	}
}

// reads takes the file that a call reads, "" if it does not only do that.
func (c *Calls) reads(file string) {
	if file == "" {
		return
	}
	if file = filepath.Clean(file); !filepath.IsAbs(file) {
		file = filepath.Join(c.Dir, file)
	}
	if c.read[file] {
		c.Rereads++
	} else if len(c.read) < maxRead {
		c.read[file] = true
	}
}

// Over reports whether an agent that had made some calls before has begun more than it may make; Used whether it has made
// all of them, and the last one has returned. Most of 0 or less is no bound.
func (c *Calls) Over(before, most int) bool { return most > 0 && before+c.Made > most }

// Used is described at Over.
func (c *Calls) Used(before, most int) bool {
	return most > 0 && c.Made > 0 && before+c.Made >= most && len(c.open) == 0
}
