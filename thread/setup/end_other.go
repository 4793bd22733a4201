//go:build !linux

package setup

import "syscall"

// endAll kills the remaining processes of groups.
func endAll(_ string, groups ...int) (left int) {
	for _, group := range groups {
		_ = syscall.Kill(-group, syscall.SIGKILL)
	}
	return 0
}

// members finds nothing: processes left by an earlier process of ours are unknown here.
func members(string, ...int) []int { return nil }
