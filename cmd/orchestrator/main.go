// Command orchestrator runs coding agents in threads that can be forked, resumed and merged.
package main

import "os"

func main() {
	os.Exit(0)
}
