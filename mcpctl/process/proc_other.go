//go:build !linux

package process

import (
	"os"
	"syscall"
)

// proc is a process. Those of others cannot be read here.
type proc struct {
	pid, pgrp int
	start     uint64
	pages     uint64
	ended     bool
}

func readProc(int) (proc, bool) { return proc{}, false }

func allProcs() []proc { return nil }

func marks(int, func(string) bool) bool { return false }

func bootID() string { return "" }

// attributes make a program lead a session of its own. The end of its standard input tells it that we have ended.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// awaitEnd does not wait: the end is known when it is collected.
func awaitEnd(int) bool { return false }

// unreadOf is not known.
func unreadOf(*os.File) int64 { return 0 }
