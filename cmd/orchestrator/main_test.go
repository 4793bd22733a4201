package main

import (
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	os.Exit(testMain(m, mode{drawVariable, drawAndPanic}, mode{crashVariable, crashInto}))
}
