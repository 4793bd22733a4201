package tokens

import "encoding/json"

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
