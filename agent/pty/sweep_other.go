//go:build !linux

package pty

import (
	"context"
	"time"
)

// Sweep finds nothing: environments of other processes can be read on Linux only.
func Sweep(context.Context, []string, time.Duration) int { return 0 }
