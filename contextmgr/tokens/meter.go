package tokens

// Meter counts whole texts as a model's provider would: by the model's encoding, corrected by what was learned of it.
type Meter struct {
	counter     *Counter
	calibration *Calibration
	encoding    func(model string) string
}

// NewMeter returns a meter; encoding names a model's.
func NewMeter(counter *Counter, calibration *Calibration, encoding func(model string) string) Meter {
	return Meter{counter, calibration, encoding}
}

// farOff is by how much more a provider may count than we do, of which nothing was measured: encodings of different makers
// differ by less for anything that people give an agent to read.
const farOff = 1.5

// deviations is by how many of its margins a factor may be off, once it was learned: a text has more or less of what a
// provider counts otherwise.
const deviations = 2

// For returns how a model's tokens are counted, by how much the count may be too low, relatively, and from how many answers
// that was learned.
func (m Meter) For(model string) (count func(text string) int64, margin float64, samples int) {
	factor, off, n := m.calibration.Factor(model, "")
	encoding := m.encoding(model)
	count = func(text string) int64 { return int64(float64(m.counter.CountBy(encoding, text))*factor + 0.5) }
	if n == 0 {
		return count, max(off, farOff/factor-1), 0
	}
	return count, deviations * off, n
}
