package tokens

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"slices"
	"strings"
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

// Row is what is in use for a model and a tool, for people.
type Row struct {
	Model string `json:"model"`
	// Tool is AllTools for everything, and "" for the text of person and model.
	Tool         string  `json:"tool"`
	Factor       float64 `json:"factor"`
	Margin       float64 `json:"margin"`
	Observations int     `json:"observations"` // how many there have been
	// Learned is set if there have been enough of them; otherwise the factor is assumed, or that of the model.
	Learned bool `json:"learned"`
}

// All returns a row for each model and tool that was observed, sorted, with a model's AllTools first.
func (c *Calibration) All() []Row {
	c.mu.Lock()
	defer c.mu.Unlock()
	rows := []Row{}
	add := func(name, tool string, k *kind) {
		factor, margin, _ := c.learned.factor(name, tool)
		rows = append(rows, Row{
			Model: name, Tool: tool, Factor: factor, Margin: margin, Observations: k.n, Learned: k.believed(),
		})
	}
	for name, m := range c.learned.models {
		add(name, AllTools, &m.all)
		for tool, k := range m.tools {
			add(name, tool, k)
		}
	}
	slices.SortFunc(rows, func(a, b Row) int {
		all := func(r Row) int {
			if r.Tool == AllTools {
				return 0
			}
			return 1
		}
		return cmp.Or(strings.Compare(a.Model, b.Model), all(a)-all(b), strings.Compare(a.Tool, b.Tool))
	})
	return rows
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
