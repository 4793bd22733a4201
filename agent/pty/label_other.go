//go:build !linux

package pty

import "os"

// newLabel returns no label: only Linux has an unused limit.
func newLabel(string) uint64 { return 0 }

// labelled finds no label.
func labelled(int) uint64 { return 0 }

// labels finds none.
func labels() map[uint64]int { return nil }

// startLabelled starts a program; there are no labels.
func startLabelled(path string, argv []string, attr *os.ProcAttr, _ uint64) (*os.Process, error) {
	return os.StartProcess(path, argv, attr)
}
