package tokens

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
)

// OpenSmallCounts is OpenCounts with other limits.
var OpenSmallCounts = openCounts

// The limits, for tests.
const (
	KeepEvery  = keepEvery
	PartSize   = partSize
	JobSize    = jobSize
	MostModels = mostModels
	MostTools  = mostTools
)

// Blocked returns a counter like another one, which does not count before release is called.
func Blocked(like *Counter) (c *Counter, release func()) {
	c = New()
	begun, let := make(chan struct{}), make(chan struct{})
	e := &encoding{}
	c.by[Default] = e
	go e.load.Do(func() {
		close(begun)
		<-let
		e.split, e.ranks = splitter(Default), like.by[Default].ranks
	})
	<-begun
	return c, func() { close(let) }
}

// Queued returns how many texts are queued or being counted, and how many bytes they take.
func (c *Counts) Queued() (texts int, bytes int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.queued), c.held
}

// Waiting returns how many texts are queued and not yet being counted.
func (c *Counts) Waiting() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.queue)
}

// Stopping is closed once Close has been called.
func (c *Counts) Stopping() <-chan struct{} { return c.stop }

// Decode reads a file into a calibration.
func (c *Calibration) Decode(b []byte) error { return c.learned.decode(b) }

// Encode returns the file of a calibration.
func (c *Calibration) Encode() ([]byte, error) { return json.Marshal(c.learned.document()) }

// NewCalibration returns a calibration that is not stored.
func NewCalibration() *Calibration {
	return &Calibration{learned: newLearned(), keeper: &keeper{wake: make(chan struct{}, 1)}}
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
