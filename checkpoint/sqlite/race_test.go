//go:build race

package sqlite_test

// raceEnabled is set where the race detector makes compression some thirty times slower.
const raceEnabled = true
