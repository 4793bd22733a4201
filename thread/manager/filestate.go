package manager

import exec "orchestrator/thread/work"

// fileState is what an execution's files are compared by.
type fileState struct {
	dir          string
	base, result string // commits of snapshots, "" if there is none
}

// into writes it into an execution. What it was compared with at its first attempt stays.
func (f fileState) into(x *exec.Execution) {
	if f.dir != "" {
		x.Dir = f.dir
	}
	if x.Base == "" {
		x.Base = f.base
	}
	if f.result != "" {
		x.Result = f.result
	}
}
