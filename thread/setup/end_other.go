//go:build !linux

package setup

import "syscall"

// endAll kills what is left of commands' groups.
func endAll(_ string, groups ...int) (left int) {
	for _, group := range groups {
		_ = syscall.Kill(-group, syscall.SIGKILL)
	}
	return 0
}

// members finds nothing: what an earlier process of ours left running is not known here.
func members(string, ...int) []int { return nil }
