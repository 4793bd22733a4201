//go:build !linux

package process

import "os"

// NewLabel returns no label: only Linux has an unused limit.
func NewLabel(string) Label { return 0 }

// LabelOf finds no label.
func LabelOf(int) Label { return 0 }

// Owner reports nothing: there are no labels.
func (Label) Owner(string) bool { return false }

// Labelled finds none.
func Labelled() map[Label][]int { return nil }

// StartLabelled starts a program; there are no labels.
func StartLabelled(path string, argv []string, attr *os.ProcAttr, _ Label) (*os.Process, error) {
	return os.StartProcess(path, argv, attr)
}
