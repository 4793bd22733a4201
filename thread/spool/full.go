package spool

import (
	"errors"
	"syscall"
)

// full reports whether an error says that the disk is full.
func full(err error) bool { return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) }
