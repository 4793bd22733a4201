//go:build failpoint

package main

func init() { buildFlags = append(buildFlags, "-tags", "failpoint") }
