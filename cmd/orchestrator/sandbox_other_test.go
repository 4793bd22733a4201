//go:build !linux

package main

// runInSandbox is only available on Linux.
func runInSandbox(string) int { return 1 }
