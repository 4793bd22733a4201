package snapshot_test

import (
	"flag"
	"os"
	"testing"
)

// TestMain fixes the seed and the number of rapid's rounds unless the command line says otherwise, so that two runs
// do the same: go test ./checkpoint/snapshot -rapid.checks=1000 -rapid.seed=0 for a long search.
func TestMain(m *testing.M) {
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
