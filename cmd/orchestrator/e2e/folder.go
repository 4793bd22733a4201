package e2e

import (
	"slices"
	"testing"
)

// NewRigApart is newRig with the program's own default: threads do not share a folder.
func NewRigApart(t *testing.T) *Rig {
	t.Helper()
	r := NewRig(t)
	r.Env = slices.DeleteFunc(r.Env, func(kv string) bool { return kv == inPlace })
	return r
}
