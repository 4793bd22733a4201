package verb

import "fmt"

// first cuts a list to its limit, and says how to see the rest if there is more.
func first[T any](c *cli, list []T, limit int, what, verb string) []T {
	if len(list) <= limit {
		return list
	}
	fmt.Fprintf(c.out.stderr, "orchestrator: showing the %d %s; `orchestrator %s` lists all\n", limit, what, verb)
	return list[:limit]
}

// mostRows is the default limit of lists.
const mostRows = 20_000
