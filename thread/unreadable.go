package thread

import (
	"fmt"
	"slices"
	"strings"
)

// Unreadables is a Store that knows which checkpoints it could not read so far. Optional for a Store.
type Unreadables interface {
	Unreadable() []Checkpoint
}

// Unreadable lists the turns of a thread that cannot be read.
type Unreadable struct {
	Thread ID     `json:"thread"`
	Name   string `json:"name"`
	Turns  []int  `json:"turns"` // ascending
}

// String describes it for people.
func (u Unreadable) String() string {
	var runs []string
	turns := slices.Compact(slices.Sorted(slices.Values(u.Turns)))
	for i := 0; i < len(turns); {
		k := i
		for k+1 < len(turns) && turns[k+1] == turns[k]+1 {
			k++
		}
		if runs = append(runs, fmt.Sprint(turns[i])); k > i {
			runs[len(runs)-1] += fmt.Sprintf("–%d", turns[k])
		}
		i = k + 1
	}
	noun := "turn"
	if len(turns) > 1 {
		noun = "turns"
	}
	return fmt.Sprintf("%s: %s %s cannot be read: the stored data is damaged", u.Name, noun, strings.Join(runs, ", "))
}
