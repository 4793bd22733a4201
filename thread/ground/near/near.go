// Package near finds what a mistyped name may mean: names at most two letters away, never as many as half the name.
package near

import (
	"cmp"
	"slices"
	"strings"
)

// maxName bounds what is compared: names are shorter, and a pasted page must not take a second.
const maxName = 64

// Most is how many names are worth suggesting.
const Most = 3

// Names returns up to Most of the names that are near one, the nearest first.
func Names(name string, all []string) []string {
	type close struct {
		name  string
		edits int
	}
	var found []close
	for _, n := range all {
		if edits, ok := Edits(name, n); ok {
			found = append(found, close{n, edits})
		}
	}
	slices.SortStableFunc(found, func(a, b close) int { return cmp.Compare(a.edits, b.edits) })
	var names []string
	for _, c := range found[:min(Most, len(found))] {
		names = append(names, c.name)
	}
	return names
}

// Edits counts the letters to insert, delete, replace or swap with their neighbour to get from one name to another,
// whatever their case. It reports whether the names are near.
func Edits(a, b string) (int, bool) {
	x, y := letters(a), letters(b)
	n := distance(x, y)
	return n, n <= 2 && 2*n < len(x)
}

func letters(s string) []rune {
	r := []rune(strings.ToLower(s))
	return r[:min(len(r), maxName)]
}

func distance(a, b []rune) int {
	before, row := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range a {
		next := make([]int, len(b)+1)
		next[0] = i + 1
		for j := range b {
			cost := row[j]
			if a[i] != b[j] {
				cost++
			}
			next[j+1] = min(cost, row[j+1]+1, next[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				next[j+1] = min(next[j+1], before[j-1]+1)
			}
		}
		before, row = row, next
	}
	return row[len(b)]
}
