package tokens

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
)

const (
	calibrationFile    = "calibration.json"
	calibrationVersion = 1
	// mostCalibration is more than the file can be.
	mostCalibration = 16 << 20
	mostSeen        = 1 << 40 // no number of observations is larger
)

// calibrationDocument is the content of the file. The rows are in the order in which they were observed last.
type calibrationDocument struct {
	Version int              `json:"version"`
	Rows    []calibrationRow `json:"rows"`
}

// calibrationRow is what was learned of a model (its tool is AllTools), or of a tool.
type calibrationRow struct {
	Model  string       `json:"model"`
	Tool   string       `json:"tool"`
	N      int          `json:"n"`
	Margin float64      `json:"margin"`
	Seen   [][2]float64 `json:"seen"` // ratio and weight
}

// decode adds what is in a file. Rows that document cannot have written are left out.
func (l *learned) decode(b []byte) error {
	var d calibrationDocument
	if err := json.Unmarshal(b, &d); err != nil {
		return err
	}
	if d.Version != calibrationVersion {
		return fmt.Errorf("version %d of the file is unknown", d.Version)
	}
	for _, r := range d.Rows {
		if s, ok := r.samples(); ok && r.Model != "" && r.Model == clip(r.Model) && r.Tool == clip(r.Tool) {
			l.clock++
			m := l.model(r.Model)
			k := &m.all
			if r.Tool != AllTools {
				k = m.tool(r.Tool)
			}
			k.samples, k.used = s, l.clock
		}
	}
	return nil
}

// samples returns what a row says, and whether it can be true.
func (r calibrationRow) samples() (samples, bool) {
	s := samples{n: r.N, margin: r.Margin}
	if len(r.Seen) == 0 || len(r.Seen) > window || r.N < len(r.Seen) || r.N > mostSeen ||
		!(r.Margin >= 0 && r.Margin <= mostMargin) {
		return samples{}, false
	}
	for _, p := range r.Seen {
		p := sample{p[0], p[1]}
		if !p.sane() {
			return samples{}, false
		}
		s.seen = append(s.seen, p)
	}
	s.factor = median(s.seen)
	return s, true
}

// document returns the content of the file.
func (l *learned) document() calibrationDocument {
	type used struct {
		calibrationRow
		at uint64
	}
	var all []used
	add := func(model, tool string, k *kind) {
		r := calibrationRow{Model: model, Tool: tool, N: k.n, Margin: rounded(k.margin)}
		for _, p := range k.seen {
			r.Seen = append(r.Seen, [2]float64{rounded(p.ratio), rounded(p.weight)})
		}
		all = append(all, used{r, k.used})
	}
	for name, m := range l.models {
		add(name, AllTools, &m.all)
		for tool, k := range m.tools {
			add(name, tool, k)
		}
	}
	slices.SortFunc(all, func(a, b used) int { // the model's own row is observed with its tool's, and is read first
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(b.N, a.N))
	})
	d := calibrationDocument{Version: calibrationVersion, Rows: []calibrationRow{}}
	for _, u := range all {
		d.Rows = append(d.Rows, u.calibrationRow)
	}
	return d
}

// rounded keeps four digits after the point: what is stored need not be more exact than what is learned.
func rounded(f float64) float64 { return math.Round(f*1e4) / 1e4 }
