package grant

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"orchestrator/thread"
)

// MaxDepth is how deep runs may start runs at most.
const MaxDepth = 9

// Deep returns the grant to start runs that may themselves start runs, down to a depth: "run" for 1, "run:3" for 3.
func Deep(depth int) thread.Grant {
	if depth <= 1 {
		return Run
	}
	return thread.Grant(fmt.Sprintf("%s:%d", Run, min(depth, MaxDepth)))
}

// Depth returns how deep the runs may go that an agent with these grants starts; 0 if it may start none.
func Depth(grants []thread.Grant) (deepest int) {
	for _, g := range grants {
		deepest = max(deepest, depth(g))
	}
	return deepest
}

// Below returns the grants of a run that an agent with these grants starts: it may start runs one level less deep, and
// has no other of its grants.
func Below(grants []thread.Grant) []thread.Grant {
	if d := Depth(grants); d > 1 {
		return []thread.Grant{Deep(d - 1)}
	}
	return nil
}

// depth returns the depth of a grant to start runs, 0 for one that is none.
func depth(g thread.Grant) int {
	word, number, deep := strings.Cut(string(g), ":")
	if thread.Grant(word) != Run {
		return 0
	}
	if !deep {
		return 1
	}
	n, err := strconv.Atoi(number)
	if err != nil || n < 1 || n > MaxDepth || number != strconv.Itoa(n) {
		return 0
	}
	return n
}

// kind returns a grant without its depth, "" if there is no such grant.
func kind(g thread.Grant) thread.Grant {
	if depth(g) > 0 {
		return Run
	}
	if slices.Contains(Names(), g) {
		return g
	}
	return ""
}

// Of returns the grant of a kind among others, with its depth; "" if it is not among them.
func Of(grants []thread.Grant, want thread.Grant) thread.Grant {
	if want == Run {
		if d := Depth(grants); d > 0 {
			return Deep(d)
		}
		return ""
	}
	if slices.Contains(grants, want) {
		return want
	}
	return ""
}
