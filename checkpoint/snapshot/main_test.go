package snapshot_test

import (
	"flag"
	"os"
	"testing"
)

// child does a job that a test of another process gave us; nil in builds without failpoints.
var child func()

// TestMain fixes the seed and the number of rapid's rounds unless the command line says otherwise, so that two runs
// do the same: go test ./checkpoint/snapshot -rapid.checks=1000 -rapid.seed=0 for a long search.
func TestMain(m *testing.M) {
	if os.Getenv("SNAPSHOT_JOB") != "" {
		child()
		os.Exit(0)
	}
	set := map[string]string{"rapid.checks": "12", "rapid.seed": "20261121", "rapid.nofailfile": "true"}
	flag.Parse()
	flag.Visit(func(f *flag.Flag) { delete(set, f.Name) })
	for name, value := range set {
		if err := flag.Set(name, value); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}
