package tokens

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"sync"

	"orchestrator/thread/private"
)

// Calibration learns, by model and tool, how many tokens a provider counts for one that Counter counts.
//
// It is fed with samples: what a provider counted more than for the request before, and what was added in between.
// Samples that cannot be of one conversation that goes on are left out, and of the others a wrong minority does not
// move a factor. Until there are five of a kind, or two large ones that agree, its factor is what was measured for models
// of that name, or 1.
//
// It is bounded: of 32 models, and 64 tools of each, those that were not heard of for longest are given up. It is in a
// file of the folder, written some minutes after a change and by Close; one that is missing, damaged or not ours is as
// good as empty. It is safe for concurrent use.
type Calibration struct {
	folder *private.Folder
	keeper *keeper

	mu      sync.Mutex // guards learned; held for moments
	learned learned
}

// OpenCalibration returns what was learned before, from a folder, which stays the caller's and must outlive it. Stop it
// with Close.
func OpenCalibration(folder *private.Folder, log *slog.Logger) *Calibration {
	c := &Calibration{folder: folder, learned: newLearned()}
	if err := c.read(); err != nil {
		log.Warn("read the calibration of token counts: it will be learned again", "err", err)
	}
	c.keeper = newKeeper("the calibration of token counts", log, c.write)
	return c
}

// Close stores what was learned.
func (c *Calibration) Close() error { return c.keeper.close() }

// Observe learns from a request that continues the conversation of the one before: growth is how many tokens more the
// provider counted, and parts is our count of what was added in between, by tool, with "" for the text of the person
// and the model. A factor is the better, the less of growth is missing from parts. Of a model's answer much may be
// missing, such as reasoning that only the provider can read: so growth is best counted from the end of the answer
// before, and parts without it.
func (c *Calibration) Observe(name string, growth int64, parts map[string]int64) {
	var ours int64
	most := ""
	for tool, n := range parts {
		if n < 0 || n > mostGrowth {
			return
		}
		if ours += n; n > parts[most] {
			most = tool
		}
	}
	s, ok := sampleOf(growth, ours)
	if name = clip(name); !ok || name == "" {
		return
	}
	c.mu.Lock()
	c.learned.add(name, s)
	if parts[most]*5 >= ours*4 && most != AllTools {
		c.learned.addTool(name, clip(most), s)
	}
	c.mu.Unlock()
	c.keeper.changed()
}

// Factor returns by what our count of a tool's output, of the text of person and model ("") or of everything (AllTools)
// is multiplied to get a model's count; margin is the relative error that was observed with it, at least 0.05; and
// observations is how many samples it was learned from, 0 if it is assumed.
func (c *Calibration) Factor(model, tool string) (factor, margin float64, observations int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.learned.factor(clip(model), clip(tool))
}

// read reads the file.
func (c *Calibration) read() error {
	b, err := c.folder.Read(calibrationFile, mostCalibration)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return c.learned.decode(b)
}

// write replaces the file.
func (c *Calibration) write() error {
	c.mu.Lock()
	d := c.learned.document()
	c.mu.Unlock()
	b, err := json.Marshal(d)
	if err == nil {
		err = c.folder.Write(calibrationFile, b)
	}
	if err != nil {
		return fmt.Errorf("store the calibration of token counts: %w", err)
	}
	return nil
}
