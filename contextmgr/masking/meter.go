package masking

import "orchestrator/contextmgr/wire"

// imageTokens is about what a picture counts.
const imageTokens = 1600

// mostText is the size beyond which a content with pictures is no text.
const mostText = 16 << 10

// meter estimates how many tokens a model's provider counts.
type meter struct {
	counts      Counts
	calibration Calibration
	model       string
}

// content returns the tokens of a content, without its pictures.
func (m meter) content(c wire.Content) int64 {
	n, ok := m.counts.Known(c.Sum)
	if !ok {
		size := c.End - c.Start
		if c.Other > 0 {
			size = min(size, mostText)
		}
		n = m.counts.Estimate(size)
	}
	factor, _, _ := m.calibration.Factor(m.model, c.Tool)
	return int64(float64(n) * factor)
}

// rest returns the tokens of what is no content: messages, the system prompt, tools.
func (m meter) rest(raw []byte) int64 {
	size, pictures := len(raw), int64(0)
	if size > mostPlain {
		bytesOf, n := pictured(raw)
		size, pictures = size-bytesOf, int64(n)
	}
	return m.text(size) + imageTokens*pictures
}

// text returns the tokens of so many bytes of what is no content and has no pictures.
func (m meter) text(size int) int64 {
	factor, _, _ := m.calibration.Factor(m.model, "")
	return int64(float64(m.counts.Estimate(size)) * factor)
}
